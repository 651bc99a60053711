// SPDX-License-Identifier: Apache-2.0
//
// How long other data for a loaded module takes, and what memory it needs:
//
//   swap_time [--file] KEYS MODEL.pte BASE.ptd ADAPTER.ptd OTHER.ptd...
//
//   {"load_ms": 81.2, "private_bytes": 5021696, "swap_ms": [4.1, 4.0, ...],
//    "private_bytes_after": 5021696, "outputs": 3}
//
// Loads the program with the base and the first adapter and runs `forward` on ones;
// then replaces KEYS, a pattern, with each of the other files in turn, five rounds,
// runs after each, and counts the different outputs. Times are of the swap alone.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "extension/module/module.h"
#include "extension/tensor/tensor_ptr.h"
#include "test/perf/process_memory.h"

namespace {

using namespace petrel;  // NOLINT: a measuring program
using test::private_bytes;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 5;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The first output for ones; empty on an error.
std::vector<float> run(extension::Module& module) {
  const auto meta = module.method_meta("forward");
  if (!meta.ok()) return {};
  const auto info = meta->input_tensor_meta(0);
  if (!info.ok()) return {};
  const std::vector<int32_t> sizes(info->sizes().begin(), info->sizes().end());
  const auto input =
      extension::make_tensor_ptr(sizes, std::vector<float>(info->nbytes() / sizeof(float), 1));
  const auto outputs = module.forward({*input});
  if (!outputs.ok()) return {};
  const runtime::Tensor out = (*outputs)[0].toTensor();
  return {out.const_data_ptr<float>(), out.const_data_ptr<float>() + out.numel()};
}

}  // namespace

int main(int argc, char** argv) {
  const bool reads = argc > 1 && std::strcmp(argv[1], "--file") == 0;
  const int first = reads ? 2 : 1;
  if (argc < first + 5) {
    std::fprintf(stderr, "usage: swap_time [--file] KEYS MODEL.pte BASE.ptd ADAPTER.ptd...\n");
    return 2;
  }
  extension::Module::Options options;
  if (reads) options.load_mode = extension::Module::LoadMode::File;
  options.num_threads = 1;
  options.data_files = {argv[first + 2], argv[first + 3]};
  const Clock::time_point start = Clock::now();
  auto module = extension::Module::load(argv[first + 1], options);
  if (!module.ok() || (*module)->load_method("forward") != runtime::Error::Ok) return 1;
  std::printf("{\"load_ms\": %.2f, ", ms_since(start));
  std::set<std::vector<float>> outputs = {run(**module)};
  std::printf("\"private_bytes\": %zu, \"swap_ms\": [", private_bytes());
  for (int i = 0; i < kRounds * (argc - first - 4); ++i) {
    extension::DataSources adapter;
    adapter.load_mode = options.load_mode;
    adapter.data_files = {argv[first + 4 + i % (argc - first - 4)]};
    const Clock::time_point swap = Clock::now();
    const auto replaced = (*module)->replace_data(adapter, argv[first]);
    const double ms = ms_since(swap);
    if (!replaced.ok()) return 1;
    std::printf("%s%.2f", i == 0 ? "" : ", ", ms);
    outputs.insert(run(**module));
  }
  std::printf("], \"private_bytes_after\": %zu, \"outputs\": %zu}\n", private_bytes(),
              outputs.size());
  return outputs.count({}) == 0 ? 0 : 1;
}
