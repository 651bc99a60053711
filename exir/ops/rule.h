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
// Results are contiguous: values inside a graph have no strides. Where an argument
// varies, a rule runs several times: with numbers at each sample point, which
// shows where it refuses; and with expressions on every path that it can take
// (size.h, paths.h), which proves what its results are. In this namespace
// TensorType and Sizes are those of rules.
#ifndef PETREL_EXIR_OPS_RULE_H_
#define PETREL_EXIR_OPS_RULE_H_

#include <cstdint>
#include <map>
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
#include "exir/ops/size.h"
#include "exir/status_macros.h"

namespace petrel::exir::rules {

using Inferred = absl::StatusOr<std::vector<Type>>;

// The largest number of tensors an operator with a list result may give.
inline constexpr int64_t kMaxListResults = 1 << 16;

// The type of a tensor as rules read and make it: contiguous.
struct TensorType {
  ScalarType dtype = ScalarType::kFloat;
  Sizes sizes;

  TensorType() = default;
  TensorType(const exir::TensorType& type);  // NOLINT: the same type
  static TensorType contiguous(ScalarType dtype, Sizes sizes);

  size_t rank() const { return sizes.size(); }
  Size numel() const;     // 1 for rank 0
  operator Type() const;  // NOLINT: the same type
};

// Arguments that were found to fit the schema of `op`. Accessors take schema
// names; one that the schema lacks, or an argument of another kind, reads as
// absent (an empty tensor type, 0, false, an empty list). A tensor that is in the
// schema but none is not for reading: whatever the rule gives then is refused.
class BoundArguments {
 public:
  // InvalidArgument naming the argument that does not fit. Arguments computed
  // at run time fit no slot but tensors'.
  static absl::StatusOr<BoundArguments> bind(const OpInfo& op,
                                             absl::Span<const Argument> arguments);
  // The same with sizes and numbers of `varying` in the place of those at one
  // point; items correspond. Both must outlive it.
  static absl::StatusOr<BoundArguments> bind(const OpInfo& op, absl::Span<const Argument> arguments,
                                             absl::Span<const Argument> varying);

  const OpInfo& op() const { return *op_; }
  bool has(absl::string_view name) const { return find(name) != nullptr; }
  // In the schema and not none.
  bool given(absl::string_view name) const;
  // For its kind: numbers in it may stand for what varies.
  const Argument& at(absl::string_view name) const;

  // A number that is found at run time: what it is at a sample point need not go together with
  // what others are there.
  bool is_sample(absl::string_view name) const;
  // `node` has the arguments that those bound stand for; items correspond. It must outlive this.
  void set_sample_of(absl::Span<const Argument> node) { node_ = node; }

  // Asked given() first where it may be none; check_read() says so else.
  const TensorType& tensor(absl::string_view name) const;
  absl::Status check_read() const;
  // One per item of a tensor list; null where an item is none.
  std::vector<const TensorType*> tensors(absl::string_view name) const;
  // Every tensor of every argument, in order.
  std::vector<const TensorType*> all_tensors() const;

  // Truth values count as 0 and 1.
  Size integer(absl::string_view name) const;
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
  BoundArguments(const OpInfo& op, absl::Span<const Argument> arguments,
                 absl::Span<const Argument> varying);
  int index_of(absl::string_view name) const;
  const Argument* find(absl::string_view name) const;
  Size size_of(const Argument& argument) const;

  const OpInfo* op_;
  absl::Span<const Argument> arguments_;
  absl::Span<const Argument> varying_;
  std::map<const Value*, TensorType> types_;  // of the values of `varying_`
  absl::Span<const Argument> node_;
  mutable const ArgSpec* read_none_ = nullptr;  // an absent tensor that was read
};

// What a message says of a part of it.
inline int64_t printable(const Size& size) { return size; }
template <typename Part>
const Part& printable(const Part& part) {
  return part;
}

// InvalidArgument with `parts` joined.
template <typename... Parts>
absl::Status invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(printable(parts)...));
}

Inferred one(TensorType type);
Inferred one(ScalarType dtype, Sizes sizes);

// `dim` counted from the end if negative; an error unless in range.
absl::StatusOr<int64_t> normalize_dim(int64_t dim, size_t rank, absl::string_view name);

// The common sizes of `types` by right-aligned broadcasting.
absl::StatusOr<Sizes> broadcast(absl::Span<const TensorType* const> types);
absl::StatusOr<Sizes> broadcast_sizes(absl::Span<const Sizes> all);

// Tensors of places are of i64 or i32.
bool is_index_dtype(ScalarType dtype);
absl::Status check_index_dtype(const TensorType& index);

// Rules shared by families.
Inferred same_as_self(const BoundArguments& in);
Inferred refuse_data_dependent(const BoundArguments& in);
// A size that depends on data (a row of such an operator has kDataSized): 0 to `most`.
Size size_by_data(const Size& most);

// a / b rounded up, for a >= 0 and b > 0.
Size ceil_divide(const Size& a, const Size& b);

using Rule = Inferred (*)(const BoundArguments& in);

Inferred run_rule(Rule rule, const OpInfo& op, absl::Span<const Argument> arguments);

template <Rule rule>
Inferred infer(const OpInfo& op, absl::Span<const Argument> arguments) {
  return run_rule(rule, op, arguments);
}

}  // namespace petrel::exir::rules

#endif  // PETREL_EXIR_OPS_RULE_H_
