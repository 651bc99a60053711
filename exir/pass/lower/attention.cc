// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "exir/pass/lower/lower_to_kernels.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Each head of x [..., h, S, E] `times` times in a row.
BuiltValue repeat_heads(Builder& b, Value* x, const Size& times) {
  Sizes sizes = sizes_of(x);
  const size_t head = sizes.size() - 3;
  Sizes out = sizes;
  out[head] *= times;
  sizes.insert(sizes.begin() + static_cast<ptrdiff_t>(head) + 1, 1);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
  sizes[head + 1] = times;
  PETREL_ASSIGN_OR_RETURN(x, b.expand(x, sizes));
  return b.view(x, out);
}

// x as [count, rows, columns], its batch dims expanded to `batch`.
BuiltValue as_matrices(Builder& b, Value* x, const Sizes& batch) {
  const Sizes& sizes = sizes_of(x);
  const Sizes matrix(sizes.end() - 2, sizes.end());
  Sizes full = batch;
  full.insert(full.end(), matrix.begin(), matrix.end());
  PETREL_ASSIGN_OR_RETURN(x, b.expand(x, full));
  return b.view(x, {product(batch), matrix[0], matrix[1]});
}

// `scores` with -inf where `allowed` is false.
BuiltValue masked(Builder& b, Value* scores, Value* allowed) {
  PETREL_ASSIGN_OR_RETURN(Value * low, b.scalar(-kInfinity, scores->tensor().dtype));
  return b.call(aten::where_self, {allowed, scores, low});
}

// Softmax over the last dim; rows that are masked whole give 0, not NaN.
BuiltValue safe_softmax(Builder& b, Value* scores) {
  const int64_t last = static_cast<int64_t>(scores->tensor().rank()) - 1;
  PETREL_ASSIGN_OR_RETURN(Value * seen, b.call(aten::ne_Scalar, {scores, -kInfinity}));
  PETREL_ASSIGN_OR_RETURN(seen, b.call(aten::any_dims, {seen, Ints{last}, true}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::_softmax, {scores, last, false}));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, y->tensor().dtype));
  return b.call(aten::where_self, {seen, y, zero});
}

// softmax(q k^T * scale + mask) v
Rewritten attention(Builder& b, Node& node) {
  Value* q = tensor_at(node, arg::query);
  Value* k = tensor_at(node, arg::key);
  Value* v = tensor_at(node, arg::value);
  Value* mask = tensor_at(node, arg::attn_mask);
  const Sizes out = sizes_of(node.result());
  if (fixed_number(node.argument(arg::dropout_p)) != 0) return false;
  if (node.num_results() > 1 && node.result(1)->is_used()) return false;
  if (q->tensor().rank() < 2) return false;
  if (q->tensor().rank() > 2) {
    const size_t head = q->tensor().rank() - 3;
    const int gqa = node.op().find_arg(arg::enable_gqa);
    if (gqa >= 0 && node.argument(arg::enable_gqa) == Argument(true)) {
      const Size heads = sizes_of(q)[head];
      for (Value** x : {&k, &v}) {
        const Size own = sizes_of(*x)[(*x)->tensor().rank() - 3];
        if (!is_at_least(own, 1) || !is_always(heads % own, 0)) return false;
        if (is_always(own, heads)) continue;
        PETREL_ASSIGN_OR_RETURN(*x, repeat_heads(b, *x, heads / own));
      }
    }
  }
  const Sizes batch = leading(out, 2);
  const Size rows = sizes_of(q)[q->tensor().rank() - 2];
  const Size columns = sizes_of(k)[k->tensor().rank() - 2];
  const Size depth = sizes_of(q).back();
  const double scale = node.argument(arg::scale).is_none()
                           ? 1 / std::sqrt(static_cast<double>(depth))
                           : fixed_number(node.argument(arg::scale));
  PETREL_ASSIGN_OR_RETURN(q, b.call(aten::mul_Scalar, {q, scale}));
  PETREL_ASSIGN_OR_RETURN(q, as_matrices(b, q, batch));
  PETREL_ASSIGN_OR_RETURN(k, b.swap_last_two(k));
  PETREL_ASSIGN_OR_RETURN(k, as_matrices(b, k, batch));
  PETREL_ASSIGN_OR_RETURN(v, as_matrices(b, v, batch));
  PETREL_ASSIGN_OR_RETURN(Value * s, b.binary(aten::bmm, q, k));
  if (node.argument(arg::is_causal) == Argument(true)) {
    // Aligned to the top left: row i sees columns up to i.
    PETREL_ASSIGN_OR_RETURN(Value * seen,
                            b.call(aten::full, {Sizes{rows, columns}, true, ScalarType::kBool}));
    PETREL_ASSIGN_OR_RETURN(seen, b.call(aten::tril, {seen, 0}));
    PETREL_ASSIGN_OR_RETURN(s, masked(b, s, seen));
  }
  if (mask != nullptr) {
    Sizes full = batch;
    full.insert(full.end(), {rows, columns});
    PETREL_ASSIGN_OR_RETURN(s, b.view(s, full));
    if (mask->tensor().dtype == ScalarType::kBool) {
      PETREL_ASSIGN_OR_RETURN(s, masked(b, s, mask));
    } else {
      PETREL_ASSIGN_OR_RETURN(s, b.binary(aten::add_Tensor, s, mask));
    }
    PETREL_ASSIGN_OR_RETURN(s, safe_softmax(b, s));
    PETREL_ASSIGN_OR_RETURN(s, b.view(s, {product(batch), rows, columns}));
  } else {
    PETREL_ASSIGN_OR_RETURN(s, b.call(aten::_softmax, {s, 2, false}));
  }
  PETREL_ASSIGN_OR_RETURN(s, b.binary(aten::bmm, s, v));
  return done(b, node, b.view(s, out));
}

