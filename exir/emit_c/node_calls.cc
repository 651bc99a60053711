// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/node_calls.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/real_text.h"
#include "runtime/kernels/narrow/narrow_float.h"

namespace petrel::exir::emit_c {
namespace {

const char* type_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kDouble:
      return "double";
    case Arithmetic::kInteger:
      return "int64_t";
    case Arithmetic::kModular:
      return "uint64_t";
  }
  return "";
}

// What the functions for a type of two bytes begin with; "" for types that C has.
std::string narrow_prefix(ScalarType type) {
  switch (type) {
    case ScalarType::kHalf:
      return "petrel_half";
    case ScalarType::kBFloat16:
      return "petrel_bfloat16";
    default:
      return "";
  }
}

// The function that makes a number of an element, before a cast.
std::string reader_of(ScalarType type, bool truncates) {
  const std::string narrow = narrow_prefix(type);
  if (!narrow.empty()) return absl::StrCat(narrow, truncates ? "_to_integer" : "_value");
  if (!truncates) return "";
  return type == ScalarType::kFloat ? "petrel_float_to_integer" : "petrel_to_integer";
}

// Whether it is an int32_t, whatever the sizes are.
bool fits(const Extent& value) {
  return value.range().low >= std::numeric_limits<int32_t>::min() &&
         value.range().high <= std::numeric_limits<int32_t>::max();
}

// What makes a bool of a number: MISRA C casts none to it.
const char* truth_of(Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::kDouble) return "petrel_truth";
  return arithmetic == Arithmetic::kModular ? "petrel_modular_truth" : "petrel_integer_truth";
}

// In small letters, with an underscore that no name of a kernel ends with.
std::string parameter_of(KernelCall& call, const std::string& token, const Extent& value) {
  const std::string parameter = absl::StrCat(absl::AsciiStrToLower(token), "_");
  call.varying.push_back({parameter, fits(value) ? value.text() : ""});
  return parameter;
}

bool is_truth(const Argument& value) { return value.value()->type().kind == Type::Kind::kBool; }

// As above. Precondition: `value` is computed from sizes.
std::string parameter_of(KernelCall& call, const std::string& token, const Argument& value) {
  if (!is_float_number(value) && !is_truth(value))
    return parameter_of(call, token, extent_of(value));
  const std::string parameter = absl::StrCat(absl::AsciiStrToLower(token), "_");
  const std::string text = real_text(value.value()).value_or("");
  if (!is_truth(value)) {
    call.varying.push_back({parameter, text, "double"});
  } else {
    call.varying.push_back({parameter, text.empty() ? "" : absl::StrCat(text, " ? 1 : 0")});
  }
  return parameter;
}

}  // namespace

KernelCall& NodeCalls::add(std::string source, std::string name) {
  calls_.push_back({std::move(source), std::move(name), {}, {}, {}, false});
  return calls_.back();
}

void NodeCalls::bind_read(KernelCall& call, const std::string& role, ScalarType type,
                          Arithmetic arithmetic) {
  const bool truncates = is_floating_point(type) && arithmetic != Arithmetic::kDouble;
  call.tokens[role + "_TYPE"] = c_type(type);
  call.tokens["ARITHMETIC"] = type_of(arithmetic);
  call.tokens["LOAD_" + role] =
      absl::StrCat("(", type_of(arithmetic), ")", reader_of(type, truncates));
}

void NodeCalls::bind_write(KernelCall& call, const std::string& role, ScalarType type,
                           Arithmetic arithmetic) {
  const bool truncates = is_integral(type) && arithmetic == Arithmetic::kDouble;
  const std::string narrow = narrow_prefix(type);
  call.tokens[role + "_TYPE"] = c_type(type);
  call.tokens["STORE_" + role] =
      type == ScalarType::kBool ? truth_of(arithmetic)
      : narrow.empty()
          ? absl::StrCat("(", c_type(type), ")", truncates ? "petrel_to_integer" : "")
          : absl::StrCat(narrow, arithmetic == Arithmetic::kDouble ? "_of_real" : "_of_integer");
}

std::string NodeCalls::rounding(ScalarType type) {
  const std::string narrow = narrow_prefix(type);
  if (!narrow.empty()) return absl::StrCat(narrow, "_rounded");
  return type == ScalarType::kDouble ? "(double)" : "(double)(float)";
}

double NodeCalls::rounded(double value, ScalarType type) {
  if (type == ScalarType::kDouble) return value;
  const auto single = static_cast<float>(value);
  if (type == ScalarType::kHalf) return runtime::half_value(runtime::half_bits(single));
  if (type == ScalarType::kBFloat16) return runtime::bfloat16_value(runtime::bfloat16_bits(single));
  return single;
}

namespace {

// Whether no number of these bits has the exponent of infinity and NaN.
template <typename Bits>
bool has_finite(absl::Span<const uint8_t> bytes, Bits exponent) {
  for (size_t i = 0; i + sizeof(Bits) <= bytes.size(); i += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + i, sizeof bits);
    if ((bits & exponent) == exponent) return false;
  }
  return true;
}

}  // namespace

