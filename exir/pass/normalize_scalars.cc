// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/normalize_scalars.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exir/ops/table.h"
#include "exir/pass/constant_data.h"
#include "exir/pass/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

// The overload of the same operator that takes a number in the second place.
struct Twin {
  const char* tensor;
  const char* scalar;
  const char* swapped;  // for a number in the first place; "" when none
};

constexpr Twin kTwins[] = {
    {"aten.add.Tensor", "aten.add.Scalar", "aten.add.Scalar"},
    {"aten.sub.Tensor", "aten.sub.Scalar", ""},
    {"aten.mul.Tensor", "aten.mul.Scalar", "aten.mul.Scalar"},
    {"aten.div.Tensor", "aten.div.Scalar", ""},
    {"aten.div.Tensor_mode", "aten.div.Scalar_mode", ""},
    {"aten.fmod.Tensor", "aten.fmod.Scalar", ""},
    {"aten.remainder.Tensor", "aten.remainder.Scalar", ""},
    {"aten.pow.Tensor_Tensor", "aten.pow.Tensor_Scalar", ""},
    {"aten.bitwise_and.Tensor", "aten.bitwise_and.Scalar", "aten.bitwise_and.Scalar"},
    {"aten.bitwise_or.Tensor", "aten.bitwise_or.Scalar", "aten.bitwise_or.Scalar"},
    {"aten.bitwise_xor.Tensor", "aten.bitwise_xor.Scalar", "aten.bitwise_xor.Scalar"},
    {"aten.bitwise_left_shift.Tensor", "aten.bitwise_left_shift.Tensor_Scalar", ""},
    {"aten.bitwise_right_shift.Tensor", "aten.bitwise_right_shift.Tensor_Scalar", ""},
    {"aten.eq.Tensor", "aten.eq.Scalar", "aten.eq.Scalar"},
    {"aten.ne.Tensor", "aten.ne.Scalar", "aten.ne.Scalar"},
    {"aten.lt.Tensor", "aten.lt.Scalar", "aten.gt.Scalar"},
    {"aten.le.Tensor", "aten.le.Scalar", "aten.ge.Scalar"},
    {"aten.gt.Tensor", "aten.gt.Scalar", "aten.lt.Scalar"},
    {"aten.ge.Tensor", "aten.ge.Scalar", "aten.le.Scalar"},
    {"aten.masked_fill.Tensor", "aten.masked_fill.Scalar", ""},
};

// Operators that are the same under another name.
struct Synonym {
  const char* name;
  const char* canonical;
};

constexpr Synonym kSynonyms[] = {
    {"aten.true_divide.Tensor", "aten.div.Tensor"},
    {"aten.divide.Tensor", "aten.div.Tensor"},
    {"aten.multiply.Tensor", "aten.mul.Tensor"},
    {"aten.subtract.Tensor", "aten.sub.Tensor"},
    {"aten.max.other", "aten.maximum.default"},
    {"aten.min.other", "aten.minimum.default"},
    {"aten.__and__.Tensor", "aten.bitwise_and.Tensor"},
    {"aten.__and__.Scalar", "aten.bitwise_and.Scalar"},
    {"aten.__or__.Tensor", "aten.bitwise_or.Tensor"},
    {"aten.__or__.Scalar", "aten.bitwise_or.Scalar"},
    {"aten.__xor__.Tensor", "aten.bitwise_xor.Tensor"},
    {"aten.__xor__.Scalar", "aten.bitwise_xor.Scalar"},
    {"aten.__lshift__.Tensor", "aten.bitwise_left_shift.Tensor"},
    {"aten.__lshift__.Scalar", "aten.bitwise_left_shift.Tensor_Scalar"},
    {"aten.__rshift__.Tensor", "aten.bitwise_right_shift.Tensor"},
    {"aten.__rshift__.Scalar", "aten.bitwise_right_shift.Tensor_Scalar"},
    {"aten.greater.Tensor", "aten.gt.Tensor"},
    {"aten.less.Tensor", "aten.lt.Tensor"},
    {"aten.not_equal.Tensor", "aten.ne.Tensor"},
    {"aten.clip.default", "aten.clamp.default"},
    {"aten._unsafe_index.Tensor", "aten.index.Tensor"},
    {"aten._unsafe_index_put.default", "aten.index_put.default"},
};

Rewritten synonym(Builder& b, Node& node) {
  const std::string name = node.op().full_name();
  for (const Synonym& row : kSynonyms) {
    if (name != row.name) continue;
    const OpInfo& canonical = op(row.canonical);
    // Equal arguments in front; what the synonym lacks has a default.
    PETREL_ASSIGN_OR_RETURN(Node * made, b.node(canonical, node.arguments()));
    PETREL_RETURN_IF_ERROR(b.replace(node, made->result()));
    return true;
  }
  return false;
}

// The number in argument `i`, a constant of rank 0 that numbers can stand for;
// none otherwise. With kWeights weights are such constants, too.
template <bool kWeights>
absl::StatusOr<Argument> number_at(const Node& node, size_t i) {
  const Value* value = tensor_at(node, i);
  if (value == nullptr || !value->is_constant() || value->constant()->is_mutable() ||
      value->tensor().rank() != 0 ||
      (!kWeights && value->constant()->kind != Constant::Kind::kLiteral)) {
    return Argument();
  }
  const Constant& constant = *value->constant();
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> elements, decode_constant(constant));
  const double number = elements[0];
  const ScalarType dtype = constant.type.dtype;
  if (is_floating_point(dtype)) return Argument(number);
  if (dtype == ScalarType::kBool) return Argument(number != 0);
  // Larger ones were rounded when they were read.
  if (std::fabs(number) > 9007199254740992.0) return Argument();
  return Argument(static_cast<int64_t>(number));
}

