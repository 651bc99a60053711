// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "exir/pass/framework/constant_data.h"
#include "exir/pass/decompose/decompose.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// As torch numbers them.
enum Mode : int64_t { kSum = 0, kMean = 1, kMax = 2 };

struct Bags {
  Size count;            // of bags
  Size rows;             // of all bags together
  Size width;            // of a row
  int64_t padding = -1;  // the index that counts for nothing; -1: none
};

// The length of each bag when all are alike and that is known: offsets
// 0, k, 2 k, ..., as they come from indices of two dims.
absl::StatusOr<std::optional<Size>> common_length(const Value& offsets, const Bags& bags) {
  const std::optional<Size> unknown;
  if (!is_at_least(bags.count, 1) || !is_at_least(bags.rows, 1) ||
      !is_always(bags.rows % bags.count, 0)) {
    return unknown;
  }
  const Size length = bags.rows / bags.count;
  const Node* made = offsets.producer();
  if (made != nullptr && made->is(aten::arange_start_step)) {
    const bool is_even = made->argument(arg::start) == Argument(int64_t{0}) &&
                         holds(made->argument(arg::step), length);
    return is_even ? std::optional<Size>(length) : unknown;
  }
  if (!offsets.is_constant() || offsets.constant()->is_mutable()) {
    return unknown;
  }
  // Another node may ask the same of it.
  PETREL_RETURN_IF_ERROR(check_table({static_cast<int64_t>(numel_of(&offsets))}));
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> starts, decode_constant(*offsets.constant()));
  const int64_t each = length;
  const int64_t count = bags.count;
  for (int64_t i = 0; i < count; ++i) {
    if (starts[static_cast<size_t>(i)] != static_cast<double>(i * each)) {
      return unknown;
    }
  }
  return std::optional<Size>(length);
}

// Which rows are not padding, [rows, 1].
BuiltValue is_counted(Builder& b, Value* indices, const Bags& bags) {
  PETREL_ASSIGN_OR_RETURN(Value * counts, b.call(aten::ne_Scalar, {indices, bags.padding}));
  return b.view(counts, {bags.rows, 1});
}

// 1 for rows that count and 0 for padding, [rows, 1].
BuiltValue weight_of_rows(Builder& b, Value* indices, const Bags& bags, ScalarType dtype) {
  if (bags.padding < 0) {
    PETREL_ASSIGN_OR_RETURN(Value * one, b.scalar(1, dtype));
    return b.expand(one, {bags.rows, 1});
  }
  PETREL_ASSIGN_OR_RETURN(Value * counts, is_counted(b, indices, bags));
  return b.cast(counts, dtype);
}

// Sums the rows of x, [rows, n], bag by bag: [bags, n].
class Sums {
 public:
  Sums(Builder& b, const Bags& bags) : b_(b), bags_(bags) {}

  absl::Status prepare(Value* offsets, std::optional<Size> length) {
    length_ = length;
    if (length_) return absl::OkStatus();
    // A row belongs to the last bag that starts at it or before.
    PETREL_ASSIGN_OR_RETURN(offsets, b_.slice(offsets, 0, 0, bags_.count));
    PETREL_ASSIGN_OR_RETURN(Value * place, b_.call(aten::arange_start_step,
                                                   {0, bags_.rows, 1, offsets->tensor().dtype}));
    PETREL_ASSIGN_OR_RETURN(place, b_.view(place, {bags_.rows, 1}));
    PETREL_ASSIGN_OR_RETURN(Value * started, b_.binary(aten::ge_Tensor, place, offsets));
    PETREL_ASSIGN_OR_RETURN(bag_, b_.call(aten::sum_dim_IntList, {started, Ints{1}}));
    PETREL_ASSIGN_OR_RETURN(bag_, b_.call(aten::sub_Scalar, {bag_, 1}));
    return absl::OkStatus();
  }

  BuiltValue of(Value* x) {
    const Size n = sizes_of(x)[1];
    if (length_) {
      PETREL_ASSIGN_OR_RETURN(x, b_.view(x, {bags_.count, *length_, n}));
      return b_.call(aten::sum_dim_IntList, {x, Ints{1}});
    }
    PETREL_ASSIGN_OR_RETURN(Value * zero, b_.scalar(0, x->tensor().dtype));
    PETREL_ASSIGN_OR_RETURN(zero, b_.expand(zero, {bags_.count, n}));
    return b_.call(aten::index_add, {zero, 0, bag_, x});
  }

