// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/value_table.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "schema/signed_zero.h"

namespace petrel::exir {
namespace {

namespace fb = schema::program;

// Equal for equal bit patterns only: -0.0 and 0.0 are two literals.
uint64_t bits_of(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

}  // namespace

template <typename Table>
int32_t ValueTable::append(fb::KernelTypes type, flatbuffers::Offset<Table> table) {
  entries_.push_back(fb::CreateEValue(builder_, type, table.Union()));
  return static_cast<int32_t>(entries_.size() - 1);
}

template <typename Make>
int32_t ValueTable::shared(const std::string& key, Make make) {
  auto it = literals_.find(key);
  if (it != literals_.end()) return it->second;
  const int32_t index = make();
  literals_[key] = index;
  return index;
}

int32_t ValueTable::null_value() {
  return shared("null", [&] { return append(fb::KernelTypes::Null, fb::CreateNull(builder_)); });
}

int32_t ValueTable::int_value(int64_t value) {
  return shared(absl::StrCat("int ", value),
                [&] { return append(fb::KernelTypes::Int, fb::CreateInt(builder_, value)); });
}

int32_t ValueTable::bool_value(bool value) {
  return shared(value ? "true" : "false",
                [&] { return append(fb::KernelTypes::Bool, fb::CreateBool(builder_, value)); });
}

int32_t ValueTable::double_value(double value) {
  return shared(absl::StrCat("double ", bits_of(value)), [&] {
    const schema::SignedZero keep(builder_, value);
    return append(fb::KernelTypes::Double, fb::CreateDouble(builder_, value));
  });
}

int32_t ValueTable::string_value(const std::string& value) {
  return shared(absl::StrCat("string ", value), [&] {
    return append(fb::KernelTypes::String,
                  fb::CreateString(builder_, builder_.CreateString(value)));
  });
}

int32_t ValueTable::int_list(const std::vector<int32_t>& entries) {
  return shared(absl::StrCat("ints ", absl::StrJoin(entries, ",")), [&] {
    const std::vector<int64_t> items(entries.begin(), entries.end());
    return append(fb::KernelTypes::IntList,
                  fb::CreateIntList(builder_, builder_.CreateVector(items)));
  });
}

int32_t ValueTable::double_list(const std::vector<double>& values) {
  const std::string key = absl::StrJoin(
      values, ",", [](std::string* out, double value) { absl::StrAppend(out, bits_of(value)); });
  return shared(absl::StrCat("doubles ", key), [&] {
    return append(fb::KernelTypes::DoubleList,
                  fb::CreateDoubleList(builder_, builder_.CreateVector(values)));
  });
}

int32_t ValueTable::bool_list(const std::vector<bool>& values) {
  std::vector<uint8_t> bytes(values.begin(), values.end());
  return shared(absl::StrCat("bools ", absl::StrJoin(bytes, ",")), [&] {
    return append(fb::KernelTypes::BoolList,
                  fb::CreateBoolList(builder_, builder_.CreateVector(bytes)));
  });
}

int32_t ValueTable::tensor_list(const std::vector<int32_t>& entries) {
  return shared(absl::StrCat("tensors ", absl::StrJoin(entries, ",")), [&] {
    return append(fb::KernelTypes::TensorList,
                  fb::CreateTensorList(builder_, builder_.CreateVector(entries)));
  });
}

int32_t ValueTable::optional_tensor_list(const std::vector<int32_t>& entries) {
  return shared(absl::StrCat("optionals ", absl::StrJoin(entries, ",")), [&] {
    return append(fb::KernelTypes::OptionalTensorList,
                  fb::CreateOptionalTensorList(builder_, builder_.CreateVector(entries)));
  });
}

int32_t ValueTable::add_tensor(const TensorType& type, const TensorPlace& place) {
  // CreateVector stores an empty vector too: readers need it to be there.
  const std::vector<int32_t> sizes(type.sizes.begin(), type.sizes.end());
  const auto stored_sizes = builder_.CreateVector(sizes);
  const auto dim_order = builder_.CreateVector(type.dim_order);
  flatbuffers::Offset<fb::AllocationDetails> allocation;
  if (place.arena_offset >= 0) {
    const auto offset = static_cast<uint64_t>(place.arena_offset);
    allocation =
        fb::CreateAllocationDetails(builder_, place.memory_id, static_cast<uint32_t>(offset),
                                    static_cast<uint32_t>(offset >> 32));
  }
  flatbuffers::Offset<fb::ExtraTensorInfo> extra;
  if (!place.fqn.empty()) {
    extra = fb::CreateExtraTensorInfo(
        builder_, /*mutable_data_segments_idx=*/0, builder_.CreateString(place.fqn),
        place.is_external ? fb::TensorDataLocation::EXTERNAL : fb::TensorDataLocation::SEGMENT);
  }
  return append(
      fb::KernelTypes::Tensor,
      fb::CreateTensor(builder_, static_cast<fb::ScalarType>(type.dtype),
                       /*storage_offset=*/0, stored_sizes, dim_order,
                       /*requires_grad=*/false, place.data_buffer_idx, allocation, /*layout=*/0,
                       type.is_dynamic() || place.grows ? fb::TensorShapeDynamism::DYNAMIC_BOUND
                                                        : fb::TensorShapeDynamism::STATIC,
                       extra));
}

int32_t ValueTable::add_scalar(Type::Kind kind) {
  switch (kind) {
    case Type::Kind::kFloat:
      return append(fb::KernelTypes::Double, fb::CreateDouble(builder_));
    case Type::Kind::kBool:
      return append(fb::KernelTypes::Bool, fb::CreateBool(builder_));
    default:
      return append(fb::KernelTypes::Int, fb::CreateInt(builder_));
  }
}

}  // namespace petrel::exir
