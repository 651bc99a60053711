// SPDX-License-Identifier: Apache-2.0
//
// Memories as the option --pool describes them, one word each, preferred ones first:
//
//   sram=64K                       64K bytes, read and written; the short form
//   dram=unlimited
//   name=sram,size=64K,limit=48K,align=32,section=.bss.sram,address=0x20000000
//   name=flash,kind=ro,section=.rodata.flash
//   name=tcm,prefer=16K,targets=c,npu,cached=yes
//
//   size     bytes that there are        limit    of these may be used; no plan exceeds either
//   prefer   more only when necessary    align    of all that lies in it, a power of two
//   section  of the linker               address  where that is put
//   kind     rw (or not said) or ro      targets  who reaches it; not said: all
//   cached   yes: the processor has a cache in front of it that other targets do not see
//
// Invariant of what parse_memory_pools() returns: names differ, limits are at most sizes,
// addresses are aligned, and what is known of the places does not overlap. A section that
// pools share has no address.
#ifndef PETREL_EXIR_PLAN_FORMATS_MEMORY_POOL_H_
#define PETREL_EXIR_PLAN_FORMATS_MEMORY_POOL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/plan/model/problem.h"

namespace petrel::exir::plan {

struct MemoryPool {
  std::string name;
  PoolKind kind = PoolKind::kReadWrite;
  std::optional<int64_t> size;
  std::optional<int64_t> limit;
  std::optional<int64_t> prefer;
  int64_t alignment = 1;
  std::string section;
  std::optional<uint64_t> address;
  std::vector<std::string> targets;
  bool cached = false;

  // The smaller of size and limit.
  std::optional<int64_t> capacity() const;
  bool reaches(const std::string& target) const;
};

// InvalidArgument names the word and what is wrong with it.
absl::StatusOr<std::vector<MemoryPool>> parse_memory_pools(const std::vector<std::string>& words);

// Fails when two pools share a byte; `bytes` of each are in use, or at least one where it is not
// known yet how many.
absl::Status check_addresses(const std::vector<MemoryPool>& pools,
                             const std::vector<std::optional<int64_t>>& bytes);

// What the planner needs of it.
Pool to_pool(const MemoryPool& memory);

// "4096", "64K", "1M": multiples of 1024. Nothing for anything else.
std::optional<int64_t> parse_bytes(const std::string& text);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_FORMATS_MEMORY_POOL_H_
