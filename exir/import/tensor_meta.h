// SPDX-License-Identifier: Apache-2.0
//
// How an archive writes down the type of a tensor: dtype and layout by numbers
// of its own, sizes as integers or as symbolic expressions.
//
//   {"dtype": 7, "sizes": [{"as_int": 2}, {"as_expr": {"expr_str": ...}}], ...}
//
// Expressions become those of the IR (exir/ir/size_expression.h); one that is a
// number for all values of its symbols is static.
#ifndef PETREL_EXIR_IMPORT_TENSOR_META_H_
#define PETREL_EXIR_IMPORT_TENSOR_META_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/import/float8.h"
#include "exir/import/json.h"
#include "exir/import/size_limits.h"
#include "exir/ir/argument.h"
#include "exir/ir/type.h"

namespace petrel::exir {

// From the numbering of archives. Unimplemented, with the name, for dtypes that
// the IR lacks.
absl::StatusOr<ScalarType> read_scalar_type(const Json& code);
// The same; of complex numbers, that of their parts.
absl::StatusOr<ScalarType> read_part_type(const Json& code);
// Whether a tensor is of complex numbers.
bool is_complex(const Json& meta);
absl::StatusOr<MemoryFormat> read_memory_format(const Json& code);
// Of a tensor of numbers of 8 bits, which is stored and becomes floats; null for others.
const Float8* float8_of(const Json& meta);
// An error unless the code is that of plain strided tensors.
absl::Status check_layout(const Json& code);

// The symbols of a program with their ranges.
class Symbols {
 public:
  static absl::StatusOr<Symbols> read(const Json& range_constraints);

  // Takes those for one that depend on data and that an assertion of the graph says are equal
  // (equal_symbols.cc).
  absl::Status join_equal(const Json& graph);

  // Gives those without an upper bound that choose a row of a tensor the bounds of one
  // (index_symbols.cc).
  absl::Status bound_indices(const Json& graph);

  // Gives sizes of inputs that have no upper bound those of `limits`; an error for one below the
  // lower bound. What is found in data keeps none: no call could be checked before it runs.
  absl::Status limit(const SizeLimits& limits);

  // `size` is {"as_int"} or {"as_expr"}; an error with the symbol when it has no
  // upper bound.
  absl::StatusOr<SizeExpression> resolve(const Json& size) const;

 private:
  absl::StatusOr<SizeExpression> read_expression(const std::string& text) const;

  std::map<std::string, SizeExpression> bounded_;  // those with an upper bound
  std::map<std::string, int64_t> unbounded_;       // the others, and what they are at least
  // Expressions that were read, wrong ones too: a few bytes of a file name one once again.
  mutable std::map<std::string, absl::StatusOr<SizeExpression>, std::less<>> resolved_;
};

// Dtype and sizes as a contiguous type: the archive's strides say how the
// exporter laid the value out, which is not how the compiler will.
absl::StatusOr<TensorType> read_tensor_type(const Json& meta, const Symbols& symbols);
// The same; of complex numbers, that of one part.
absl::StatusOr<TensorType> read_part_tensor_type(const Json& meta, const Symbols& symbols);

// OK for a tensor whose elements lie in their storage one behind the other, and from its
// start if `from_start`; else how they lie.
absl::Status check_row_major(const Json& meta, const Symbols& symbols, bool from_start);

// A list of {"as_int"} or {"as_expr"}, all static.
absl::StatusOr<Sizes> read_sizes(const Json& sizes, const Symbols& symbols);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_TENSOR_META_H_
