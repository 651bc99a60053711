// SPDX-License-Identifier: Apache-2.0
//
// Loads and runs methods of a program, one after the other in one process, and
// tells after each what memory the process has for itself:
//
//   method_memory [--file] [--modules N] MODEL.pte prefill decode
//
//   {"method": "prefill", "private_bytes": 5021696, "private_bytes_before": 1021696,
//    "own_bytes": 5041696, "own_bytes_before": 1041696, "peak_bytes": 6021696,
//    "arena_bytes": 413696, "packed_bytes": 3401216}
//   {"method": "decode", ...}
//
// "before" is before the program was loaded; "own" has pages that several modules
// map once, where private memory has none of them; "peak" is the most that was resident
// at once, code included; packed are the weights as XNNPACK has them, in the whole
// process. The program is mapped, and its pages count as long as they are resident;
// with --file it is read into memory. Inputs are zeros. With --modules the methods are
// loaded and run in N modules of the program, each after the one before, and all stay.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/runtime/packed_weights.h"
#include "extension/module/module.h"
#include "extension/tensor/filled.h"
#include "extension/tensor/tensor_ptr.h"
#include "test/perf/process_memory.h"

namespace {

using namespace petrel;  // NOLINT: a measuring program
using test::own_bytes;
using test::private_bytes;
using test::told_by;

bool run(extension::Module& module, const char* name, size_t before, size_t own_before) {
  const auto meta = module.method_meta(name);
  if (!meta.ok()) return false;
  std::vector<extension::TensorPtr> tensors;
  std::vector<runtime::EValue> inputs;
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto info = meta->input_tensor_meta(i);
    if (!info.ok()) return false;
    tensors.push_back(
        extension::zeros({info->sizes().begin(), info->sizes().end()}, info->scalar_type()));
    inputs.emplace_back(*tensors.back());
  }
  if (!module.execute(name, inputs).ok()) return false;
  size_t arenas = 0;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    arenas += meta->memory_planned_buffer_size(i).get();
  }
  const uint64_t packed = backends::xnnpack::PackedWeights::instance().stats().bytes;
  std::printf(
      "{\"method\": \"%s\", \"private_bytes\": %zu, \"private_bytes_before\": %zu, "
      "\"own_bytes\": %zu, \"own_bytes_before\": %zu, \"peak_bytes\": %zu, \"arena_bytes\": %zu, "
      "\"packed_bytes\": %zu}\n",
      name, private_bytes(), before, own_bytes(), own_before, told_by("status", {"VmHWM:"}), arenas,
      static_cast<size_t>(packed));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bool reads = argc > 1 && std::strcmp(argv[1], "--file") == 0;
  int first = reads ? 2 : 1;
  int count = 1;
  if (argc > first + 1 && std::strcmp(argv[first], "--modules") == 0) {
    count = std::atoi(argv[first + 1]);
    first += 2;
  }
  if (argc < first + 2 || count < 1) {
    std::fprintf(stderr, "usage: method_memory [--file] [--modules N] MODEL.pte METHOD...\n");
    return 2;
  }
  extension::Module::Options options;
  if (reads) options.load_mode = extension::Module::LoadMode::File;
  options.num_threads = 1;
  std::vector<std::unique_ptr<extension::Module>> modules;
  const size_t before = private_bytes(), own_before = own_bytes();
  for (int n = 0; n < count; ++n) {
    auto module = extension::Module::load(argv[first], options);
    if (!module.ok()) return 1;  // the runtime has said why
    for (int i = first + 1; i < argc; ++i) {
      if (!run(**module, argv[i], before, own_before)) return 1;
    }
    modules.push_back(std::move(*module));
  }
  return 0;
}