void NodeCalls::bind_sums(KernelCall& call, ScalarType type, bool fills_wide) const {
  const std::string narrow = narrow_prefix(type);
  const bool in_floats = is_fast() && type != ScalarType::kDouble;
  const bool is_wide = in_floats && narrow.empty() && fills_wide;
  call.tokens["SUM_TYPE"] = in_floats ? "float" : "double";
  call.tokens["LOAD_SUM"] =
      absl::StrCat(in_floats ? "(float)" : "(double)", reader_of(type, false));
  call.tokens["IN_IS_SUM"] =
      type == ScalarType::kDouble || (in_floats && narrow.empty()) ? "1" : "0";
  call.tokens["SUM_VECTOR"] = is_wide     ? "petrel_wide_float_lanes"
                              : in_floats ? "petrel_float_lanes"
                                          : "petrel_lanes";
  call.tokens["LANES"] = is_wide     ? "PETREL_WIDE_FLOAT_LANES"
                         : in_floats ? "PETREL_FLOAT_LANES"
                                     : "PETREL_LANES";
  call.tokens["LOAD_LANES"] = !narrow.empty()
                                  ? absl::StrCat(narrow, in_floats ? "_float_lanes" : "_lanes")
                              : is_wide                    ? "petrel_load_wide_floats"
                              : in_floats                  ? "petrel_load_floats"
                              : type == ScalarType::kFloat ? "petrel_widen_floats"
                                                           : "petrel_load_doubles";
  const bool is_exact = !in_floats && type != ScalarType::kDouble;
  call.tokens["ADD_PRODUCT"] = is_exact ? "petrel_add_exact_product" : "petrel_add_product";
  call.tokens["ADD_PRODUCTS"] = is_exact ? "petrel_add_exact_products" : "petrel_add_product";
  if (in_floats && !narrow.empty()) call.tokens["STORE_OUT"] = absl::StrCat(narrow, "_bits");
}

// External parameters and those that a hook loads may have other bytes when a run reads them.
bool NodeCalls::is_finite(const Value* weight) const {
  if (!weight->is_constant() || weight->constant()->is_mutable()) return false;
  const Constant& constant = *weight->constant();
  if (pools_.of_parameter) {
    const ParameterChoice choice = pools_.of_parameter(constant.fqn);
    const bool is_linked = std::all_of(choice.pools.begin(), choice.pools.end(), [&](size_t pool) {
      return pools_.constants[pool].kind == plan::PoolKind::kReadOnly;
    });
    if (choice.is_external || !is_linked) return false;
  }
  const Blob::Bytes bytes = constant.data.bytes();
  switch (constant.type.dtype) {
    case ScalarType::kFloat:
      return has_finite<uint32_t>(bytes.span(), 0x7f800000U);
    case ScalarType::kDouble:
      return has_finite<uint64_t>(bytes.span(), 0x7ff0000000000000U);
    case ScalarType::kHalf:
      return has_finite<uint16_t>(bytes.span(), 0x7c00U);
    case ScalarType::kBFloat16:
      return has_finite<uint16_t>(bytes.span(), 0x7f80U);
    default:
      return false;
  }
}

void NodeCalls::bind_elements(KernelCall& call, ScalarType type) {
  for (const char* role : {"IN", "OUT"}) {
    const std::string name = c_type(type);
    call.tokens[std::string(role) + "_TYPE"] = name;
  }
  call.tokens["LOAD_IN"] = call.tokens["STORE_OUT"] = absl::StrCat("(", c_type(type), ")");
  call.tokens["ARITHMETIC"] = c_type(type);
}

void NodeCalls::bind(KernelCall& call, const std::string& token, const Extent& value) {
  call.tokens[token] =
      value.is_number() ? number(value.number()) : parameter_of(call, token, value);
}

void NodeCalls::bind_steps(KernelCall& call, const std::string& role, const TensorType& type) {
  Extents strides = strides_of(type);
  if (strides.size() == 3) strides.insert(strides.begin() + 2, 0);
  // A single channel is innermost, too.
  if (type.sizes[1] == 1 && !type.varies(1)) strides[1] = 1;
  bind(call, role + "_BATCH", strides[0]);
  bind(call, role + "_PLANE", strides[1]);
  bind(call, role + "_ROW", strides[2]);
  bind(call, role + "_COLUMN", strides[3]);
}

void NodeCalls::bind_list(KernelCall& call, const std::string& token, const Extents& values) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < values.size(); ++i) {
    texts.push_back(values[i].is_number()
                        ? absl::StrCat(values[i].number())
                        : parameter_of(call, absl::StrCat(token, "_", i), values[i]));
  }
  call.tokens[token] = texts.empty() ? "{1}" : absl::StrCat("{", absl::StrJoin(texts, ", "), "}");
}

