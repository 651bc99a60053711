// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/board_pools.h"

#include <algorithm>
#include <string>
#include <utility>

namespace petrel::exir {
namespace {

constexpr char kTarget[] = "c";

plan::MemoryPool pool_of(const BoardMemory& memory, const Board& board) {
  plan::MemoryPool pool;
  pool.name = memory.name;
  pool.kind = memory.kind;
  pool.size = memory.free_bytes();
  pool.section = memory.section;
  pool.cached = memory.needs_flush || memory.needs_prefetch;
  for (const std::string& name : memory.reached_by) {
    pool.targets.push_back(name == board.cores[0].name ? kTarget : name);
  }
  return pool;
}

}  // namespace

void use_board(const Board& board, bool places_parameters, GenerateOptions* options) {
  bool has_read_only = false;
  for (const BoardMemory& memory : board.memories) {
    plan::MemoryPool pool = pool_of(memory, board);
    const bool is_replaced =
        std::any_of(options->pools.begin(), options->pools.end(),
                    [&](const plan::MemoryPool& one) { return one.name == pool.name; });
    has_read_only =
        has_read_only || (memory.kind == plan::PoolKind::kReadOnly && pool.reaches(kTarget));
    if (!is_replaced) options->pools.push_back(std::move(pool));
  }
  if (places_parameters && has_read_only) options->other_parameters = Parameters::kPool;
}

}  // namespace petrel::exir
