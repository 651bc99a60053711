// SPDX-License-Identifier: Apache-2.0
//
// NamedDataMap: bytes by key. A method finds external constants and the shared
// weights of its delegates in one. FlatDataMap (extension/flat_data) reads
// `.ptd` files; an application may derive its own:
//
//   class MyWeights final : public NamedDataMap {
//     Result<FreeableBuffer> get_data(std::string_view key) const override;
//     Result<uint32_t> get_num_keys() const override;
//     Result<const char*> get_key(uint32_t index) const override;
//   };
//
// What an implementation promises: data does not change and stays where it is
// until the FreeableBuffer is freed; it is aligned to kDataAlignment
// (data_loader.h); calls may come from several threads; a key that is not
// there gives NotFound. The map outlives every Method loaded with it.

#ifndef PETREL_RUNTIME_CORE_NAMED_DATA_MAP_H_
#define PETREL_RUNTIME_CORE_NAMED_DATA_MAP_H_

#include <cstdint>
#include <string_view>

#include "runtime/core/byte_place.h"
#include "runtime/core/error.h"
#include "runtime/core/freeable_buffer.h"
#include "runtime/core/result.h"
#include "runtime/core/scalar_type.h"
#include "runtime/core/span.h"

namespace petrel::runtime {

// What a tensor's bytes mean. Refers to sizes and dim_order of its maker.
class TensorLayout final {
 public:
  // InvalidArgument if lengths differ, a size is negative, dim_order is not a
  // permutation, the type is unknown or the number of bytes overflows.
  static Result<const TensorLayout> create(Span<const int32_t> sizes, Span<const uint8_t> dim_order,
                                           ScalarType scalar_type);

  Span<const int32_t> sizes() const { return sizes_; }
  Span<const uint8_t> dim_order() const { return dim_order_; }
  ScalarType scalar_type() const { return scalar_type_; }
  size_t nbytes() const { return nbytes_; }

 private:
  TensorLayout(Span<const int32_t> sizes, Span<const uint8_t> dim_order, ScalarType scalar_type,
               size_t nbytes)
      : sizes_(sizes), dim_order_(dim_order), scalar_type_(scalar_type), nbytes_(nbytes) {}

  Span<const int32_t> sizes_;
  Span<const uint8_t> dim_order_;
  ScalarType scalar_type_;
  size_t nbytes_;
};

class NamedDataMap {
 public:
  virtual ~NamedDataMap() = default;

  // The bytes of `key`; freed by whoever asked.
  virtual Result<FreeableBuffer> get_data(std::string_view key) const = 0;

  virtual Result<uint32_t> get_num_keys() const = 0;

  // Key number `index`, valid as long as the map. InvalidArgument if there are
  // fewer.
  virtual Result<const char*> get_key(uint32_t index) const = 0;

  // The layout of `key` (optional: NotImplemented; NotFound for bytes that are
  // no tensor). Without it a tensor is accepted when its size in bytes fits.
  virtual Result<const TensorLayout> get_tensor_layout(std::string_view key) const;

  // Copies the first `size` bytes of `key`. InvalidArgument if it has fewer.
  // The default asks get_data.
  virtual Error load_data_into(std::string_view key, void* buffer, size_t size) const;

  // Where the `size` bytes that get_data(key) would give come from, without loading
  // them (optional). NotFound if there is no such key, another error where it is not
  // sure, or there are more or fewer bytes.
  virtual Result<BytePlace> find_place(std::string_view key, size_t size) const;

  // Whether get_data(key) gives the bytes where they lie, in a mapped file or in memory that
  // somebody keeps, so that holding them takes no memory (optional: false). NotFound if there
  // is no such key.
  virtual Result<bool> is_in_place(std::string_view key) const;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_NAMED_DATA_MAP_H_