bool alpha_is_one(const Node& node) {
  const int alpha = node.op().find_arg("alpha");
  if (alpha < 0) return true;
  const Argument& value = node.argument(static_cast<size_t>(alpha));
  return value.is_number() && value.as_number() == 1;
}

// `node` with the operator `name` and `arguments` in its place, if that gives
// the same type.
Rewritten replaced(Builder& b, Node& node, const char* name, std::vector<Argument> arguments) {
  PETREL_ASSIGN_OR_RETURN(Node * made, b.node(op(name), std::move(arguments)));
  if (made->result()->type() != node.result()->type()) {
    b.graph().erase(made);
    return false;
  }
  PETREL_RETURN_IF_ERROR(b.replace(node, made->result()));
  return true;
}

template <bool kWeights>
Rewritten to_twin(Builder& b, Node& node) {
  const size_t second = node.op().name == "aten::masked_fill" ? 2 : 1;
  PETREL_ASSIGN_OR_RETURN(const Argument left, number_at<kWeights>(node, 0));
  PETREL_ASSIGN_OR_RETURN(const Argument right, number_at<kWeights>(node, second));
  const std::string name = node.op().full_name();
  for (const Twin& row : kTwins) {
    if (name != row.tensor) continue;
    std::vector<Argument> arguments = node.arguments();
    if (!right.is_none()) {
      arguments[second] = right;
      return replaced(b, node, row.scalar, std::move(arguments));
    }
    if (left.is_none() || row.swapped[0] == '\0' || !alpha_is_one(node)) {
      return false;
    }
    arguments[0] = arguments[1];
    arguments[1] = left;
    return replaced(b, node, row.swapped, std::move(arguments));
  }
  return false;
}

// clamp with constant bounds.
template <bool kWeights>
Rewritten clamp(Builder& b, Node& node) {
  std::vector<Argument> arguments = node.arguments();
  for (size_t i = 1; i < 3; ++i) {
    if (arguments[i].is_none()) continue;
    PETREL_ASSIGN_OR_RETURN(arguments[i], number_at<kWeights>(node, i));
    if (arguments[i].is_none()) return false;
  }
  return replaced(b, node, "aten.clamp.default", std::move(arguments));
}

// other - alpha * self, which sub computes with its operands changed over.
Rewritten rsub(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  const ScalarType dtype = node.result()->tensor().dtype;
  Value* other = tensor_at(node, 1);
  if (other == nullptr) {
    PETREL_ASSIGN_OR_RETURN(other, b.scalar(node.argument(1), dtype));
  }
  return done(b, node, b.call("aten.sub.Tensor", {other, x, node.argument(2)}));
}

Rewritten where(Builder& b, Node& node) {
  std::vector<Value*> operands;
  for (size_t i = 0; i < 3; ++i) {
    Value* value = tensor_at(node, i);
    if (value == nullptr) {
      const ScalarType dtype = node.result()->tensor().dtype;
      PETREL_ASSIGN_OR_RETURN(value, b.scalar(node.argument(i), dtype));
    }
    operands.push_back(value);
  }
  return done(b, node, b.call("aten.where.self", {operands[0], operands[1], operands[2]}));
}

template <bool kWeights>
Rewritten floor_divide(Builder& b, Node& node) {
  Argument number = node.argument(1);
  if (!number.is_number()) {
    PETREL_ASSIGN_OR_RETURN(number, number_at<kWeights>(node, 1));
  }
  if (number.is_none()) return false;
  return replaced(b, node, "aten.div.Scalar_mode",
                  {node.argument(0), number, Argument(std::string("floor"))});
}

Rewritten remainder_of_number(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * number,
                          b.scalar(node.argument(0), node.result()->tensor().dtype));
  return done(b, node, b.binary("aten.remainder.Tensor", number, tensor_at(node, 1)));
}

template <bool kWeights>
constexpr Rewrite kRows[] = {
    {"aten.rsub.Tensor", rsub},
    {"aten.rsub.Scalar", rsub},
    {"aten.clamp.Tensor", clamp<kWeights>},
    {"aten.where.ScalarOther", where},
    {"aten.where.ScalarSelf", where},
    {"aten.where.Scalar", where},
    {"aten.floor_divide.default", floor_divide<kWeights>},
    {"aten.floor_divide.Scalar", floor_divide<kWeights>},
    {"aten.remainder.Scalar_Tensor", remainder_of_number},
};

template <bool kWeights>
absl::StatusOr<bool> normalize(Graph& graph) {
  std::vector<Rewrite> synonyms;
  for (const Synonym& row : kSynonyms) synonyms.push_back({row.name, synonym});
  std::vector<Rewrite> twins;
  for (const Twin& row : kTwins) {
    twins.push_back({row.tensor, to_twin<kWeights>});
  }
  const Rewrites tables[] = {Rewrites(synonyms), Rewrites(twins), Rewrites(kRows<kWeights>)};
  return apply_rewrites(graph, tables);
}

}  // namespace

absl::StatusOr<bool> normalize_scalars(Graph& graph, const PassContext& context) {
  return context.keep_weights ? normalize<false>(graph) : normalize<true>(graph);
}

}  // namespace petrel::exir