std::string NodeCalls::real(KernelCall& call, const std::string& token, const Argument& value) {
  if (!value.is_value()) return number(value.as_number());
  const std::string parameter = parameter_of(call, token, value);
  return is_float_number(value) ? parameter : absl::StrCat("(double)", parameter);
}

std::string NodeCalls::integer(KernelCall& call, const std::string& token, const Argument& value) {
  if (!value.is_value()) return number(integer_of(value));
  const std::string parameter = parameter_of(call, token, value);
  return is_float_number(value) ? absl::StrCat("petrel_to_integer(", parameter, ")")
                                : absl::StrCat("(int64_t)", parameter);
}

std::string NodeCalls::computed(const Argument& value) const {
  if (!is_float_number(value)) return count(extent_of(value));
  const absl::StatusOr<std::string> text = real_text(value.value());
  is_unknown_ = is_unknown_ || !text.ok();
  return text.value_or("");
}

std::string NodeCalls::count(const Extent& value) const {
  if (value.is_number()) return number(value.number());
  const std::string text = fits(value) ? value.text() : "";
  is_unknown_ = is_unknown_ || text.empty();
  return absl::StrCat("(int32_t)(", text, ")");
}

void NodeCalls::require_not_negative(const Extent& value) {
  if (value.is_known() && value.range().low >= 0) return;
  const std::string text = value.text();
  is_unknown_ = is_unknown_ || text.empty();
  refused_.push_back(absl::StrCat("(", text, ") < 0"));
}

std::string NodeCalls::offset(const Extent& element) const {
  return element == 0 ? "" : element.is_number() ? absl::StrCat(element.number()) : count(element);
}

bool NodeCalls::is_unknown() const {
  bool unknown = is_unknown_;
  for (const KernelCall& call : calls_) {
    for (const VaryingToken& token : call.varying) unknown = unknown || token.value.empty();
  }
  return unknown;
}

bool is_floating(const Value* value) { return is_floating_point(value->tensor().dtype); }

Arithmetic arithmetic_of(std::initializer_list<const Value*> values) {
  for (const Value* value : values) {
    if (is_floating(value)) return Arithmetic::kDouble;
  }
  return Arithmetic::kInteger;
}

std::vector<int64_t> ints_of(const Argument& argument, size_t count) {
  std::vector<int64_t> ints;
  if (argument.is_int()) {
    ints.push_back(argument.as_int());
  } else if (argument.is_ints()) {
    ints = argument.as_ints();
  }
  if (ints.size() == 1 && count > 1) ints.resize(count, ints[0]);
  return ints;
}

int64_t integer_of(const Argument& number) {
  if (number.is_int()) return number.as_int();
  if (number.is_bool()) return number.as_bool() ? 1 : 0;
  const double value = number.as_float();
  constexpr double kLimit = 9223372036854775808.0;  // 2^63, exact as -2^63 is
  if (std::isnan(value)) return 0;
  if (value >= kLimit) return std::numeric_limits<int64_t>::max();
  if (value < -kLimit) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

bool is_float_number(const Argument& argument) {
  return argument.is_float() ||
         (argument.is_value() && argument.value()->type().kind == Type::Kind::kFloat);
}

Extent extent_of(const Argument& argument) {
  if (argument.is_int()) return argument.as_int();
  if (!argument.is_value()) return Extent(MaybeSize());
  const Type& type = argument.value()->type();
  return type.kind == Type::Kind::kInt ? Extent(type.number) : Extent(MaybeSize());
}

Extents extents_of_list(const Argument& list) {
  Extents extents;
  for (const int64_t number : ints_of(list)) extents.emplace_back(number);
  if (list.is_value()) extents.push_back(extent_of(list));
  if (!list.is_list()) return extents;
  for (const Argument& one : list.as_list()) extents.push_back(extent_of(one));
  return extents;
}

const Value* tensor_of(const Argument& argument) {
  return argument.is_value() ? argument.value() : nullptr;
}

size_t dim_of(const Argument& argument, const TensorType& type) {
  const int64_t rank = type.rank() == 0 ? 1 : static_cast<int64_t>(type.rank());
  const int64_t dim = argument.as_int();
  return static_cast<size_t>(dim < 0 ? dim + rank : dim);
}

Split split_at(const TensorType& type, size_t dim) {
  Split split;
  const Extents sizes = extents_of(type);
  for (size_t d = 0; d < type.rank(); ++d) {
    (d < dim ? split.outer : d == dim ? split.size : split.inner) *= sizes[d];
  }
  return split;
}

Extents strides_of(const TensorType& type) {
  const Extents sizes = extents_of(type);
  Extents strides(type.rank());
  Extent stride = 1;
  for (size_t i = type.rank(); i-- > 0;) {
    const size_t dim = type.dim_order.empty() ? i : type.dim_order[i];
    strides[dim] = stride;
    stride *= sizes[dim];
  }
  return strides;
}

}  // namespace petrel::exir::emit_c
