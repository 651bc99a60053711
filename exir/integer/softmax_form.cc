// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/integer/forms.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/quantize/integer_roles.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// Exponentials of 24 bits leave room for sums of many, and for a factor of as many.
constexpr int32_t kExponentialBits = 24;

absl::StatusOr<Value*> exponentials_of(Builder& b, double scale) {
  std::vector<double> exponentials;
  for (int d = 0; d < 256; ++d) {
    exponentials.push_back(
        std::nearbyint(std::ldexp(std::exp(-static_cast<double>(d) * scale), kExponentialBits)));
  }
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(exponentials, ScalarType::kInt));
  return add_numbers(b, "int8_exp", ScalarType::kInt, std::move(data), {});
}

// The last dims of `scores`, all that differ from 1.
absl::StatusOr<Value*> mask_as(Builder& b, Value* mask, const FormOperand& scores) {
  const rules::Sizes sizes = sizes_of(mask), wanted = sizes_of(scores.value);
  if (is_always(sizes, {wanted.end() - static_cast<ptrdiff_t>(sizes.size()), wanted.end()})) {
    return mask;
  }
  if (!scores.value->tensor().is_dynamic()) return b.expand(mask, wanted);
  // What is true of all levels has their sizes, whatever those are.
  PETREL_ASSIGN_OR_RETURN(Value * all,
                          b.call(aten::ge_Scalar, {scores.value, scores.levels.first()}));
  return b.binary(aten::logical_and, all, mask);
}

absl::StatusOr<Value*> softmax(Builder& b, const Node& node, const FormTarget& target) {
  const Node* const masking = node.input(arg::self)->producer();
  const bool is_masked = masking != nullptr && masks_softmax(*masking);
  const Argument* scores = &node.argument(arg::self);
  if (is_masked) {
    if (shuts_out(*masking->input(arg::self))) return cannot("its mask says what it shuts out");
    scores = &masking->argument(arg::self);
  }
  PETREL_ASSIGN_OR_RETURN(const FormOperand x, operand_of(*scores, "input"));
  const TensorType& type = x.value->tensor();
  if (type.rank() == 0) return cannot("it has no dim");
  const auto dim = static_cast<size_t>(wrap_dim(node.argument(arg::dim).as_int(), type.rank()));
  if (is_masked && type.all_sizes() != node.result()->tensor().all_sizes()) {
    return cannot("its mask has other sizes");
  }
  PETREL_ASSIGN_OR_RETURN(const FixedPoint point,
                          factor_of(target.levels.inverse, kExponentialBits));
  if (bits_of(type.sizes[dim]) + kExponentialBits + point.shift > kMostShift) {
    return cannot(absl::StrCat("it sums ", type.sizes[dim], " exponentials for a scale of ",
                               target.levels.scale, ", more than 62 bits hold"));
  }
  PETREL_ASSIGN_OR_RETURN(Value * table, exponentials_of(b, x.levels.scale));
  std::vector<Argument> arguments = {Argument(x.value), node.argument(arg::dim), Argument(table),
                                     Argument(int64_t{point.multiplier}),
                                     Argument(int64_t{point.shift})};
  if (!is_masked) return with_target(b, petrel_ops::int8_softmax, std::move(arguments), target);
  PETREL_ASSIGN_OR_RETURN(Value * mask, mask_as(b, masking->input(arg::condition), x));
  arguments.insert(arguments.begin() + 1, Argument(mask));
  return with_target(b, petrel_ops::int8_masked_softmax, std::move(arguments), target);
}

constexpr FormRow kRows[] = {
    {aten::_softmax, softmax},
};

}  // namespace

absl::Span<const FormRow> softmax_forms() { return kRows; }

}  // namespace petrel::exir
