// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/memories.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/emit_c/names.h"
#include "exir/memory/pools.h"
#include "exir/status_macros.h"

namespace petrel::exir::emit_c {
namespace {

CMemory typed_memory(const plan::MemoryPool& pool, int64_t bytes, const std::string& package) {
  CMemory memory;
  memory.variable = absl::StrCat("pool_", pool.name);
  memory.member = pool.name;
  memory.type = absl::StrCat("struct ", package, "_pool_", pool.name);
  const std::string macro = in_capitals(absl::StrCat(package, "_pool_", pool.name));
  memory.bytes_macro = macro + "_BYTES";
  memory.align_macro = macro + "_ALIGN";
  memory.bytes = bytes;
  memory.alignment = alignment_of(pool);
  memory.pool = pool;
  return memory;
}

CMemory bare_memory(const std::string& name, int64_t bytes, const std::string& package) {
  const std::string capitals = in_capitals(package);
  CMemory memory;
  memory.variable = memory.member = name;
  memory.type = "void";
  memory.bytes_macro = absl::StrCat(capitals, "_", in_capitals(name), "_BYTES");
  memory.align_macro = capitals + "_ARENA_ALIGN";
  memory.bytes = bytes;
  memory.alignment = kArenaAlignment;
  return memory;
}

CMemory state_memory(const plan::MemoryPool& pool, int64_t needed, const std::string& package,
                     std::vector<std::string>* shortages) {
  const int64_t alignment = alignment_of(pool);
  const int64_t bytes = (needed + alignment - 1) / alignment * alignment;
  if (bytes > pool.capacity().value_or(bytes)) {
    shortages->push_back(absl::StrCat("pool '", pool.name, "' has ", *pool.capacity(),
                                      " bytes, state needs ", bytes, ", ", bytes - *pool.capacity(),
                                      " more"));
  }
  return typed_memory(pool, bytes, package);
}

}  // namespace

absl::Status check_pool_names(const std::vector<plan::MemoryPool>& pools) {
  Names names("pool", Names::Use::kMember);
  for (const plan::MemoryPool& pool : pools) {
    // NAME_bytes is the member beside it, and PACKAGE_static_pools() the function.
    if (sanitized(pool.name) != pool.name || is_taken(pool.name) ||
        absl::EndsWith(pool.name, "_bytes") || pool.name == "pools") {
      return absl::InvalidArgumentError(absl::StrCat(
          "--pool: name is '", pool.name, "', must be letters, digits and single underscores, ",
          "begin with a letter, be no word of C or C++, not end with _bytes and not be pools"));
    }
    PETREL_RETURN_IF_ERROR(names.add(pool.name).status());
  }
  return absl::OkStatus();
}

std::vector<CMemory> make_memories(const PlannedProgram& planned, const CPools& pools,
                                   const std::string& package,
                                   std::vector<std::string>* shortages) {
  std::vector<CMemory> memories;
  int64_t arena = 0;
  std::vector<int64_t> bytes(pools.activations.size(), 0);
  for (const PlannedMethod& method : planned.methods) {
    arena = std::max(arena, method.plan.arena_bytes);
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = std::max(bytes[i], method.plan.pool_bytes[i]);
    }
  }
  if (pools.activations.empty()) memories.push_back(bare_memory("arena", arena, package));
  for (size_t i = 0; i < bytes.size(); ++i) {
    memories.push_back(typed_memory(pools.activations[i], bytes[i], package));
  }
  for (const plan::MemoryPool& pool : pools.constants) {
    if (pool.kind != plan::PoolKind::kReadWrite) continue;
    memories.push_back(typed_memory(pool, 0, package));
    memories.back().keeps_parameters = true;
  }
  const size_t others = memories.size();
  const int64_t state = planned.state.arena_bytes;
  if (pools.state.has_value()) {
    memories.push_back(state_memory(*pools.state, state, package, shortages));
  } else if (state > 0 && pools.activations.empty()) {
    memories.push_back(bare_memory(kStatePool, state, package));
  } else if (state > 0) {
    plan::MemoryPool pool;
    pool.name = kStatePool;
    memories.push_back(typed_memory(pool, state, package));
  }
  if (memories.size() > others) memories.back().keeps_state = true;
  return memories;
}

std::string section_of(const plan::MemoryPool& pool, const std::string& package) {
  if (!pool.section.empty()) return pool.section;
  if (pool.kind == plan::PoolKind::kReadOnly)
    return absl::StrCat(".rodata.", package, "_", pool.name);
  return pool.address.has_value() ? absl::StrCat(".bss.", package, "_", pool.name) : "";
}

}  // namespace petrel::exir::emit_c
