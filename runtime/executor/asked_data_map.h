// SPDX-License-Identifier: Apache-2.0
//
// AskedDataMap: the data map that one delegate sees. Remembers which keys were asked
// for, so that other data for some keys concerns only the delegates that have them.
//
//   AskedDataMap map(*data_map, filter);
//   backend->init(context with &map, ...);
//   if (map.may_have_asked("conv.weight")) ...
//
// It may say true of a key that was not asked for, never false of one that was: it
// keeps some bits of a hash of each key, and the first one that was not there for the
// message. Map and filter must outlive it. Thread-safe if the map is.

#ifndef PETREL_RUNTIME_EXECUTOR_ASKED_DATA_MAP_H_
#define PETREL_RUNTIME_EXECUTOR_ASKED_DATA_MAP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/core/named_data_map.h"
#include "runtime/core/span.h"

namespace petrel::runtime {

class AskedDataMap final : public NamedDataMap {
 public:
  using Word = std::atomic<uint64_t>;

  // Words of a filter for a map of so many keys, a power of two.
  static size_t filter_words(uint64_t num_keys);

  AskedDataMap(const NamedDataMap& map, Span<Word> filter);

  bool may_have_asked(std::string_view key) const;

  // The first key, cut if it is long, that was asked for and not there since forget();
  // empty if there is none. Nobody may ask meanwhile.
  std::string_view missing() const { return {missing_, missing_size_}; }
  void forget_missing() const;

  Result<FreeableBuffer> get_data(std::string_view key) const override;
  Result<uint32_t> get_num_keys() const override { return map_.get_num_keys(); }
  Result<const char*> get_key(uint32_t index) const override { return map_.get_key(index); }
  Result<const TensorLayout> get_tensor_layout(std::string_view key) const override;
  Error load_data_into(std::string_view key, void* buffer, size_t size) const override;
  Result<BytePlace> find_place(std::string_view key, size_t size) const override;
  Result<bool> is_in_place(std::string_view key) const override;

 private:
  void note(std::string_view key) const;
  void note_missing(std::string_view key) const;

  const NamedDataMap& map_;
  Span<Word> filter_;
  static constexpr size_t kShown = 128;
  mutable std::atomic<bool> is_missing_{false};
  mutable char missing_[kShown] = {};
  mutable size_t missing_size_ = 0;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_ASKED_DATA_MAP_H_
