// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/import/complex_rules.h"
#include "exir/ops/handles.h"
#include "exir/ops/rule.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

bool is_tensor(const Argument& argument) {
  return argument.is_value() && argument.value()->type().is_tensor();
}

bool are_tensors(const ArgSpec& spec, const Argument& argument) {
  if (!spec.is_list) return is_tensor(argument);
  if (!argument.is_list()) return argument.is_ints() && argument.as_ints().empty();
  for (const Argument& item : argument.as_list()) {
    if (item.is_none() ? !spec.has_optional_items : !is_tensor(item)) return false;
  }
  return true;
}

// What a rule of shapes checks for other operators: tensors are there, and what only complex
// numbers have takes numbers that are known.
absl::Status check_argument(const OpInfo& op, const ArgSpec& spec, const Argument& argument) {
  if (argument.is_none()) {
    const bool may_be_none = spec.is_optional || spec.kind == ArgKind::kLayout ||
                             spec.kind == ArgKind::kDevice || spec.is_tensor_option;
    if (may_be_none) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("argument '", spec.name, "' is missing"));
  }
  if (spec.kind == ArgKind::kTensor) {
    if (are_tensors(spec, argument)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("argument '", spec.name, "' must be ", spec.is_list ? "tensors" : "a tensor"));
  }
  if (op.infer != nullptr || argument.values().empty()) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("argument '", spec.name, "' is computed at run time"));
}

}  // namespace

absl::Status ComplexCall::check() const {
  for (const std::vector<Argument>* arguments : {&real, &imaginary}) {
    for (size_t i = 0; i < arguments->size(); ++i) {
      PETREL_RETURN_IF_ERROR(check_argument(op, op.args[i], (*arguments)[i]));
    }
    if (op.infer != nullptr) continue;
    PETREL_RETURN_IF_ERROR(rules::BoundArguments::bind(op, *arguments).status());
  }
  for (size_t i = 0; i < is_complex.size(); ++i) {
    const ArgSpec& spec = op.args[i];
    // A tensor is multiplied as one, whatever factor it stands for.
    if (!is_complex[i] || spec.kind == ArgKind::kTensor ||
        op.find_arg(arg::fill_value) == static_cast<int>(i) ||
        op.is(aten::mul_Scalar, aten::scalar_tensor)) {
      continue;
    }
    return absl::UnimplementedError(
        absl::StrCat("argument '", spec.name, "' is a complex number, which is not supported"));
  }
  return absl::OkStatus();
}

const Argument& ComplexCall::argument(ArgHandle name) const {
  return real[static_cast<size_t>(op.find_arg(name))];
}

ComplexPair ComplexCall::parts(ArgHandle name) const {
  const auto i = static_cast<size_t>(op.find_arg(name));
  return {real[i].value(), is_complex[i] ? imaginary[i].value() : nullptr};
}

bool ComplexCall::widens() const {
  bool has_tensor = false;
  for (size_t i = 0; i < real.size(); ++i) {
    if (is_complex[i]) return false;
    has_tensor = has_tensor || op.args[i].kind == ArgKind::kTensor;
  }
  return has_tensor;
}

}  // namespace petrel::exir
