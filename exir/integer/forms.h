// SPDX-License-Identifier: Apache-2.0
//
// The forms of operators that compute with levels alone (docs/int8.md). A form takes a node
// between dequantised inputs and a quantised result, and builds the integers of that result:
//
//   before   %y = aten.linear.default(%d, %w, @bias)    // %d, %w dequantised
//            %r = quantize_per_tensor(%y, 0.1, 4, ...)
//   after    %r = petrel.int8_linear.default(%q, @weight, @bias@int32, @multiplier, @shift,
//                                            3, 4, -128, 127, i8)
#ifndef PETREL_EXIR_INTEGER_FORMS_H_
#define PETREL_EXIR_INTEGER_FORMS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "exir/integer/fixed_point.h"
#include "exir/integer/levels.h"
#include "exir/pass/framework/builder.h"

namespace petrel::exir {

// What a result is held within.
struct FormTarget {
  Int8Levels levels;
  int64_t least = 0, most = 0;  // of levels; less than those of `levels` where it was clamped
};

// The value in the place of `quantize`. Unimplemented says what about the node it cannot do.
using FormFn = absl::StatusOr<Value*> (*)(Builder& b, const Node& node, const FormTarget& target);

struct FormRow {
  OpHandle op;
  FormFn make;
};

absl::Span<const FormRow> product_forms();  // linear, mm, addmm, bmm, convolution
absl::Span<const FormRow> pair_forms();     // add, sub, mul
absl::Span<const FormRow> average_forms();  // mean, sum, average pools
absl::Span<const FormRow> softmax_forms();  // softmax, masked or not
absl::Span<const FormRow> norm_forms();     // layer norm, group norm

// aten.max_pool2d of levels, without the places that its kernel would give. Null for others.
absl::StatusOr<Value*> max_pool_form(Builder& b, const Node& node);

// The table of what is quantised, where that is computed from one dequantised value and
// numbers alone, element by element. Null where it is not.
absl::StatusOr<Value*> table_form(Builder& b, const Node& quantize);

// The same where the numbers beside it differ by channel: a table for each, and their results in
// a row again.
absl::StatusOr<Value*> channel_tables_form(Builder& b, const Node& quantize);

// What forms share.

absl::Status cannot(const std::string& what);

// An operand of a form: integers and what they stand for. Unimplemented for one in floats.
struct FormOperand {
  Value* value = nullptr;
  Int8Levels levels;
};
absl::StatusOr<FormOperand> operand_of(const Argument& argument, const char* what);

// A size of `x`, which operand_of() takes, or a number made of such, from its levels alone.
absl::StatusOr<Argument> number_of(Builder& b, const Value* x, const rules::Size& size);
// `levels` with other sizes of the same kind.
absl::StatusOr<Value*> view_of(Builder& b, const Value* x, Value* levels,
                               const rules::Sizes& sizes);

// A node of `op`: its first arguments, and behind them those of every result.
absl::StatusOr<Value*> with_target(Builder& b, OpHandle op, std::vector<Argument> arguments,
                                   const FormTarget& target);

// A literal whose name ends in what it holds, so that methods never mean two by one name.
absl::StatusOr<Value*> add_numbers(Builder& b, const std::string& name, ScalarType dtype, Blob data,
                                   std::vector<std::string> made_of);

// fixed_point() with Unimplemented where there is none.
absl::StatusOr<FixedPoint> factor_of(double value, int32_t bits = kMultiplierBits,
                                     int32_t most_shift = kMostShift);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_INTEGER_FORMS_H_
