// SPDX-License-Identifier: Apache-2.0
//
// The operators that exist in C, one row each, by the name that the same kernel has in
// a .pte.
//
//   {"aten::relu.out", unary, "x < 0.0 ? 0.0 : x", "x < 0 ? 0 : x"}
//
// `make` turns a node into kernel calls; the texts are what it puts into its kernel, for
// floats and for integers. To add an operator: a row, and where no kernel of
// runtime/micro/kernels does, one there.
#ifndef PETREL_EXIR_EMIT_C_OPERATORS_H_
#define PETREL_EXIR_EMIT_C_OPERATORS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "exir/emit_c/node_calls.h"

namespace petrel::exir::emit_c {

struct OperatorRow;

// Turns a node into calls. Sizes are Extents, so those that vary are taken; fixed(fn) is one
// that needs numbers. Unimplemented says what about the node it cannot do.
struct Maker {
  using Fn = absl::Status (*)(const OperatorRow& row, NodeCalls& calls);

  constexpr Maker(Fn maker, bool fixed = false) : fn(maker), is_fixed(fixed) {}  // NOLINT

  Fn fn;
  bool is_fixed;
};

constexpr Maker fixed(Maker::Fn fn) { return Maker(fn, true); }

struct OperatorRow {
  const char* kernel;
  Maker make;
  const char* expression = "";
  const char* integer_expression = "";

  // "relu" of "aten::relu.out".
  std::string name() const;
};

absl::Span<const OperatorRow> elementwise_operators();
absl::Span<const OperatorRow> binary_operators();
absl::Span<const OperatorRow> matrix_operators();
absl::Span<const OperatorRow> window_operators();
absl::Span<const OperatorRow> normalize_operators();
absl::Span<const OperatorRow> reduction_operators();
absl::Span<const OperatorRow> move_operators();
absl::Span<const OperatorRow> index_operators();
absl::Span<const OperatorRow> fill_operators();
absl::Span<const OperatorRow> quantized_operators();
absl::Span<const OperatorRow> quantized_table_operators();
absl::Span<const OperatorRow> int8_operators();
absl::Span<const OperatorRow> int8_product_operators();

// Null when the kernel does not exist in C.
const OperatorRow* find_operator(absl::string_view kernel);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_OPERATORS_H_
