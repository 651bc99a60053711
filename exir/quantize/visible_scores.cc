// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/visible_scores.h"

#include <cstdint>
#include <set>
#include <vector>

#include "exir/ops/handles.h"
#include "exir/quantize/integer_roles.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// e^-16 is a ten-thousandth of the level that a softmax has for the least of its shares.
constexpr double kFaint = 16;

// Beyond these it is not asked who reads a value.
constexpr size_t kMostReaders = 1024;

bool is_sum(const Node& node) {
  return node.is(aten::add_Tensor) && node.argument(arg::alpha) == Argument(int64_t{1});
}

bool moves_elements(const Node& node) {
  return node.is(aten::view, aten::permute, aten::expand, aten::slice_Tensor);
}

}  // namespace

bool is_score(const Value& value) {
  std::vector<const Value*> left = {&value};
  bool is_read = false;
  for (size_t i = 0; i < left.size() && i < kMostReaders; ++i) {
    if (left[i]->output_uses() > 0 || left[i]->tensor().rank() == 0) return false;
    for (const Node* user : left[i]->users()) {
      // Of a softmax that is kept from rows without scores.
      if (user->is(aten::ne_Scalar)) continue;
      is_read = is_read || user->is(aten::_softmax);
      if (user->is(aten::_softmax)) continue;
      if (!is_sum(*user) && !moves_elements(*user) && !user->is(aten::where_self)) return false;
      left.push_back(user->result());
    }
  }
  return is_read && left.size() <= kMostReaders && is_float_tensor(value);
}

BuiltValue VisibleScores::extreme_of(OpHandle op, Value* x) {
  return builder_.call(op, {x, all_dims(x->tensor().rank()), false});
}

// Of rows that are shut out whole nothing counts: they have that of the largest.
BuiltValue VisibleScores::row_threshold(Value* score, int64_t dim) {
  Builder& b = builder_;
  PETREL_ASSIGN_OR_RETURN(Value * most, b.call(aten::amax, {score, Ints{dim}, true}));
  PETREL_ASSIGN_OR_RETURN(Value * of_all, extreme_of(aten::amax, score));
  PETREL_ASSIGN_OR_RETURN(Value * counts, b.call(aten::gt_Scalar, {most, kShutOut}));
  PETREL_ASSIGN_OR_RETURN(most, b.call(aten::where_self, {counts, most, of_all}));
  return b.call(aten::sub_Scalar, {most, kFaint, 1});
}

BuiltValue VisibleScores::threshold_of(Value* sum) {
  const Node* softmax = nullptr;
  for (const Node* user : sum->users()) {
    if (is_sum(*user) || moves_elements(*user) || user->is(aten::where_self)) return least_of(sum);
    if (!user->is(aten::_softmax)) continue;
    if (softmax != nullptr && softmax->argument(arg::dim) != user->argument(arg::dim)) {
      return least_of(sum);
    }
    softmax = user;
  }
  // Only asked whether it is shut out.
  if (softmax == nullptr) return nullptr;
  return row_threshold(sum, softmax->argument(arg::dim).as_int());
}

BuiltValue VisibleScores::least_for(Value* score, const Node& reader) {
  Builder& b = builder_;
  if (moves_elements(reader)) return least_of(reader.result());
  if (reader.is(aten::_softmax)) {
    PETREL_ASSIGN_OR_RETURN(Value * least,
                            row_threshold(score, reader.argument(arg::dim).as_int()));
    return extreme_of(aten::amin, least);
  }
  if (!is_sum(reader)) return nullptr;
  Value* const self = reader.input(arg::self);
  Value* const other = self == score ? reader.input(arg::other) : self;
  PETREL_ASSIGN_OR_RETURN(Value * least, threshold_of(reader.result()));
  if (least == nullptr) return nullptr;
  // Of two that are added, the lower shuts out, wherever the largest of the other may come to lie.
  PETREL_ASSIGN_OR_RETURN(Value * most, extreme_of(aten::amax, other));
  PETREL_ASSIGN_OR_RETURN(least, b.binary(aten::sub_Tensor, least, most));
  PETREL_ASSIGN_OR_RETURN(least, b.binary(aten::maximum, least, score));
  PETREL_ASSIGN_OR_RETURN(Value * is_lower, b.binary(aten::lt_Tensor, score, other));
  PETREL_ASSIGN_OR_RETURN(least, b.call(aten::where_self, {is_lower, least, score}));
  return extreme_of(aten::amin, least);
}

BuiltValue VisibleScores::least_of(Value* score) {
  const auto known = least_.find(score);
  if (known != least_.end()) return known->second;
  const std::vector<Node*> users = score->users();  // of now: more are made
  std::set<const Node*> readers;
  Value* least = nullptr;
  for (const Node* user : users) {
    const bool reads = user->is(aten::_softmax) || user->is(aten::where_self) || is_sum(*user) ||
                       moves_elements(*user);
    if (!reads || !readers.insert(user).second) continue;
    PETREL_ASSIGN_OR_RETURN(Value * one, least_for(score, *user));
    if (one == nullptr) return least_[score] = nullptr;
    if (least != nullptr) {
      PETREL_ASSIGN_OR_RETURN(one, builder_.binary(aten::minimum, least, one));
    }
    least = one;
  }
  return least_[score] = least;
}

BuiltValue VisibleScores::part_of(Value* score) {
  PETREL_ASSIGN_OR_RETURN(Value * least, least_of(score));
  if (least == nullptr) return score;
  PETREL_ASSIGN_OR_RETURN(Value * shown, builder_.binary(aten::maximum, score, least));
  return builder_.call(aten::clamp, {shown, kShutOut, none()});
}

}  // namespace petrel::exir
