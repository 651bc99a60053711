// SPDX-License-Identifier: Apache-2.0
#include "exir/integer/forms.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/ops/table.h"
#include "exir/status_macros.h"

namespace petrel::exir {

absl::Status cannot(const std::string& what) { return absl::UnimplementedError(what); }

absl::StatusOr<FormOperand> operand_of(const Argument& argument, const char* what) {
  if (!argument.is_value()) return cannot(absl::StrCat("its ", what, " is a number"));
  const Node* const node = dequantising(argument.value());
  if (node != nullptr) return FormOperand{node->input(arg::input), *levels_of(*node)};
  return cannot(absl::StrCat("its ", what, " '", argument.value()->name(),
                             "' is not dequantised from 8 bits"));
}

absl::StatusOr<Value*> with_target(Builder& b, OpHandle handle, std::vector<Argument> arguments,
                                   const FormTarget& target) {
  arguments.emplace_back(target.levels.zero_point);
  arguments.emplace_back(target.least);
  arguments.emplace_back(target.most);
  arguments.emplace_back(target.levels.dtype);
  PETREL_ASSIGN_OR_RETURN(Node * made, b.node(op(handle), std::move(arguments)));
  return made->result();
}

absl::StatusOr<Value*> add_numbers(Builder& b, const std::string& name, ScalarType dtype, Blob data,
                                   std::vector<std::string> made_of) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  const Blob::Bytes bytes = data.bytes();
  for (size_t i = 0; i < bytes.size(); ++i) hash = (hash ^ bytes.data()[i]) * 1099511628211u;
  const auto count = static_cast<int64_t>(bytes.size() / item_size(dtype));
  return add_unique_constant(
      b.graph(), absl::StrCat(name, "_", absl::Hex(hash & 0xffffffffu, absl::kZeroPad8)),
      TensorType::contiguous(dtype, {count}), std::move(data), Constant::Kind::kLiteral,
      std::move(made_of));
}

absl::StatusOr<FixedPoint> factor_of(double value, int32_t bits, int32_t most_shift) {
  absl::StatusOr<FixedPoint> made = fixed_point(value, bits, most_shift);
  if (!made.ok()) return cannot(std::string(made.status().message()));
  return made;
}

}  // namespace petrel::exir
