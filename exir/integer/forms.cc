// SPDX-License-Identifier: Apache-2.0
#include "exir/integer/forms.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/size_numbers.h"
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

absl::StatusOr<Argument> number_of(Builder& b, const Value* x, const rules::Size& size) {
  if (size.expression().is_constant()) return Argument(size.expression().constant());
  PETREL_ASSIGN_OR_RETURN(Value * made, SizeNumbers(*dequantising(x)).make(b, size.expression()));
  if (made == nullptr) return cannot("its sizes vary");
  return Argument(made);
}

absl::StatusOr<Value*> view_of(Builder& b, const Value* x, Value* levels,
                               const rules::Sizes& sizes) {
  if (is_always(sizes_of(levels), sizes)) return levels;
  Argument::List items;
  Ints known;
  for (const rules::Size& size : sizes) {
    const bool varies = !size.expression().is_constant();
    known.push_back(varies ? -1 : int64_t{size});
  }
  // A view finds out one size by itself.
  if (std::count(known.begin(), known.end(), -1) <= 1) return b.call(aten::view, {levels, known});
  for (const rules::Size& size : sizes) {
    PETREL_ASSIGN_OR_RETURN(Argument item, number_of(b, x, size));
    items.push_back(std::move(item));
  }
  return b.call(aten::view, {levels, Argument(std::move(items))});
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
