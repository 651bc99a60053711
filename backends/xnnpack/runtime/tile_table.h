// SPDX-License-Identifier: Apache-2.0
//
// A file that says which tile products of floats are computed in on a processor, and what was
// measured for that: `petrel tune` and the trial at load write it, and loading reads it.
//
//   {"format": "petrel tiles", "version": 1,
//    "processor": {"vendor": "AuthenticAMD", "family": 25, "model": 17},
//    "level": "native", "caches": {"l1d": 32768, "l2": 1048576, "l3": 33554432},
//    "tile": "14x32-avx512f",
//    "multiply_adds_per_ns": {"1x16": {"14x32-avx512f": 21.5, ...}, ...}}
//
// Whoever wrote it is a stranger: a table counts only where it has this version, was made for this
// processor, these caches and this level of instructions, and names a tile that those allow.
// Anything else, and anything that is not such a file, leaves the reason. At most kMaxTableBytes
// are read. A table may make a program slower, and never changes what it computes.
//
//   const TableReading table = read_tile_table(path, TableOwner::kAnyone, this_machine());
//   if (table.tile == nullptr) tell(table.reason);
#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_TILE_TABLE_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_TILE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "third_party/xnnpack/tile_choice/candidates.h"
#include "third_party/xnnpack/tile_choice/trial.h"

namespace petrel::backends::xnnpack {

using ::petrel::third_party::xnnpack::Trial;

// Raised with every change of the tiles or of the classes of shapes.
inline constexpr uint64_t kTableVersion = 1;
inline constexpr size_t kMaxTableBytes = 64 << 10;

// What a measurement depends on. A stepping makes no difference.
struct TileMachine {
  std::string vendor;
  uint64_t family = 0;
  uint64_t model = 0;
  uint64_t l1d = 0, l2 = 0, l3 = 0;  // bytes; 0 where there is none
  std::string level;
};

// The processor of the process, at its level. Precondition: XNNPACK is started.
TileMachine this_machine();

std::string format_tile_table(const TileMachine& machine, const Trial& trial);

// What a table says. A tile, or none and the reason why it does not count; without either there is
// no such file.
struct TableReading {
  const petrel_tile* tile = nullptr;
  const char* reason = nullptr;
  bool is_foreign = false;  // nothing that format_tile_table() made, whole or cut off
};

TableReading parse_tile_table(std::string_view text, const TileMachine& machine);

// kUser: no one but the user may have written it, as runtime/platform/private_file.h says.
enum class TableOwner { kAnyone, kUser };

TableReading read_tile_table(const std::string& path, TableOwner owner, const TileMachine& machine);

// A whole file that is the user's own, or the old one. False when that fails; errno says why.
bool write_tile_table(const std::string& path, const std::string& text);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_TILE_TABLE_H_
