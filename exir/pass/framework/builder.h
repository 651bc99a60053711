// SPDX-License-Identifier: Apache-2.0
//
// Makes nodes in front of a given one: arguments in schema order, the missing
// ones at their defaults, result types by the operator's rule, source copied
// from the node in front of which it builds.
//
//   Builder b(graph, &node);                       // silu(x)
//   PETREL_ASSIGN_OR_RETURN(Value* s, b.call(aten::sigmoid, {x}));
//   PETREL_ASSIGN_OR_RETURN(Value* y, b.call(aten::mul_Tensor, {x, s}));
//   PETREL_RETURN_IF_ERROR(b.replace(node, y));    // y takes the node's name
//
// Shapes that come out as they were (a view to the same sizes, a cast to the
// same dtype) make no node: the value itself is returned. Where sizes vary that is
// so if they are proven to be the same.
#ifndef PETREL_EXIR_PASS_FRAMEWORK_BUILDER_H_
#define PETREL_EXIR_PASS_FRAMEWORK_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/ops/handles.h"
#include "exir/ops/read_sizes.h"
#include "exir/ops/size.h"

namespace petrel::exir {

using Ints = Argument::Ints;
using BuiltValue = absl::StatusOr<Value*>;

// An Argument that literals, values and sizes become by themselves.
struct Arg : Argument {
  Arg(Argument argument) : Argument(std::move(argument)) {}  // NOLINT
  Arg(Value* value) : Argument(value) {}                     // NOLINT
  Arg(int value) : Argument(int64_t{value}) {}               // NOLINT
  Arg(int64_t value) : Argument(value) {}                    // NOLINT
  Arg(double value) : Argument(value) {}                     // NOLINT
  Arg(bool value) : Argument(value) {}                       // NOLINT
  Arg(ScalarType value) : Argument(value) {}                 // NOLINT
  Arg(const char* value) : Argument(std::string(value)) {}   // NOLINT
  Arg(Ints value) : Argument(std::move(value)) {}            // NOLINT
  Arg(const std::vector<Value*>& values)                     // NOLINT
      : Argument(Argument::of_values(values)) {}
  Arg(const rules::Size& size) : Arg(rules::Sizes{size}) { is_list = false; }  // NOLINT
  Arg(rules::Sizes items) : sizes(std::move(items)), is_list(true) {}          // NOLINT

  // In the place of the argument, unless empty and not a list.
  rules::Sizes sizes;
  bool is_list = false;
};

inline Argument none() { return Argument(); }

class Builder {
 public:
  // What becomes of a size that varies where a node takes a number.
  enum class Varying : uint8_t {
    kRefused,   // an error
    kAsInputs,  // an int input of the graph whose number it is
  };

  // `position` null: at the end of the graph.
  Builder(Graph& graph, Node* position, Varying varying = Varying::kRefused)
      : graph_(graph), position_(position), varying_(varying) {}
  // At the end, for a node of the model that is not in the graph.
  Builder(Graph& graph, Source source)
      : graph_(graph),
        position_(nullptr),
        varying_(Varying::kRefused),
        source_(std::move(source)) {}

  Graph& graph() const { return graph_; }

  // An error is what the rule of the operator says.
  absl::StatusOr<Node*> node(OpHandle op, std::initializer_list<Arg> arguments);
  absl::StatusOr<Node*> node(const OpInfo& op, std::vector<Argument> arguments);
  // The first result of node().
  BuiltValue call(OpHandle op, std::initializer_list<Arg> arguments);

  BuiltValue view(Value* x, const rules::Sizes& sizes);
  BuiltValue permute(Value* x, const Ints& dims);
  BuiltValue swap_last_two(Value* x);
  BuiltValue expand(Value* x, const rules::Sizes& sizes);
  BuiltValue cast(Value* x, ScalarType dtype);
  // Elements [start, end) of `dim`, neither of which counts from the end. An error where the
  // tensor has no such dim: what rules do not see to is not taken for granted.
  BuiltValue slice(Value* x, int64_t dim, const rules::Size& start, const rules::Size& end,
                   const rules::Size& step = 1);
  // One node of an operator of two tensors.
  BuiltValue binary(OpHandle op, Value* a, Value* b);

  // A constant tensor of rank 0. Its FQN tells its value, so that equal ones
  // are one; of a size that varies, the node that makes it.
  BuiltValue scalar(const Argument& number, ScalarType dtype);
  BuiltValue scalar(double value, ScalarType dtype);

  // Puts `value` (or one value per result, null for unused ones) in the place
  // of the node's results and erases the node. Nodes made by this builder take
  // its names. Internal error when a type differs.
  absl::Status replace(Node& node, Value* value);
  absl::Status replace(Node& node, const std::vector<Value*>& values);

 private:
  absl::StatusOr<Argument> argument_of(const Arg& arg);
  absl::StatusOr<Argument> number_of(const rules::Size& size);

  Graph& graph_;
  Node* position_;
  const Varying varying_;
  const Source source_;
  std::set<const Node*> made_;
};

// The middle of a longer FQN gives way to a digest: each step that makes one constant of
// another adds to its name.
inline constexpr size_t kMostNameBytes = 512;

// A constant of `graph` with this FQN and these bytes; one that is there with
// equal type and bytes is used, one with other bytes makes the FQN end in a
// number.
Value* add_unique_constant(Graph& graph, const std::string& fqn, const TensorType& type, Blob data,
                           Constant::Kind kind = Constant::Kind::kLiteral,
                           std::vector<std::string> made_of = {});

// 0, 1, ... rank-1.
Ints all_dims(size_t rank);
// At most the largest there is.
int64_t product(const Sizes& sizes);
// Negative dims counted from the end. Precondition: in range.
int64_t wrap_dim(int64_t dim, size_t rank);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_BUILDER_H_
