// SPDX-License-Identifier: Apache-2.0
#include "extension/module/shared_arenas.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace petrel::extension {

using runtime::Error;
using runtime::MethodMeta;
using runtime::Program;
using runtime::Result;
using runtime::TensorInfo;

namespace {

// Where a state lies in its arena.
struct Range {
  size_t begin;
  size_t size;
  bool operator==(const Range& other) const { return begin == other.begin && size == other.size; }
  bool operator<(const Range& other) const { return begin < other.begin; }
};

// fn(name, arena, range) for each state of a method.
template <typename Fn>
void for_each_state(const MethodMeta& meta, Fn fn) {
  meta.for_each_attribute([&](const TensorInfo& info) {
    if (!info.is_memory_planned()) return;
    fn(info.name(), info.arena(), Range{info.arena_offset(), info.nbytes()});
  });
}

// What the methods say about one arena.
struct Claims {
  std::map<std::string, Range> states;
  size_t methods = 0;
  bool disagree = false;
  bool same_size = true;
  size_t size = 0;

  // Of one method.
  void add(const std::map<std::string, Range>& mine, size_t wanted) {
    same_size = same_size && (methods == 0 || wanted == size);
    size = std::max(size, wanted);
    ++methods;
    for (const auto& [name, range] : mine) {
      const auto [known, is_new] = states.emplace(name, range);
      disagree |= !is_new && !(known->second == range);
    }
  }

  bool overlap() const {
    std::vector<Range> ranges;
    for (const auto& [name, range] : states) {
      if (range.size > 0) ranges.push_back(range);
    }
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 0; i + 1 < ranges.size(); ++i) {
      if (ranges[i + 1].begin - ranges[i].begin < ranges[i].size) return true;
    }
    return false;
  }
};

}  // namespace

Result<SharedArenas> SharedArenas::find(const Program& program, bool share_first) {
  std::vector<Claims> claims;
  for (size_t m = 0; m < program.num_methods(); ++m) {
    PETREL_ASSIGN_OR_RETURN(const char* name, program.get_method_name(m));
    PETREL_ASSIGN_OR_RETURN(const MethodMeta meta, program.method_meta(name));
    const size_t count = meta.num_memory_planned_buffers();
    if (claims.size() < count) claims.resize(count);
    std::vector<std::map<std::string, Range>> mine(count);
    for_each_state(meta, [&](std::string_view state, size_t arena, const Range& range) {
      if (arena < count) mine[arena].emplace(std::string(state), range);
    });
    for (size_t i = 0; i < count; ++i) {
      PETREL_ASSIGN_OR_RETURN(const size_t size, meta.memory_planned_buffer_size(i));
      claims[i].add(mine[i], size);
    }
  }
  SharedArenas shared;
  shared.arenas_.resize(claims.size());
  for (size_t i = 0; i < claims.size(); ++i) {
    const Claims& claim = claims[i];
    shared.arenas_[i].size = claim.size;
    shared.arenas_[i].is_shared =
        i == 0 ? share_first && claim.states.empty()
               : claim.methods > 1 && claim.same_size && !claim.disagree && !claim.overlap();
  }
  return shared;
}

Result<std::shared_ptr<Arena>> SharedArenas::get(size_t index, size_t size) {
  if (is_shared(index)) {
    if (std::shared_ptr<Arena> known = arenas_[index].memory.lock()) return known;
    size = arenas_[index].size;
  }
  auto made = std::make_shared<Arena>();
  PETREL_RETURN_IF_ERROR(made->allocate(size));
  if (is_shared(index)) arenas_[index].memory = made;
  return made;
}

Result<KeptState> KeptState::of(const SharedArenas& shared, const MethodMeta& loading,
                                const std::vector<std::shared_ptr<Arena>>& arenas,
                                const std::vector<MethodMeta>& loaded, uint64_t max_arena_bytes) {
  KeptState kept(max_arena_bytes);
  for (const auto& arena : arenas) {
    PETREL_RETURN_IF_ERROR(kept.bytes_.take("an arena", arena->span().size()));
  }
  std::set<std::pair<size_t, std::string>> known;
  std::vector<bool> in_use(arenas.size()), has_names(arenas.size());
  for (const MethodMeta& meta : loaded) {
    for (size_t i = 1; i < arenas.size() && i < meta.num_memory_planned_buffers(); ++i) {
      in_use[i] = in_use[i] || shared.is_shared(i);
    }
    for_each_state(meta, [&](std::string_view name, size_t arena, const Range&) {
      known.emplace(arena, std::string(name));
    });
  }
  Error error = Error::Ok;
  for_each_state(loading, [&](std::string_view name, size_t arena, const Range& range) {
    if (arena >= arenas.size() || error != Error::Ok) return;
    has_names[arena] = true;
    if (in_use[arena] && known.count({arena, std::string(name)}) != 0) {
      error = kept.keep(*arenas[arena], range.begin, range.size);
    }
  });
  PETREL_RETURN_IF_ERROR(error);
  for (size_t i = 1; i < arenas.size(); ++i) {
    if (!in_use[i] || has_names[i]) continue;
    PETREL_RETURN_IF_ERROR(kept.keep(*arenas[i], 0, arenas[i]->span().size()));
  }
  return kept;
}

Error KeptState::keep(const Arena& arena, size_t begin, size_t size) {
  const runtime::Span<uint8_t> memory = arena.span();
  // What lies outside makes loading the method fail.
  if (begin > memory.size() || size > memory.size() - begin) return Error::Ok;
  PETREL_RETURN_IF_ERROR(bytes_.take("the state of methods that are loaded already", size));
  uint8_t* const at = memory.data() + begin;
  pieces_.push_back({at, std::vector<uint8_t>(at, at + size)});
  return Error::Ok;
}

KeptState::~KeptState() {
  for (const Piece& piece : pieces_) {
    if (!piece.bytes.empty()) std::memcpy(piece.at, piece.bytes.data(), piece.bytes.size());
  }
}

}  // namespace petrel::extension
