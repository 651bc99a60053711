// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/held_data_map.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "runtime/core/log.h"
#include "runtime/executor/layout_text.h"

namespace petrel::runtime {

namespace {

static_assert(kSha256Bytes == ProgramAdditions::kDigestSize);

int shown(std::string_view key) { return static_cast<int>(std::min<size_t>(key.size(), 200)); }

bool is_right(const TensorLayout& found, const WeightView& weight) {
  return is_layout(found, weight.scalar_type, weight.sizes, weight.dim_order);
}

// The layout that a map has for a weight is the one the program needs.
Error check_layout(const NamedDataMap& map, const WeightView& weight) {
  if (!weight.has_layout) return Error::Ok;
  const Result<const TensorLayout> found = map.get_tensor_layout(weight.key);
  // The map does not tell, or does not have it.
  if (!found.ok() || is_right(*found, weight)) return Error::Ok;
  PETREL_LOG(Error, "weight \"%.*s\" is %s in the data, but the program needs %s",
             shown(weight.key), weight.key.data(),
             LayoutText(found->scalar_type(), found->sizes(), found->dim_order()).text,
             LayoutText(weight.scalar_type, weight.sizes, weight.dim_order).text);
  return Error::InvalidExternalData;
}

}  // namespace

bool is_layout(const TensorLayout& found, ScalarType scalar_type, Span<const int32_t> sizes,
               Span<const uint8_t> dim_order) {
  return found.scalar_type() == scalar_type && equal(found.sizes(), sizes) &&
         equal(found.dim_order(), dim_order);
}

HeldDataMap::HeldDataMap(const NamedDataMap& map, const ProgramAdditions& program,
                         Span<std::atomic<bool>> checked, Sha256Function digest)
    : map_(map),
      program_(program),
      checked_(checked),
      digest_(digest == nullptr ? &sha256 : digest) {
  for (std::atomic<bool>& place : checked_) new (&place) std::atomic<bool>(false);
}

Error HeldDataMap::check_layouts() const {
  for (uint32_t i = 0; i < program_.num_weights(); ++i) {
    PETREL_RETURN_IF_ERROR(check_layout(map_, program_.weight(i)));
  }
  return Error::Ok;
}

Error HeldDataMap::check(const WeightView& weight, const FreeableBuffer& data) const {
  PETREL_RETURN_IF_ERROR(check_layout(map_, weight));
  if (data.size() != weight.bytes) {
    PETREL_LOG(Error, "weight \"%.*s\" has %zu bytes in the data, but the program needs %llu",
               shown(weight.key), weight.key.data(), data.size(),
               static_cast<unsigned long long>(weight.bytes));
    return Error::InvalidExternalData;
  }
  if (weight.digest.empty()) return Error::Ok;
  uint8_t digest[kSha256Bytes];
  digest_({static_cast<const uint8_t*>(data.data()), data.size()}, digest);
  if (std::memcmp(digest, weight.digest.data(), kSha256Bytes) == 0) return Error::Ok;
  PETREL_LOG(Error, "weight \"%.*s\" has other bytes than those the program is bound to",
             shown(weight.key), weight.key.data());
  return Error::InvalidExternalData;
}

Result<FreeableBuffer> HeldDataMap::get_data(std::string_view key) const {
  PETREL_ASSIGN_OR_RETURN(FreeableBuffer data, map_.get_data(key));
  const uint32_t weight = program_.find_weight(key);
  if (weight == program_.num_weights() || checked_[weight].load(std::memory_order_acquire)) {
    return data;
  }
  PETREL_RETURN_IF_ERROR(check(program_.weight(weight), data));
  checked_[weight].store(true, std::memory_order_release);
  return data;
}

Error HeldDataMap::load_data_into(std::string_view key, void* buffer, size_t size) const {
  if (program_.find_weight(key) == program_.num_weights()) {
    return map_.load_data_into(key, buffer, size);
  }
  // What is copied is what was checked.
  return NamedDataMap::load_data_into(key, buffer, size);
}

// What is still to be checked by its bytes has to be loaded, and so has what is wrong:
// get_data() says how.
Result<BytePlace> HeldDataMap::find_place(std::string_view key, size_t size) const {
  if constexpr (!kKnowsPlaces) return Error::NotSupported;
  const uint32_t index = program_.find_weight(key);
  if (index != program_.num_weights() && !checked_[index].load(std::memory_order_acquire)) {
    const WeightView weight = program_.weight(index);
    if (!weight.digest.empty() || weight.bytes != size) return Error::NotSupported;
    const Result<const TensorLayout> found = map_.get_tensor_layout(key);
    if (weight.has_layout && found.ok() && !is_right(*found, weight)) return Error::NotSupported;
  }
  return map_.find_place(key, size);
}

// What is checked by its bytes must not be changed behind that by who writes to a file.
Result<bool> HeldDataMap::is_in_place(std::string_view key) const {
  const uint32_t index = program_.find_weight(key);
  if (index != program_.num_weights() && !program_.weight(index).digest.empty()) return false;
  return map_.is_in_place(key);
}

}  // namespace petrel::runtime
