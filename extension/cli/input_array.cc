// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/input_array.h"

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "extension/cli/array_literal.h"

namespace petrel::extension {

using runtime::ScalarType;
using runtime::Span;

namespace {

std::string sizes_text(Span<const int32_t> sizes) {
  return absl::StrCat("[", absl::StrJoin(sizes.begin(), sizes.end(), ","), "]");
}

// A one of any element type, as its bytes.
std::vector<uint8_t> one_of(ScalarType type) {
  std::vector<uint8_t> bytes(runtime::element_size(type), 0);
  switch (type) {
    case ScalarType::Float: {
      const float one = 1.0f;
      std::memcpy(bytes.data(), &one, sizeof(one));
      break;
    }
    case ScalarType::Double: {
      const double one = 1.0;
      std::memcpy(bytes.data(), &one, sizeof(one));
      break;
    }
    case ScalarType::Half:
      bytes = {0x00, 0x3c};
      break;
    case ScalarType::BFloat16:
      bytes = {0x80, 0x3f};
      break;
    default:
      bytes[0] = 1;  // little-endian integers and bool
  }
  return bytes;
}

NpyArray ones_like(const WantedInput& wanted) {
  NpyArray array;
  array.type = wanted.type;
  array.shape.assign(wanted.sizes.begin(), wanted.sizes.end());
  const std::vector<uint8_t> one = one_of(array.type);
  array.data.reserve(wanted.nbytes);
  for (size_t n = wanted.nbytes / one.size(); n > 0; --n) {
    array.data.insert(array.data.end(), one.begin(), one.end());
  }
  return array;
}

}  // namespace

absl::StatusOr<NpyArray> read_input(const std::string& source, const WantedInput& wanted,
                                    runtime::Budget* bytes) {
  const std::string& name = wanted.name;
  if (source.empty()) {
    if (bytes->take(name.c_str(), wanted.nbytes) != runtime::Error::Ok) {
      return absl::ResourceExhaustedError(absl::StrCat(name, " is not given and would take ",
                                                       wanted.nbytes,
                                                       " bytes, beyond --max-input-bytes"));
    }
    return ones_like(wanted);
  }
  const std::string subject = absl::StrCat(name, " (", source, ")");
  absl::StatusOr<NpyArray> array =
      is_array_literal(source) ? parse_array_literal(source, wanted.type) : read_npy(source);
  if (!array.ok()) return array;
  if (array->type != wanted.type) {
    return absl::InvalidArgumentError(
        absl::StrCat(subject, " has dtype ", runtime::to_string(array->type), ", method '",
                     wanted.method, "' takes ", runtime::to_string(wanted.type)));
  }
  if (array->shape.size() != wanted.sizes.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(subject, " has shape [", absl::StrJoin(array->shape, ","), "], method '",
                     wanted.method, "' takes ", sizes_text(wanted.sizes)));
  }
  for (const int64_t size : array->shape) {
    if (size > INT32_MAX) {
      return absl::InvalidArgumentError(absl::StrCat(subject, " has a size of ", size));
    }
  }
  return array;
}

}  // namespace petrel::extension
