// SPDX-License-Identifier: Apache-2.0
//
// How the shape and dtype rules of the operator table read their arguments.
//
// A rule is a function of BoundArguments; infer<rule> makes it an InferFn. It
// checks that every argument fits the schema before the rule runs, and that
// every result is a valid type after it, so a rule holds only what is special
// about its operator:
//
//   Inferred transpose_rule(const BoundArguments& in) {
//     TensorType out = in.tensor("self");
//     PETREL_ASSIGN_OR_RETURN(int64_t a, in.dim("dim0", out.rank()));
//     PETREL_ASSIGN_OR_RETURN(int64_t b, in.dim("dim1", out.rank()));
//     std::swap(out.sizes[a], out.sizes[b]);
//     return one(out);
//   }
//
// Results are contiguous: values inside a graph have no strides. Rules see fixed
// sizes and literal numbers only: where an argument varies they run once for each
// sample point of the method (exir/ir/type.h), and what they say makes the result.
#ifndef PETREL_EXIR_OPS_RULE_H_
#define PETREL_EXIR_OPS_RULE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "exir/ir/op.h"
#include "exir/ir/type.h"
#include "exir/status_macros.h"

namespace petrel::exir {

using Inferred = absl::StatusOr<std::vector<Type>>;

// The largest number of tensors an operator with a list result may give.
inline constexpr int64_t kMaxListResults = 1 << 16;

// Arguments that were found to fit the schema of `op`. Accessors take schema
// names; one that the schema lacks, or an argument of another kind, reads as
// absent (an empty tensor type, 0, false, an empty list).
class BoundArguments {
 public:
  // InvalidArgument naming the argument that does not fit. Arguments computed
  // at run time fit no slot but tensors'.
  static absl::StatusOr<BoundArguments> bind(const OpInfo& op,
                                             absl::Span<const Argument> arguments);

  const OpInfo& op() const { return *op_; }
  bool has(absl::string_view name) const { return find(name) != nullptr; }
  // In the schema and not none.
  bool given(absl::string_view name) const;
  const Argument& at(absl::string_view name) const;

  const TensorType& tensor(absl::string_view name) const;
  // One per item of a tensor list; null where an item is none.
  std::vector<const TensorType*> tensors(absl::string_view name) const;
  // Every tensor of every argument, in order.
  std::vector<const TensorType*> all_tensors() const;

  int64_t integer(absl::string_view name) const;
  double number(absl::string_view name) const;
  bool flag(absl::string_view name) const;
  std::string text(absl::string_view name) const;
  std::optional<ScalarType> dtype(absl::string_view name) const;
  // An int list, or a single int as a list of one; none is empty.
  Sizes ints(absl::string_view name) const;
  std::vector<double> floats(absl::string_view name) const;

  // The named argument as an index into `rank` dimensions, negative ones
  // counted from the end; a tensor of rank 0 has one dimension here.
  absl::StatusOr<int64_t> dim(absl::string_view name, size_t rank) const;
  // The same for a list; also refuses repetitions.
  absl::StatusOr<Sizes> dims(absl::string_view name, size_t rank) const;

  // The named int list with each member in [low, 2^31), of length 1 (repeated)
  // or `length`.
  absl::StatusOr<Sizes> window(absl::string_view name, size_t length, int64_t low) const;

 private:
  BoundArguments(const OpInfo& op, absl::Span<const Argument> arguments)
      : op_(&op), arguments_(arguments) {}
  const Argument* find(absl::string_view name) const;

  const OpInfo* op_;
  absl::Span<const Argument> arguments_;
};

// InvalidArgument with `parts` joined.
template <typename... Parts>
absl::Status invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

Inferred one(TensorType type);
Inferred one(ScalarType dtype, Sizes sizes);

// `dim` counted from the end if negative; an error unless in range.
absl::StatusOr<int64_t> normalize_dim(int64_t dim, size_t rank, absl::string_view name);

// The common sizes of `types` by right-aligned broadcasting.
absl::StatusOr<Sizes> broadcast(absl::Span<const TensorType* const> types);
absl::StatusOr<Sizes> broadcast_sizes(absl::Span<const Sizes> all);

// Rules shared by families.
Inferred same_as_self(const BoundArguments& in);
Inferred refuse_data_dependent(const BoundArguments& in);

using Rule = Inferred (*)(const BoundArguments& in);

Inferred run_rule(Rule rule, const OpInfo& op, absl::Span<const Argument> arguments);

template <Rule rule>
Inferred infer(const OpInfo& op, absl::Span<const Argument> arguments) {
  return run_rule(rule, op, arguments);
}

}  // namespace petrel::exir

#endif  // PETREL_EXIR_OPS_RULE_H_
