// SPDX-License-Identifier: Apache-2.0
//
// HeldDataMap: a map held to what a program remembers of its weights
// (schema/additions.md): their sizes and layouts, and their digests where the
// program is bound to certain bytes. Program::load_method holds the map of its
// caller, so this is for who loads several methods with one map and wants every
// weight checked once:
//
//   HeldDataMap held(map, program.additions(), checked);
//   PETREL_RETURN_IF_ERROR(held.check_layouts());  // or each when it is asked for
//
// A weight that does not agree is InvalidExternalData when its key is asked for,
// with its name and what the program needs in the message. It is checked until it
// was found right once. Keys of which the program remembers nothing pass. Allocates
// nothing: all that it is given must outlive it. Thread-safe if the map is.

#ifndef PETREL_RUNTIME_EXECUTOR_HELD_DATA_MAP_H_
#define PETREL_RUNTIME_EXECUTOR_HELD_DATA_MAP_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "runtime/core/named_data_map.h"
#include "runtime/core/span.h"
#include "runtime/platform/sha256.h"
#include "runtime/program/program_additions.h"

namespace petrel::runtime {

// Whether a map has a tensor as the program needs it.
bool is_layout(const TensorLayout& found, ScalarType scalar_type, Span<const int32_t> sizes,
               Span<const uint8_t> dim_order);

class HeldDataMap final : public NamedDataMap {
 public:
  // `checked` has a place for every weight that the program remembers. A null
  // `digest` is sha256().
  HeldDataMap(const NamedDataMap& map, const ProgramAdditions& program,
              Span<std::atomic<bool>> checked, Sha256Function digest = nullptr);

  // Of all weights whose layouts the map tells.
  Error check_layouts() const;

  Result<FreeableBuffer> get_data(std::string_view key) const override;
  Result<uint32_t> get_num_keys() const override { return map_.get_num_keys(); }
  Result<const char*> get_key(uint32_t index) const override { return map_.get_key(index); }
  Result<const TensorLayout> get_tensor_layout(std::string_view key) const override {
    return map_.get_tensor_layout(key);
  }
  Error load_data_into(std::string_view key, void* buffer, size_t size) const override;
  Result<BytePlace> find_place(std::string_view key, size_t size) const override;
  Result<bool> is_in_place(std::string_view key) const override;

 private:
  Error check(const WeightView& weight, const FreeableBuffer& data) const;

  const NamedDataMap& map_;
  const ProgramAdditions& program_;
  Span<std::atomic<bool>> checked_;
  Sha256Function digest_;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_HELD_DATA_MAP_H_