 private:
  Builder& b_;
  const Bags bags_;
  std::optional<Size> length_;
  Value* bag_ = nullptr;  // of each row, [rows]
};

// The largest of each bag; 0 for one of padding only.
BuiltValue largest(Builder& b, Value* x, Value* indices, const Bags& bags, const Size& length) {
  const ScalarType dtype = x->tensor().dtype;
  const Sizes sizes = {bags.count, length, bags.width};
  if (bags.padding < 0) {
    PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
    return b.call(aten::amax, {x, Ints{1}});
  }
  PETREL_ASSIGN_OR_RETURN(Value * counts, is_counted(b, indices, bags));
  PETREL_ASSIGN_OR_RETURN(counts, b.view(counts, {bags.count, length, 1}));
  PETREL_ASSIGN_OR_RETURN(Value * least, b.scalar(-std::numeric_limits<double>::infinity(), dtype));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, dtype));
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::where_self, {counts, x, least}));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::amax, {x, Ints{1}}));
  PETREL_ASSIGN_OR_RETURN(Value * any, b.call(aten::any_dims, {counts, Ints{1}}));
  return b.call(aten::where_self, {any, x, zero});
}

// The rows of a table, summed, averaged or the largest taken, bag by bag. The
// other three results are for gradients.
Rewritten embedding_bag(Builder& b, Node& node) {
  for (size_t i = 1; i < node.num_results(); ++i) {
    if (node.result(i)->is_used()) return false;
  }
  Value* indices = tensor_at(node, arg::indices);
  Value* offsets = tensor_at(node, arg::offsets);
  const TensorType out = node.result()->tensor();
  const ScalarType dtype = out.dtype;
  const Sizes sizes = sizes_of(out);
  Bags bags{sizes[0], numel_of(indices), sizes[1]};
  const int padding = node.op().find_arg(arg::padding_idx);
  if (padding >= 0 && node.argument(arg::padding_idx).is_int()) {
    bags.padding = fixed_int(node.argument(arg::padding_idx));
  }
  const int64_t mode = fixed_int(node.argument(arg::mode));
  PETREL_ASSIGN_OR_RETURN(const std::optional<Size> length, common_length(*offsets, bags));
  if (mode == kMax && !length) return false;

  PETREL_ASSIGN_OR_RETURN(Value * x,
                          b.call(aten::embedding, {tensor_at(node, arg::weight), indices}));
  if (mode == kMax) {
    return done(b, node, largest(b, x, indices, bags, *length));
  }
  if (Value* weights = tensor_at(node, arg::per_sample_weights)) {
    PETREL_ASSIGN_OR_RETURN(weights, b.view(weights, {bags.rows, 1}));
    PETREL_ASSIGN_OR_RETURN(x, b.binary(aten::mul_Tensor, x, weights));
  }
  if (bags.padding >= 0) {
    PETREL_ASSIGN_OR_RETURN(Value * counts, is_counted(b, indices, bags));
    PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, dtype));
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::where_self, {counts, x, zero}));
  }
  Sums sums(b, bags);
  PETREL_RETURN_IF_ERROR(sums.prepare(offsets, length));
  PETREL_ASSIGN_OR_RETURN(Value * y, sums.of(x));
  if (mode == kMean) {
    PETREL_ASSIGN_OR_RETURN(Value * count, weight_of_rows(b, indices, bags, dtype));
    PETREL_ASSIGN_OR_RETURN(count, sums.of(count));
    PETREL_ASSIGN_OR_RETURN(Value * one, b.scalar(1, dtype));
    PETREL_ASSIGN_OR_RETURN(count, b.binary(aten::maximum, count, one));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::div_Tensor, y, count));
  }
  return done(b, node, y);
}

constexpr Rewrite kRows[] = {
    {aten::embedding_bag, embedding_bag},
    {aten::embedding_bag_padding_idx, embedding_bag},
    {aten::_embedding_bag, embedding_bag},
    {aten::_embedding_bag_forward_only, embedding_bag},
};

}  // namespace

Rewrites embedding_bag_decompositions() { return kRows; }

}  // namespace petrel::exir
