// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/asked_data_map.h"

#include <cstring>
#include <new>

namespace petrel::runtime {

namespace {

// Bits of the filter for each key of the map, of which a key sets two.
constexpr uint64_t kBitsPerKey = 16;
constexpr size_t kMostWords = 64;

// FNV-1a, of which the upper half is as good as the lower one once they are mixed.
uint64_t hash_of(std::string_view key) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : key) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return (hash ^ hash >> 29) * 0x9e3779b97f4a7c15;
}

// fn(word, bit) for the two bits of a key.
template <typename Fn>
void for_each_bit(std::string_view key, size_t words, const Fn& fn) {
  const uint64_t hash = hash_of(key);
  for (const uint64_t half : {hash >> 32, hash & UINT32_MAX}) {
    fn(static_cast<size_t>(half / 64) & (words - 1), uint64_t{1} << half % 64);
  }
}

}  // namespace

size_t AskedDataMap::filter_words(uint64_t num_keys) {
  size_t words = 1;
  while (words < kMostWords && words * 64 / kBitsPerKey < num_keys) words *= 2;
  return words;
}

AskedDataMap::AskedDataMap(const NamedDataMap& map, Span<Word> filter)
    : map_(map), filter_(filter) {
  for (Word& word : filter_) new (&word) Word(0);
}

bool AskedDataMap::may_have_asked(std::string_view key) const {
  bool asked = true;
  for_each_bit(key, filter_.size(), [&](size_t word, uint64_t bit) {
    asked = asked && (filter_[word].load(std::memory_order_relaxed) & bit) != 0;
  });
  return asked;
}

void AskedDataMap::note(std::string_view key) const {
  for_each_bit(key, filter_.size(), [&](size_t word, uint64_t bit) {
    filter_[word].fetch_or(bit, std::memory_order_relaxed);
  });
}

void AskedDataMap::forget_missing() const {
  is_missing_.store(false, std::memory_order_relaxed);
  missing_size_ = 0;
}

void AskedDataMap::note_missing(std::string_view key) const {
  if (is_missing_.exchange(true, std::memory_order_relaxed)) return;
  missing_size_ = key.size() < kShown ? key.size() : kShown;
  std::memcpy(missing_, key.data(), missing_size_);
}

Result<FreeableBuffer> AskedDataMap::get_data(std::string_view key) const {
  note(key);
  Result<FreeableBuffer> data = map_.get_data(key);
  if (data.error() == Error::NotFound) note_missing(key);
  return data;
}

Result<const TensorLayout> AskedDataMap::get_tensor_layout(std::string_view key) const {
  note(key);
  return map_.get_tensor_layout(key);
}

Error AskedDataMap::load_data_into(std::string_view key, void* buffer, size_t size) const {
  note(key);
  const Error error = map_.load_data_into(key, buffer, size);
  if (error == Error::NotFound) note_missing(key);
  return error;
}

Result<BytePlace> AskedDataMap::find_place(std::string_view key, size_t size) const {
  if constexpr (!kKnowsPlaces) return Error::NotSupported;
  note(key);
  return map_.find_place(key, size);
}

Result<bool> AskedDataMap::is_in_place(std::string_view key) const {
  note(key);
  return map_.is_in_place(key);
}

}  // namespace petrel::runtime
