// SPDX-License-Identifier: Apache-2.0
//
// How an archive writes down the type of a tensor: dtype and layout by numbers
// of its own, sizes as integers or as symbolic expressions.
//
//   {"dtype": 7, "sizes": [{"as_int": 2}, {"as_expr": {"expr_str": ...}}], ...}
//
// Expressions are evaluated at the sample points of the program's symbols, which
// are chosen here from their ranges (exir/ir/type.h says what they are for). One
// that is the same at all of them is static.
#ifndef PETREL_EXIR_IMPORT_TENSOR_META_H_
#define PETREL_EXIR_IMPORT_TENSOR_META_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/import/json.h"
#include "exir/ir/argument.h"
#include "exir/ir/type.h"

namespace petrel::exir {

// From the numbering of archives. Unimplemented, with the name, for dtypes that
// the IR lacks.
absl::StatusOr<ScalarType> read_scalar_type(const Json& code);
absl::StatusOr<MemoryFormat> read_memory_format(const Json& code);
// An error unless the code is that of plain strided tensors.
absl::Status check_layout(const Json& code);

// A size, or another int that is computed from sizes.
struct SymbolicInt {
  int64_t bound = 0;             // the largest value
  std::vector<int64_t> samples;  // at each point

  bool is_static() const;
};

// The symbols of a program, their ranges and sample points.
class Symbols {
 public:
  static absl::StatusOr<Symbols> read(const Json& range_constraints);

  // `size` is {"as_int"} or {"as_expr"}; an error with the symbol when it has no
  // upper bound.
  absl::StatusOr<SymbolicInt> resolve(const Json& size) const;

 private:
  struct Symbol {
    int64_t low = 0;
    int64_t high = -1;  // -1: unbounded
    std::vector<int64_t> samples;
  };
  std::map<std::string, Symbol> symbols_;
};

// Dtype and sizes as a contiguous type: the archive's strides say how the
// exporter laid the value out, which is not how the compiler will.
absl::StatusOr<TensorType> read_tensor_type(const Json& meta, const Symbols& symbols);

// A list of {"as_int"} or {"as_expr"}, all static.
absl::StatusOr<Sizes> read_sizes(const Json& sizes, const Symbols& symbols);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_TENSOR_META_H_
