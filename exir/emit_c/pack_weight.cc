// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/pack_weight.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

using Filters = std::vector<std::vector<int8_t>>;

template <typename T>
Blob blob_of(const std::vector<T>& elements) {
  std::vector<uint8_t> bytes(elements.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return Blob::owned(std::move(bytes));
}

// Level i of filter f; 0 behind the ends.
int8_t level_at(const Filters& filters, int64_t f, int64_t i) {
  const auto filter = static_cast<size_t>(f), at = static_cast<size_t>(i);
  if (filter >= filters.size() || at >= filters[filter].size()) return 0;
  return filters[filter][at];
}

int32_t word_of(int8_t a, int8_t b, int8_t c, int8_t d) {
  uint32_t word = 0;
  for (const int8_t level : {d, c, b, a}) word = word << 8 | static_cast<uint8_t>(level);
  return static_cast<int32_t>(word);
}

std::vector<int32_t> filter_words(const Filters& filters, int64_t depth, int64_t at_once) {
  std::vector<int32_t> words;
  for (int64_t f = 0; f < static_cast<int64_t>(filters.size()); f += at_once) {
    for (int64_t i = 0; i < depth; i += 4) {
      for (int64_t g = f; g < f + at_once; ++g) {
        words.push_back(word_of(level_at(filters, g, i), level_at(filters, g, i + 1),
                                level_at(filters, g, i + 2), level_at(filters, g, i + 3)));
      }
    }
  }
  return words;
}

std::vector<int32_t> tap_words(const Filters& filters, int64_t taps) {
  std::vector<int32_t> words;
  for (int64_t c = 0; c < static_cast<int64_t>(filters.size()); c += 4) {
    for (int64_t t = 0; t < taps; ++t) {
      words.push_back(word_of(level_at(filters, c, t), level_at(filters, c + 1, t),
                              level_at(filters, c + 2, t), level_at(filters, c + 3, t)));
    }
  }
  return words;
}

std::vector<int8_t> tap_rows(const Filters& filters, int64_t taps) {
  std::vector<int8_t> levels;
  for (int64_t t = 0; t < taps; ++t) {
    for (int64_t c = 0; c < static_cast<int64_t>(filters.size()); ++c) {
      levels.push_back(level_at(filters, c, t));
    }
  }
  return levels;
}

std::vector<int8_t> rows_of(const Filters& filters) {
  std::vector<int8_t> levels;
  for (const auto& filter : filters) levels.insert(levels.end(), filter.begin(), filter.end());
  return levels;
}

ConstantPtr constant_of(const Value* like, ScalarType dtype, int64_t count, Blob data,
                        const char* suffix) {
  auto constant = std::make_shared<Constant>();
  const Constant& old = *like->constant();
  constant->fqn = old.fqn;
  if (suffix != nullptr) {
    absl::StrAppend(&constant->fqn, suffix, to_hex(data.sha256()).substr(0, 8));
  }
  constant->kind = suffix == nullptr ? old.kind : Constant::Kind::kLiteral;
  constant->type = TensorType::contiguous(dtype, {count});
  constant->data = std::move(data);
  constant->made_of = old.sources();
  return constant;
}

template <typename T>
ConstantPtr constant_of(const Value* like, ScalarType dtype, std::vector<T> elements,
                        int64_t at_once, const char* suffix) {
  while (elements.size() % static_cast<size_t>(at_once) != 0) elements.push_back(0);
  return constant_of(like, dtype, static_cast<int64_t>(elements.size()), blob_of(elements), suffix);
}

int64_t filters_at_once(Packing packing) {
  switch (packing) {
    case Packing::kPairWords:
      return 2;
    case Packing::kQuadWords:
      return 4;
    default:
      return 1;
  }
}

}  // namespace

PackedProduct pack_product(const Int8Product& product, Packing packing) {
  const Filters filters = product.filter_levels();
  const int64_t at_once = filters_at_once(packing);
  const Value* weight = product.node->input(arg::weight);
  PackedProduct packed;
  switch (packing) {
    case Packing::kAsStored:
      break;
    case Packing::kPairWords:
    case Packing::kQuadWords:
      packed.weight = constant_of(weight, ScalarType::kInt,
                                  filter_words(filters, product.depth(), at_once), 1, nullptr);
      break;
    case Packing::kTapWords:
      packed.weight =
          constant_of(weight, ScalarType::kInt, tap_words(filters, product.taps()), 1, nullptr);
      break;
    case Packing::kRows:
      packed.weight = constant_of(weight, ScalarType::kChar, rows_of(filters), 1, nullptr);
      break;
    case Packing::kTaps:
      packed.weight =
          constant_of(weight, ScalarType::kChar, tap_rows(filters, product.taps()), 1, nullptr);
      break;
  }
  packed.is_near = product.has_near_levels();
  std::vector<int8_t> shifts = product.shifts();
  for (int8_t& shift : shifts) {
    if (packed.is_near) shift = static_cast<int8_t>(shift - kNearShift);
  }
  packed.offset = constant_of(weight, ScalarType::kInt, product.offsets(), at_once, "@offset_");
  packed.multiplier =
      constant_of(weight, ScalarType::kInt, product.multipliers(), at_once, "@multiplier_");
  packed.shift = constant_of(weight, ScalarType::kChar, std::move(shifts), at_once, "@shift_");
  return packed;
}

}  // namespace petrel::exir::emit_c
