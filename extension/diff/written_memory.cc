// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/written_memory.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace petrel::extension {

void WrittenMemory::write(const void* data, size_t size, size_t value) {
  if (data == nullptr || size == 0) return;
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t end = begin + size;
  auto piece = pieces_.lower_bound(begin);
  if (piece != pieces_.begin()) {
    Piece& before = std::prev(piece)->second;
    if (before.end > end) pieces_.emplace(end, before);
    before.end = std::min(before.end, begin);
  }
  piece = pieces_.lower_bound(begin);
  while (piece != pieces_.end() && piece->first < end) {
    if (piece->second.end > end) pieces_.emplace(end, piece->second);
    piece = pieces_.erase(piece);
  }
  pieces_[begin] = {end, value};
}

std::vector<size_t> WrittenMemory::find(const void* data, size_t size) const {
  std::vector<size_t> values;
  std::set<size_t> known;
  if (data == nullptr || size == 0) return values;
  const auto begin = reinterpret_cast<uintptr_t>(data);
  auto piece = pieces_.lower_bound(begin);
  if (piece != pieces_.begin() && std::prev(piece)->second.end > begin) --piece;
  for (; piece != pieces_.end() && piece->first < begin + size; ++piece) {
    const size_t value = piece->second.value;
    if (known.insert(value).second) values.push_back(value);
  }
  return values;
}

}  // namespace petrel::extension
