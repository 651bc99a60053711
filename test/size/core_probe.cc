// SPDX-License-Identifier: Apache-2.0
//
// What the core of the runtime weighs: loads a program from a file, verifies
// it, and executes its first method. No kernels and no backends.
//
//   core_probe MODEL.pte
#include <cstddef>
#include <cstdint>

#include "extension/data_loader/file_data_loader.h"
#include "runtime/executor/program.h"

namespace {

using namespace petrel::runtime;  // NOLINT: a probe

constexpr size_t kMethodBytes = 64 * 1024;
constexpr size_t kArenaBytes = 256 * 1024;
alignas(64) uint8_t method_pool[kMethodBytes];
alignas(64) uint8_t arena[kArenaBytes];

constexpr Registry kNoKernels{{}, {}};

Error run(const char* path) {
  PETREL_ASSIGN_OR_RETURN(auto loader, petrel::extension::FileDataLoader::from(path));
  ProgramOptions options;
  options.registry = &kNoKernels;
  PETREL_ASSIGN_OR_RETURN(Program program, Program::load(&loader, options));
  PETREL_ASSIGN_OR_RETURN(const char* name, program.get_method_name(0));
  MemoryAllocator method_allocator(kMethodBytes, method_pool);
  Span<uint8_t> arenas[] = {{arena, kArenaBytes}};
  HierarchicalAllocator planned(arenas);
  MemoryManager memory(&method_allocator, &planned);
  PETREL_ASSIGN_OR_RETURN(Method method, program.load_method(name, &memory));
  return method.execute();
}

}  // namespace

int main(int argc, char** argv) { return argc == 2 && run(argv[1]) == Error::Ok ? 0 : 1; }
