// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/seen_edges.h"

#include <algorithm>
#include <cstring>

namespace {

uint8_t* first_counter = nullptr;
uint8_t* last_counter = nullptr;

}  // namespace

// Called by the constructors of all that is instrumented, each time with the whole range.
extern "C" void __sanitizer_cov_8bit_counters_init(uint8_t* first, uint8_t* last) {
  first_counter = first;
  last_counter = last;
}

namespace petrel::fuzz {

SeenEdges::SeenEdges() : seen_(static_cast<size_t>(last_counter - first_counter)) {
  // As libFuzzer: 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to 127, more.
  constexpr std::array<int, 8> kFirst = {1, 2, 3, 4, 8, 16, 32, 128};
  class_of_.fill(0);
  for (size_t i = 0; i < kFirst.size(); ++i) {
    for (size_t n = static_cast<size_t>(kFirst[i]); n < class_of_.size(); ++n) {
      class_of_[n] = static_cast<uint8_t>(1u << i);
    }
  }
}

void SeenEdges::forget() {
  if (!seen_.empty()) std::memset(first_counter, 0, seen_.size());
}

void SeenEdges::take_edge(size_t edge, uint8_t count, bool* is_new) {
  const uint8_t bit = class_of_[count];
  if ((seen_[edge] & bit) != 0) return;
  if (seen_[edge] == 0) ++count_;
  seen_[edge] = static_cast<uint8_t>(seen_[edge] | bit);
  *is_new = true;
}

bool SeenEdges::take() {
  // Most counters are 0: many at a time.
  constexpr size_t kWords = 8;
  constexpr size_t kBlock = kWords * sizeof(uint64_t);
  bool is_new = false;
  size_t edge = 0;
  for (; edge + kBlock <= seen_.size(); edge += kBlock) {
    uint64_t words[kWords];
    std::memcpy(words, first_counter + edge, kBlock);
    uint64_t any = 0;
    for (const uint64_t word : words) any |= word;
    if (any == 0) continue;
    for (size_t i = 0; i < kBlock; ++i) {
      const uint8_t count = first_counter[edge + i];
      if (count != 0) take_edge(edge + i, count, &is_new);
    }
    std::memset(first_counter + edge, 0, kBlock);
  }
  for (; edge < seen_.size(); ++edge) {
    if (first_counter[edge] != 0) take_edge(edge, first_counter[edge], &is_new);
    first_counter[edge] = 0;
  }
  return is_new;
}

}  // namespace petrel::fuzz
