// SPDX-License-Identifier: Apache-2.0
#include "exir/fold/evaluate.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/emit/emit.h"
#include "exir/fold/heap_allocator.h"
#include "exir/fold/string_loader.h"
#include "exir/ir/program.h"
#include "exir/status_macros.h"
#include "runtime/executor/memory_manager.h"
#include "runtime/executor/method.h"
#include "runtime/executor/program.h"
#include "runtime/executor/registry.h"
#include "runtime/kernels/portable/kernels.h"

namespace petrel::exir {
namespace {

constexpr char kMethod[] = "fold";
constexpr runtime::KernelLibrary kLibraries[] = {&runtime::portable_kernels};
constexpr runtime::Registry kRegistry(kLibraries, {});

absl::Status failed(const char* doing, runtime::Error error) {
  return absl::FailedPreconditionError(
      absl::StrCat("folding constants: ", doing, ": ", runtime::to_string(error)));
}

// The planned arenas of the method, zeroed.
absl::StatusOr<std::vector<runtime::Span<uint8_t>>> make_arenas(const runtime::Program& program,
                                                                HeapAllocator* heap) {
  auto meta = program.method_meta(kMethod);
  if (!meta.ok()) return failed("reading the method", meta.error());
  std::vector<runtime::Span<uint8_t>> arenas;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    auto size = meta->memory_planned_buffer_size(i);
    if (!size.ok()) return failed("reading the plan", size.error());
    auto* memory = static_cast<uint8_t*>(heap->allocate(*size, runtime::kDataAlignment));
    if (memory == nullptr && *size > 0) {
      return failed("allocating an arena", runtime::Error::MemoryAllocationFailed);
    }
    // State that starts as zeros is not in the program.
    if (*size > 0) std::memset(memory, 0, *size);
    arenas.emplace_back(memory, *size);
  }
  return arenas;
}

absl::StatusOr<Blob> output_bytes(const runtime::Method& method, size_t i) {
  auto tensor = method.get_output(i).tryToTensor();
  if (!tensor.ok()) return failed("reading an output", tensor.error());
  const auto* data = static_cast<const uint8_t*>(tensor->const_data_ptr());
  return Blob::copy_of(absl::Span<const uint8_t>(data, tensor->nbytes()));
}

}  // namespace

bool can_evaluate(const OpInfo& op) {
  if (!op.has(kPure) || op.out_name.empty()) return false;
  std::string name = op.out_name;
  if (!op.out_overload.empty()) absl::StrAppend(&name, ".", op.out_overload);
  return kRegistry.find_kernel(name) != nullptr;
}

absl::StatusOr<std::vector<Blob>> evaluate(std::unique_ptr<Graph> graph, uint64_t most_work) {
  const size_t num_outputs = graph->outputs().size();
  Program emitted;
  emitted.methods[kMethod].graph = std::move(graph);
  PETREL_ASSIGN_OR_RETURN(const std::string bytes, emit_to_memory(emitted));

  StringLoader loader(bytes);
  runtime::ProgramOptions options;
  options.registry = &kRegistry;
  options.limits.max_element_operations = most_work;
  auto program = runtime::Program::load(&loader, options);
  if (!program.ok()) return failed("loading the program", program.error());
  HeapAllocator heap;
  PETREL_ASSIGN_OR_RETURN(std::vector<runtime::Span<uint8_t>> arenas, make_arenas(*program, &heap));
  runtime::HierarchicalAllocator planned(
      runtime::Span<runtime::Span<uint8_t>>(arenas.data(), arenas.size()));
  HeapAllocator scratch;
  runtime::MemoryManager memory(&heap, &planned, &scratch);
  auto method = program->load_method(kMethod, &memory);
  if (!method.ok()) return failed("loading the method", method.error());
  const runtime::Error error = method->execute();
  if (error == runtime::Error::OutOfResources) {
    return absl::ResourceExhaustedError(
        absl::StrCat("computing it takes more than ", most_work,
                     " elements and multiply-adds, or instructions"));
  }
  if (error != runtime::Error::Ok) return failed("running", error);
  std::vector<Blob> outputs;
  for (size_t i = 0; i < num_outputs; ++i) {
    PETREL_ASSIGN_OR_RETURN(Blob blob, output_bytes(*method, i));
    outputs.push_back(std::move(blob));
  }
  return outputs;
}

}  // namespace petrel::exir
