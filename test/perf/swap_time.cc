// SPDX-License-Identifier: Apache-2.0
//
// How long other data for a loaded module takes, and what memory it needs:
//
//   swap_time [--file] OUTPUTS KEYS MODEL.pte BASE.ptd ADAPTER.ptd...
//
//   {"load_ms": 81.2, "private_bytes": 5021696, "swap_ms": [4.1, 4.0, ...],
//    "cpu_ms": [4.0, 3.9, ...], "private_bytes_after": 5021696}
//
// Loads the program with the base and the first adapter; then replaces KEYS, a pattern,
// with each of the other files and the first in turn, for five rounds,
// and runs `forward` on ones after each. Writes the outputs of the last round to
// OUTPUTS/N.f32, in the order of the adapters. At the end the one that it has is given once
// more, which must be told to have changed nothing. Times are of the swap alone; those of
// the processor do not count what others run meanwhile.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "extension/module/module.h"
#include "test/perf/process_memory.h"
#include "test/perf/run_on_ones.h"

namespace {

using namespace petrel;  // NOLINT: a measuring program
using test::private_bytes;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 5;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double cpu_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void print_list(const char* name, const std::vector<double>& times) {
  std::printf("\"%s\": [", name);
  for (size_t i = 0; i < times.size(); ++i) std::printf("%s%.2f", i == 0 ? "" : ", ", times[i]);
  std::printf("], ");
}

}  // namespace

int main(int argc, char** argv) {
  const bool reads = argc > 1 && std::strcmp(argv[1], "--file") == 0;
  const int first = reads ? 2 : 1;
  if (argc < first + 6) {
    std::fprintf(stderr,
                 "usage: swap_time [--file] OUTPUTS KEYS MODEL.pte BASE.ptd ADAPTER.ptd...\n");
    return 2;
  }
  const std::vector<std::string> adapters(argv + first + 4, argv + argc);
  extension::Module::Options options;
  if (reads) options.load_mode = extension::Module::LoadMode::File;
  options.num_threads = 1;
  options.data_files = {argv[first + 3], adapters[0]};
  const Clock::time_point start = Clock::now();
  auto module = extension::Module::load(argv[first + 2], options);
  if (!module.ok() || (*module)->load_method("forward") != runtime::Error::Ok) return 1;
  std::printf("{\"load_ms\": %.2f, ", ms_since(start));
  if (test::run_on_ones(**module).empty()) return 1;
  std::printf("\"private_bytes\": %zu, ", private_bytes());
  std::vector<double> times, cpu_times;
  for (size_t i = 1; i <= kRounds * adapters.size(); ++i) {
    const size_t number = i % adapters.size();
    extension::DataSources adapter;
    adapter.load_mode = options.load_mode;
    adapter.data_files = {adapters[number]};
    const Clock::time_point swap = Clock::now();
    const double cpu = cpu_ms();
    const auto replaced = (*module)->replace_data(adapter, argv[first + 1]);
    cpu_times.push_back(cpu_ms() - cpu);
    times.push_back(ms_since(swap));
    if (!replaced.ok() || replaced->changed == 0) return 1;
    const std::string path = std::string(argv[first]) + "/" + std::to_string(number) + ".f32";
    if (!test::write_floats(path, test::run_on_ones(**module))) return 1;
  }
  print_list("swap_ms", times);
  print_list("cpu_ms", cpu_times);
  std::printf("\"private_bytes_after\": %zu}\n", private_bytes());
  extension::DataSources same;
  same.data_files = {adapters[0]};
  const auto replaced = (*module)->replace_data(same, argv[first + 1]);
  return replaced.ok() && replaced->changed == 0 ? 0 : 1;
}
