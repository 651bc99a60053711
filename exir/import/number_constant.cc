// SPDX-License-Identifier: Apache-2.0
#include "exir/import/number_constant.h"

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/kernels/narrow/narrow_float.h"

namespace petrel::exir {
namespace {

template <typename T>
std::vector<uint8_t> bytes_of(T value) {
  std::vector<uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

}  // namespace

absl::StatusOr<ConstantPtr> number_constant(const Argument& number, ScalarType dtype) {
  const double real = number.as_number();
  uint64_t whole = 0;
  if (number.is_float()) {
    if (!is_floating_point(dtype) && dtype != ScalarType::kBool && !(std::fabs(real) < 9.2e18)) {
      return absl::InvalidArgumentError(absl::StrCat("the number ", real, " does not fit ",
                                                     std::string(scalar_type_name(dtype))));
    }
    if (std::fabs(real) < 9.2e18) {
      whole = static_cast<uint64_t>(static_cast<int64_t>(real));
    }
  } else if (number.is_int()) {
    whole = static_cast<uint64_t>(number.as_int());
  } else {
    whole = number.as_bool() ? 1 : 0;
  }
  std::vector<uint8_t> bytes;
  switch (dtype) {
    case ScalarType::kFloat:
      bytes = bytes_of(static_cast<float>(real));
      break;
    case ScalarType::kDouble:
      bytes = bytes_of(real);
      break;
    case ScalarType::kHalf:
      bytes = bytes_of(runtime::half_bits(static_cast<float>(real)));
      break;
    case ScalarType::kBFloat16:
      bytes = bytes_of(runtime::bfloat16_bits(static_cast<float>(real)));
      break;
    case ScalarType::kBool:
      bytes = bytes_of(static_cast<uint8_t>(real != 0.0 ? 1 : 0));
      break;
    default:
      // Little-endian: the low bytes are the wrapped value.
      bytes = bytes_of(whole);
      bytes.resize(item_size(dtype));
      break;
  }
  std::string bits;
  for (size_t i = bytes.size(); i-- > 0;) {
    absl::StrAppend(&bits, absl::Hex(bytes[i], absl::kZeroPad2));
  }
  auto constant = std::make_shared<Constant>();
  constant->fqn = absl::StrCat("literal_", std::string(scalar_type_name(dtype)), "_", bits);
  constant->kind = Constant::Kind::kLiteral;
  constant->type = TensorType::contiguous(dtype, {});
  constant->data = Blob::owned(std::move(bytes));
  return ConstantPtr(std::move(constant));
}

}  // namespace petrel::exir
