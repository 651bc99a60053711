// SPDX-License-Identifier: Apache-2.0
//
// Runs a program in one module, and then in two that two threads of the process run at once, for
// as long each, and tells how long a run takes in the middle and how many there were in a second:
//
//   two_modules MODEL.pte THREADS SECONDS
//
//   {"alone_us": 411.0, "together_us": 420.5, "alone_per_second": 2411,
//    "together_per_second": 4720}
//
// THREADS is for all modules together, as the pool belongs to the process.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "extension/module/module.h"
#include "extension/tensor/filled.h"
#include "test/perf/middle.h"

namespace {

using namespace petrel;  // NOLINT: a measuring program
using extension::Module;
using Clock = std::chrono::steady_clock;

// A module whose `forward` takes tensors, with ones for them.
struct Running {
  bool run() { return module->forward(inputs).ok(); }

  std::unique_ptr<Module> module;
  std::vector<extension::TensorPtr> tensors;
  std::vector<runtime::EValue> inputs;
};

// The runtime says why it cannot.
bool open(const char* path, int threads, Running* to) {
  Module::Options options;
  options.num_threads = threads;
  auto loaded = Module::load(path, options);
  if (!loaded.ok()) return false;
  to->module = std::move(*loaded);
  const auto meta = to->module->method_meta("forward");
  if (!meta.ok()) return false;
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto info = meta->input_tensor_meta(i);
    if (!info.ok()) return false;
    to->tensors.push_back(
        extension::ones({info->sizes().begin(), info->sizes().end()}, info->scalar_type()));
    if (to->tensors.back() == nullptr) return false;
    to->inputs.emplace_back(*to->tensors.back());
  }
  return to->run();
}

// Microseconds of each run.
std::vector<double> run(Running* module, double seconds) {
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (auto before = Clock::now(); before < end; before = Clock::now()) {
    if (!module->run()) break;
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - before).count());
  }
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: two_modules MODEL.pte THREADS SECONDS\n");
    return 2;
  }
  const int threads = std::atoi(argv[2]);
  const double seconds = std::atof(argv[3]);
  Running first, second;
  if (!open(argv[1], threads, &first) || !open(argv[1], threads, &second)) return 1;
  const std::vector<double> alone = run(&first, seconds);
  std::vector<double> others;
  std::thread other([&] { others = run(&second, seconds); });
  std::vector<double> together = run(&first, seconds);
  other.join();
  together.insert(together.end(), others.begin(), others.end());
  std::printf(
      "{\"alone_us\": %.2f, \"together_us\": %.2f, \"alone_per_second\": %.1f, "
      "\"together_per_second\": %.1f}\n",
      middle(alone), middle(together), static_cast<double>(alone.size()) / seconds,
      static_cast<double>(together.size()) / seconds);
  return 0;
}
