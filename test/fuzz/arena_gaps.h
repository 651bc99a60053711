// SPDX-License-Identifier: Apache-2.0
//
// ArenaGaps: bytes of arenas that belong to no value and no scratch memory of a
// method. AddressSanitizer ends the process when someone touches them; without it
// nothing happens.
//
//   const ArenaGaps gaps(program.view().method(0), program.additions(), spans);
//   method->execute();
//
// The arenas must outlive the object.

#ifndef PETREL_TEST_FUZZ_ARENA_GAPS_H_
#define PETREL_TEST_FUZZ_ARENA_GAPS_H_

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/core/span.h"
#include "runtime/program/program_additions.h"
#include "runtime/program/program_view.h"

namespace petrel::fuzz {

class ArenaGaps final {
 public:
  ArenaGaps(const runtime::MethodView& method, const runtime::ProgramAdditions& additions,
            std::vector<runtime::Span<uint8_t>> arenas)
      : arenas_(std::move(arenas)) {
    // Of each arena, what is used: begin and end.
    std::vector<std::vector<std::pair<uint64_t, uint64_t>>> used(arenas_.size());
    for (uint32_t i = 0; i < method.num_values(); ++i) {
      const auto tensor = method.value(i).as_tensor();
      if (!tensor.has_value() || !tensor->is_planned() || tensor->nbytes() == 0) continue;
      used[tensor->arena - 1].emplace_back(tensor->arena_offset,
                                           tensor->arena_offset + tensor->nbytes());
    }
    for (uint32_t i = 0; i < additions.num_scratch(method.index()); ++i) {
      const runtime::ScratchView scratch = additions.scratch(method.index(), i);
      used[scratch.arena - 1].emplace_back(scratch.offset, scratch.offset + scratch.size);
    }
    for (size_t a = 0; a < arenas_.size(); ++a) {
      std::sort(used[a].begin(), used[a].end());
      uint64_t end = 0;
      for (const auto& [first, last] : used[a]) {
        poison(a, end, first);
        end = std::max(end, last);
      }
      poison(a, end, arenas_[a].size());
    }
  }
  ArenaGaps(const ArenaGaps&) = delete;
  ArenaGaps& operator=(const ArenaGaps&) = delete;
  ~ArenaGaps() {
    for (const runtime::Span<uint8_t>& arena : arenas_) {
      ASAN_UNPOISON_MEMORY_REGION(arena.data(), arena.size());
    }
  }

 private:
  void poison(size_t arena, uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    ASAN_POISON_MEMORY_REGION(arenas_[arena].data() + begin, end - begin);
  }

  std::vector<runtime::Span<uint8_t>> arenas_;
};

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_ARENA_GAPS_H_