// x of rank 2 to 4 with dims of size 1 in front.
BuiltValue as_rank_4(Builder& b, Value* x) {
  Sizes sizes = sizes_of(x);
  while (sizes.size() < 4) sizes.insert(sizes.begin(), 1);
  return b.view(x, sizes);
}

// Whether petrel.attention takes these operands, given ones in front.
bool fits_kernel(const Value* q, const Value* k, const Value* v) {
  const auto size = [](const Value* x, size_t back) -> Size {
    const Sizes sizes = sizes_of(x);
    return sizes.size() < back ? Size(1) : sizes[sizes.size() - back];
  };
  for (const Value* x : {q, k, v}) {
    const TensorType& type = x->tensor();
    if (type.rank() < 2 || type.rank() > 4 || !type.is_contiguous()) {
      return false;
    }
  }
  return is_always(size(q, 4), size(k, 4)) && is_always(size(q, 4), size(v, 4)) &&
         is_always(size(k, 3), size(v, 3)) && size(k, 3).expression().range().low > 0 &&
         is_always(size(q, 3) % size(k, 3), 0);
}

Rewritten attention_kernel(Builder& b, Node& node) {
  Value* q = tensor_at(node, arg::query);
  Value* k = tensor_at(node, arg::key);
  Value* v = tensor_at(node, arg::value);
  Value* mask = tensor_at(node, arg::attn_mask);
  const TensorType& out = node.result()->tensor();
  if (fixed_number(node.argument(arg::dropout_p)) != 0 || !fits_kernel(q, k, v) ||
      (node.num_results() > 1 && node.result(1)->is_used()) ||
      (mask != nullptr && mask->tensor().rank() > 4)) {
    return attention(b, node);
  }
  const double depth = static_cast<double>(sizes_of(q).back());
  const double scale = node.argument(arg::scale).is_none()
                           ? 1 / std::sqrt(depth)
                           : fixed_number(node.argument(arg::scale));
  const bool causal = node.argument(arg::is_causal) == Argument(true);
  for (Value** x : {&q, &k, &v}) {
    PETREL_ASSIGN_OR_RETURN(*x, as_rank_4(b, *x));
  }
  const Argument seen = mask == nullptr ? none() : Argument(mask);
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(petrel_ops::attention, {q, k, v, seen, causal, scale}));
  return done(b, node, b.view(y, sizes_of(out)));
}

constexpr Rewrite kPetrelRows[] = {
    {aten::scaled_dot_product_attention, attention_kernel},
    {aten::_scaled_dot_product_flash_attention_for_cpu, attention_kernel},
};

constexpr Rewrite kRows[] = {
    {aten::scaled_dot_product_attention, attention},
    {aten::_scaled_dot_product_flash_attention_for_cpu, attention},
};

}  // namespace

Rewrites attention_lowerings() { return kRows; }
Rewrites petrel_attention_lowerings() { return kPetrelRows; }

}  // namespace petrel::exir
