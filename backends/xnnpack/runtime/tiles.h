// SPDX-License-Identifier: Apache-2.0
//
// Which tile this process computes products of floats in: settled by the first load, once, for
// packed weights lie as the tile reads them. Later ones get what is there.
//
//   const SettledTiles& tiles = settle_tiles({TileRequest::Kind::kTrial, "model.packed.tiles"});
//   tiles.text();                 // "14x32-avx512f (trial)"
//
// The rule names a tile by instruction sets. A trial measures for 20 ms, and a file that it names
// keeps the result for later processes; a table is a file of tile_table.h. What is in a file and
// does not count is told in one line of the log, and the rule is taken, or the trial made. Where
// there is no choice, as without FMA3, nothing is read or measured. May be called by several
// threads: all wait for the first.
#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_TILES_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_TILES_H_

#include <string>

namespace petrel::backends::xnnpack {

struct TileRequest {
  enum class Kind {
    kAny,    // what is there; the rule, where nothing is
    kRule,   // by instruction sets
    kTrial,  // `file` keeps what was measured; empty: nothing does
    kTable,  // `file` says it
  };
  Kind kind = Kind::kAny;
  std::string file;
};

struct SettledTiles {
  std::string name;  // empty where the architecture or the processor leaves no choice
  std::string way;   // "rule", "trial", "table FILE"
  // What packed weights must have been made with: equal ones read them alike.
  std::string layout;

  std::string text() const { return (name.empty() ? "no choice" : name) + " (" + way + ")"; }
};

const SettledTiles& settle_tiles(const TileRequest& request = {});

// Null as long as nothing is settled.
const SettledTiles* settled_tiles();

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_TILES_H_
