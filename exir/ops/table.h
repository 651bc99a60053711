// SPDX-License-Identifier: Apache-2.0
//
// The operator table: every operator the compiler knows, one row each. All else
// that is said of operators (argument binding, shape rules, out-variants,
// support tables in the docs) is derived from it.
//
//   {"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
//    "aten::add.out", kPure | kElementwise, infer<add>},
//   {"aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
//    "", kInPlace, infer<add_in_place>, "aten::add.Tensor"},
//
// Code names rows and arguments by handles (exir/ops/handles.h, generated from
// here); strings are for what comes from outside: archives and texts.
//
// In-place operators that are views or identities too (t_, squeeze_, detach_,
// dropout_ in evaluation) change what their argument looks like, or nothing,
// but never its elements.
//
// Rows live in ops/*_ops.cc by family (each exposes a span of OpRow); the table
// parses the schema strings once, on first use.
#ifndef PETREL_EXIR_OPS_TABLE_H_
#define PETREL_EXIR_OPS_TABLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "exir/ir/op.h"

namespace petrel::exir {

struct OpRow {
  const char* schema;  // as in the example above
  const char* out;     // "aten::add.out"; "" when not executable as it is
  uint32_t traits;
  InferFn infer;
  const char* twin = "";  // see OpInfo::twin
};

// The row for "aten.add.Tensor" (the text-form spelling); null when unknown.
const OpInfo* find_op(absl::string_view full_name);

// As find_op for an operator the compiler itself relies on. Precondition: the
// table has it (a test asserts every name used so).
const OpInfo& op(absl::string_view full_name);
const OpInfo& op(OpHandle handle);

// All rows, sorted by full name.
const std::vector<const OpInfo*>& all_ops();

// The names of arguments in all rows, sorted.
const std::vector<std::string>& all_arg_names();

// Parses one schema string; InvalidArgument shows the place that is wrong.
absl::StatusOr<OpInfo> parse_schema(absl::string_view schema);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_OPS_TABLE_H_
