// SPDX-License-Identifier: Apache-2.0
//
// test/size/core_probe.cc, written for the runtime in the ExecuTorch wheel:
// loads a program from a file, verifies it, and executes its first method.
#include <cstddef>
#include <cstdint>

#include "executorch/extension/data_loader/file_data_loader.h"
#include "executorch/runtime/executor/program.h"

namespace {

namespace et = executorch::runtime;
using executorch::extension::FileDataLoader;

constexpr size_t kMethodBytes = 64 * 1024;
constexpr size_t kArenaBytes = 256 * 1024;
alignas(64) uint8_t method_pool[kMethodBytes];
alignas(64) uint8_t arena[kArenaBytes];

bool run(const char* path) {
  auto loader = FileDataLoader::from(path);
  if (!loader.ok()) return false;
  auto program = et::Program::load(&*loader, et::Program::Verification::InternalConsistency);
  if (!program.ok()) return false;
  auto name = program->get_method_name(0);
  if (!name.ok()) return false;
  et::MemoryAllocator method_allocator(kMethodBytes, method_pool);
  et::Span<uint8_t> arenas[] = {{arena, kArenaBytes}};
  et::HierarchicalAllocator planned({arenas, 1});
  et::MemoryManager memory(&method_allocator, &planned);
  auto method = program->load_method(*name, &memory);
  return method.ok() && method->execute() == et::Error::Ok;
}

}  // namespace

int main(int argc, char** argv) { return argc == 2 && run(argv[1]) ? 0 : 1; }
