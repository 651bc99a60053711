// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/argument_fit.h"

#include "absl/strings/str_cat.h"

namespace petrel::exir {
namespace {

const char* kind_name(ArgKind kind) {
  switch (kind) {
    case ArgKind::kTensor:
      return "tensor";
    case ArgKind::kScalar:
      return "number";
    case ArgKind::kInt:
      return "int";
    case ArgKind::kFloat:
      return "float";
    case ArgKind::kBool:
      return "bool";
    case ArgKind::kString:
      return "string";
    case ArgKind::kScalarType:
      return "dtype";
    case ArgKind::kLayout:
      return "layout";
    case ArgKind::kDevice:
      return "device";
    case ArgKind::kMemoryFormat:
      return "memory format";
  }
  return "";
}

bool is_scalar_of(const Argument& argument, Type::Kind kind) {
  return argument.is_value() && argument.value()->type().kind == kind;
}

bool fits(const Argument& argument, const ArgSpec& spec) {
  switch (spec.kind) {
    case ArgKind::kTensor:
      return is_scalar_of(argument, Type::Kind::kTensor);
    case ArgKind::kScalar:
      return argument.is_number() || (argument.is_value() && !argument.value()->type().is_tensor());
    case ArgKind::kInt:
      return argument.is_int() || (spec.is_symbolic && is_scalar_of(argument, Type::Kind::kInt));
    case ArgKind::kFloat:
      return argument.is_number();
    case ArgKind::kBool:
      return argument.is_bool();
    case ArgKind::kString:
      return argument.is_string();
    case ArgKind::kScalarType:
      return argument.is_scalar_type();
    case ArgKind::kLayout:
    case ArgKind::kDevice:
      return argument.is_int() || argument.is_string();
    case ArgKind::kMemoryFormat:
      return argument.is_memory_format();
  }
  return false;
}

// A program has one device and one layout, so that none is always right.
bool says_nothing(ArgKind kind) { return kind == ArgKind::kLayout || kind == ArgKind::kDevice; }

bool list_fits(const Argument& argument, const ArgSpec& spec) {
  if (argument.is_ints()) {
    return argument.as_ints().empty() || spec.kind == ArgKind::kInt ||
           spec.kind == ArgKind::kFloat || spec.kind == ArgKind::kScalar;
  }
  if (argument.is_floats()) {
    return spec.kind == ArgKind::kFloat || spec.kind == ArgKind::kScalar;
  }
  if (argument.is_bools()) return spec.kind == ArgKind::kBool;
  if (!argument.is_list()) return false;
  for (const Argument& item : argument.as_list()) {
    const bool item_fits = item.is_none() ? spec.has_optional_items : fits(item, spec);
    if (!item_fits) return false;
  }
  return true;
}

}  // namespace

bool argument_fits(const Argument& argument, const ArgSpec& spec) {
  if (argument.is_none()) return spec.is_optional || says_nothing(spec.kind);
  return spec.is_list ? list_fits(argument, spec) : fits(argument, spec);
}

std::string wanted_by(const ArgSpec& spec) {
  return absl::StrCat(spec.is_list ? "list of " : "", kind_name(spec.kind));
}

}  // namespace petrel::exir
