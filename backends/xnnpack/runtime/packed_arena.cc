// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/packed_arena.h"

#include <algorithm>
#include <cstring>

#include "runtime/platform/pages.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr size_t kPage = 4096;
// A guess comes from a file; more is asked for when it is needed.
constexpr size_t kMaxGuess = size_t{1} << 30;
// Processors remember where about as much lies in small pages.
constexpr size_t kLeastOfHugePages = size_t{8} << 20;

// False when the sum is too large for any memory.
bool round_up(size_t size, size_t multiple, size_t* out) {
  if (__builtin_add_overflow(size, multiple - 1, out)) return false;
  *out -= *out % multiple;
  return true;
}

// The whole pages of a range; empty if it has none.
struct Pages {
  uint8_t* begin;
  uint8_t* end;

  Pages(void* data, size_t size) : begin(static_cast<uint8_t*>(data)), end(begin + size) {
    begin += (kPage - reinterpret_cast<uintptr_t>(begin) % kPage) % kPage;
    end -= reinterpret_cast<uintptr_t>(end) % kPage;
  }

  bool empty() const { return begin >= end; }
  size_t size() const { return static_cast<size_t>(end - begin); }
};

}  // namespace

std::shared_ptr<PackedArena> PackedArena::make(size_t expected, HugePages huge_pages) {
  // Filters grow a little when their channels are filled up to whole blocks.
  const size_t guess = std::min(expected, kMaxGuess);
  return std::shared_ptr<PackedArena>(new PackedArena(guess + guess / 8 + kPage, huge_pages));
}

PackedArena::~PackedArena() {
  for (const Chunk& chunk : chunks_) runtime::give_back_pages(chunk.data, chunk.size);
}

bool PackedArena::add_chunk(size_t size) {
  size_t rounded = 0;
  if (!round_up(size, kPage, &rounded)) return false;
  void* pages = runtime::take_unreserved_pages(rounded);
  if (pages == nullptr) return false;
  const bool wants_huge =
      huge_pages_ == HugePages::kAlways ||
      (huge_pages_ == HugePages::kWhereCheap && runtime::huge_pages_are_cheap());
  if (wants_huge && rounded >= kLeastOfHugePages) runtime::prefer_huge_pages(pages, rounded);
  chunks_.push_back({static_cast<uint8_t*>(pages), rounded, 0});
  return true;
}

void* PackedArena::allocate(size_t size) {
  size_t needed = 0;
  if (__builtin_add_overflow(size, kSlack, &needed) || !round_up(needed, kAlignment, &needed)) {
    return nullptr;
  }
  if (chunks_.empty() || chunks_.back().size - chunks_.back().used < needed) {
    if (!add_chunk(std::max(needed, expected_))) return nullptr;
    // The guess was wrong, so the next one is modest.
    expected_ = std::min(expected_, size_t{1} << 20);
  }
  Chunk& chunk = chunks_.back();
  void* data = chunk.data + chunk.used;
  chunk.used += needed;
  return data;
}

void PackedArena::give_back(void* data, size_t size) {
  Chunk& chunk = chunks_.back();
  auto* begin = static_cast<uint8_t*>(data);
  chunk.used = static_cast<size_t>(begin - chunk.data);
  // Zeros again: whole pages by returning them, the rest by hand.
  uint8_t* const end = begin + size;
  const Pages pages(data, size);
  if (pages.empty() || !runtime::clear_pages(pages.begin, pages.size())) {
    std::memset(begin, 0, size);
    return;
  }
  std::memset(begin, 0, static_cast<size_t>(pages.begin - begin));
  std::memset(pages.end, 0, static_cast<size_t>(end - pages.end));
}

void PackedArena::drop(void* data, size_t size) {
  const Pages pages(data, size);
  if (!pages.empty()) runtime::drop_pages(pages.begin, pages.size());
}

}  // namespace petrel::backends::xnnpack
