// SPDX-License-Identifier: Apache-2.0

// Times layers of one row, with weights that are packed and with weights as they are stored, in
// turns, on one thread: how long it takes to make the operator and to run it. Some layers of the
// same size run one after the other, so that weights come from memory as those of networks do.
#include <xnnpack.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "third_party/xnnpack/unpacked/flag.h"

namespace {

double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Layers {
  size_t inputs, outputs, count;
};

struct Times {
  double make = 1e9, run = 1e9;
};

// Microseconds of one layer.
Times time_layers(const Layers& layers, const std::vector<float>& weights, uint32_t flags) {
  const size_t size = layers.inputs * layers.outputs;
  std::vector<float> input(std::max(layers.inputs, layers.outputs) + 64, 0.5f), output(input);
  std::vector<xnn_operator_t> operators(layers.count);
  Times times;
  const double start = now();
  for (size_t i = 0; i < layers.count; ++i) {
    xnn_create_fully_connected_nc_f32(layers.inputs, layers.outputs, layers.inputs, layers.outputs,
                                      &weights[i * size], nullptr, -1e9f, 1e9f, flags, nullptr,
                                      nullptr, &operators[i]);
  }
  const double scale = 1e6 / static_cast<double>(layers.count);
  times.make = scale * (now() - start);
  for (xnn_operator_t op : operators) {
    xnn_reshape_fully_connected_nc_f32(op, 1, nullptr);
    xnn_setup_fully_connected_nc_f32(op, input.data(), output.data());
  }
  for (int round = 0; round < 7; ++round) {
    const double begin = now();
    for (xnn_operator_t op : operators) xnn_run_operator(op, nullptr);
    times.run = std::min(times.run, scale * (now() - begin));
  }
  for (xnn_operator_t op : operators) xnn_delete_operator(op);
  return times;
}

void keep_least(Times* best, const Times& times) {
  best->make = std::min(best->make, times.make);
  best->run = std::min(best->run, times.run);
}

}  // namespace

int main() {
  if (xnn_initialize(nullptr) != xnn_status_success || !petrel_takes_unpacked()) {
    std::printf("the machine has no kernels for it\n");
    return 0;
  }
  std::printf("%22s %12s %12s %12s %12s %8s\n", "layers", "to make, us", "unpacked", "to run, us",
              "unpacked", "ratio");
  const Layers all[] = {{512, 256, 1},   {512, 256, 256},  {512, 1000, 64}, {1024, 1000, 32},
                        {1280, 1000, 1}, {1280, 1000, 24}, {960, 1280, 24}, {2048, 1000, 16},
                        {4096, 1024, 8}, {4096, 4096, 3},  {9216, 4096, 2}};
  for (const Layers& layers : all) {
    std::vector<float> weights(layers.inputs * layers.outputs * layers.count, 0.25f);
    Times packed, unpacked;
    for (int turn = 0; turn < 5; ++turn) {
      keep_least(&packed, time_layers(layers, weights, 0));
      keep_least(&unpacked, time_layers(layers, weights, XNN_FLAG_UNPACKED));
    }
    std::printf("%4zu of %6zu x %6zu %12.0f %12.0f %12.1f %12.1f %8.2f\n", layers.count,
                layers.outputs, layers.inputs, packed.make, unpacked.make, packed.run, unpacked.run,
                packed.run / unpacked.run);
  }
}
