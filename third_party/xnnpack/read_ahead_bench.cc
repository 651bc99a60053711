// SPDX-License-Identifier: Apache-2.0

// Times chains of layers whose weights do not stay in the caches, 96 MB of them, on one thread:
// each panel of weights read when it is needed, and brought to the cache while the one before it
// is computed (read_ahead.patch), in turns. With AVX2, or with all that the processor has if
// the argument is `native`.
#include <pthreadpool.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "petrel/cap.h"
#include "third_party/xnnpack/layer.h"

namespace petrel::third_party::xnnpack {
namespace {

constexpr size_t kBytes = 96'000'000;
constexpr size_t kPanel = 1 << 20, kAhead = 1 << 17;  // as shipped

using Layers = std::vector<std::unique_ptr<Layer>>;

// The processor's seconds: others may use the machine, too.
double seconds(const Layers& layers) {
  timespec from, to;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  for (const auto& layer : layers) layer->run();
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
  return static_cast<double>(to.tv_sec - from.tv_sec) +
         1e-9 * static_cast<double>(to.tv_nsec - from.tv_nsec);
}

void compare(const char* name, const Shape& shape) {
  const size_t window = shape.kind == Kind::kConvolution ? shape.kernel * shape.kernel : 1;
  const size_t bytes = shape.in * shape.out * window * sizeof(float);
  Layers layers;
  for (size_t i = 0; i < std::max<size_t>(kBytes / bytes, 1); ++i) {
    layers.push_back(std::make_unique<Layer>(shape, nullptr));
  }
  double best[2] = {1e9, 1e9};
  for (int round = 0; round < 9; ++round) {
    for (const bool ahead : {false, true}) {
      for (const auto& layer : layers) layer->reshape(kPanel, ahead ? kAhead : 0);
      double& time = best[ahead ? 1 : 0];
      time = std::min(time, seconds(layers));
    }
  }
  const double work = 1e-9 * layers[0]->multiplications() * static_cast<double>(layers.size());
  std::printf("%-28s %7zu %12.1f %12.1f %7.2f\n", name, layers.size(), work / best[0],
              work / best[1], best[0] / best[1]);
}

}  // namespace
}  // namespace petrel::third_party::xnnpack

int main(int argc, char** argv) {
  using namespace petrel::third_party::xnnpack;
  if (argc < 2 || argv[1] != std::string("native")) {
    xnn_set_cap(
        XNN_CAP_SSSE3 | XNN_CAP_SSE4_1 | XNN_CAP_AVX | XNN_CAP_F16C | XNN_CAP_FMA3 | XNN_CAP_AVX2,
        "");
  }
  std::printf("multiply-adds per ns\n%-28s %7s %12s %12s %7s\n", "layer", "layers", "when needed",
              "ahead", "ratio");
  compare("product 12 x 1024 x 1024", {Kind::kFullyConnected, 12, 0, 0, 1024, 1024});
  compare("product 50 x 384 x 1536", {Kind::kFullyConnected, 50, 0, 0, 384, 1536});
  compare("product 200 x 192 x 768", {Kind::kFullyConnected, 200, 0, 0, 192, 768});
  compare("1x1 5 x 5, 1024 to 1024", {Kind::kConvolution, 1, 5, 1, 1024, 1024});
  compare("1x1 10 x 10, 512 to 256", {Kind::kConvolution, 1, 10, 1, 512, 256});
  compare("1x1 20 x 20, 256 to 256", {Kind::kConvolution, 1, 20, 1, 256, 256});
  compare("3x3 5 x 5, 512 to 512", {Kind::kConvolution, 1, 5, 3, 512, 512});
  compare("3x3 7 x 7, 512 to 512", {Kind::kConvolution, 1, 7, 3, 512, 512});
  compare("3x3 10 x 10, 512 to 512", {Kind::kConvolution, 1, 10, 3, 512, 512});
  compare("3x3 13 x 13, 384 to 256", {Kind::kConvolution, 1, 13, 3, 384, 256});
  compare("3x3 14 x 14, 256 to 256", {Kind::kConvolution, 1, 14, 3, 256, 256});
}
