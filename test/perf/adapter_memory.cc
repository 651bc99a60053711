// SPDX-License-Identifier: Apache-2.0
//
// What memory a process needs for a base model and many adapters over it, each in a
// module that is loaded and can run at any time:
//
//   adapter_memory [--file] OUTPUTS BASE_MODEL.pte MODEL.pte BASE.ptd ADAPTER.ptd...
//
//   {"adapters": 0, "load_ms": 81.2, "resident_bytes": 9021696, "own_bytes": 8021696,
//    "private_bytes": 5021696}
//   {"adapters": 1, ...}
//
// Loads the base model without adapters, then MODEL.pte once for each adapter, runs
// `forward` of each on ones and writes the output to OUTPUTS/N.f32. One loader of
// BASE.ptd serves all modules: a file that is mapped twice counts twice as resident.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "extension/module/module.h"
#include "test/perf/process_memory.h"
#include "test/perf/run_on_ones.h"

namespace {

using namespace petrel;  // NOLINT: a measuring program
using extension::Module;
using Clock = std::chrono::steady_clock;

}  // namespace

int main(int argc, char** argv) {
  const bool reads = argc > 1 && std::strcmp(argv[1], "--file") == 0;
  const int first = reads ? 2 : 1;
  if (argc < first + 5) {
    std::fprintf(stderr,
                 "usage: adapter_memory [--file] OUTPUTS BASE_MODEL.pte MODEL.pte BASE.ptd "
                 "ADAPTER.ptd...\n");
    return 2;
  }
  Module::Options options;
  if (reads) options.load_mode = Module::LoadMode::File;
  options.num_threads = 1;
  auto base = extension::open_file(argv[first + 3], options.load_mode);
  if (!base.ok()) return 1;  // the runtime has said why
  options.data_loaders = {std::move(*base)};
  std::vector<std::unique_ptr<Module>> modules;
  for (int i = first + 3; i < argc; ++i) {
    const int number = i - (first + 3);
    if (number > 0) options.data_files = {argv[i]};
    const Clock::time_point start = Clock::now();
    auto module = Module::load(argv[first + (number == 0 ? 1 : 2)], options);
    if (!module.ok() || (*module)->load_method("forward") != runtime::Error::Ok) return 1;
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    const std::vector<float> output = test::run_on_ones(**module);
    const std::string path = std::string(argv[first]) + "/" + std::to_string(number) + ".f32";
    if (output.empty() || !test::write_floats(path, output)) return 1;
    modules.push_back(std::move(*module));
    std::printf(
        "{\"adapters\": %d, \"load_ms\": %.2f, \"resident_bytes\": %zu, \"own_bytes\": %zu, "
        "\"private_bytes\": %zu}\n",
        number, ms, test::told_by("smaps_rollup", {"Rss:"}), test::own_bytes(),
        test::private_bytes());
  }
  return 0;
}
