// SPDX-License-Identifier: Apache-2.0
//
// Attention by one pass over keys and values per row: the softmax is kept
// relative to the largest score so far, and what was summed before is scaled
// down when a larger one comes. So no row of scores is stored.
#include <cmath>

#include "runtime/kernels/portable/attention_call.h"
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/reference_math.h"

namespace petrel::runtime::portable {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool check_attention_sizes(KernelRuntimeContext& context, const Tensor& query, const Tensor& key,
                           const Tensor& value) {
  for (const Tensor* tensor : {&query, &key, &value}) {
    if (!check_rank(context, *tensor, 4) || !check_contiguous(context, *tensor)) return false;
  }
  return check_floating(context, query) && check_same_type(context, query, key) &&
         check_same_type(context, query, value) &&
         check(context, key.size(0) == query.size(0) && value.size(0) == query.size(0),
               "query, key and value must have one batch size") &&
         check(context, key.size(3) == query.size(3), "query and key must have one last size") &&
         check(context, key.size(1) == value.size(1) && key.size(2) == value.size(2),
               "key and value must have equal heads and rows") &&
         check(context, key.size(1) > 0 && query.size(1) % key.size(1) == 0,
               "the heads of key must divide those of query");
}

bool read_mask(KernelRuntimeContext& context, const Tensor& mask, const Tensor& query,
               const SizeArray& scores, AttentionCall* call) {
  call->mask_type = mask.scalar_type();
  if (!check(context, call->mask_is_bool() || mask.scalar_type() == query.scalar_type(),
             "the mask must be bool or of the type of query") ||
      !check(context, broadcasts_to(mask.sizes(), scores.span()),
             "the mask does not broadcast to the scores")) {
    return false;
  }
  call->mask = mask.const_data_ptr();
  const size_t shift = 4 - mask.sizes().size();
  for (size_t d = 0; d < mask.sizes().size(); ++d) {
    call->mask_stride[d + shift] = mask.sizes()[d] == 1 ? 0 : mask.strides()[d];
  }
  return true;
}

// Of a contiguous [batches, heads, rows, elements].
AttentionSide side_of(const Tensor& tensor) {
  AttentionSide side;
  side.data = tensor.const_data_ptr();
  side.row = static_cast<size_t>(tensor.size(3));
  side.head = side.row * static_cast<size_t>(tensor.size(2));
  side.batch = side.head * static_cast<size_t>(tensor.size(1));
  return side;
}

}  // namespace

bool read_attention(KernelRuntimeContext& context, Span<EValue*> raw, AttentionCall* out_call) {
  KernelArgs args(context, raw, 7);
  const Tensor query = args.tensor(0);
  const Tensor key = args.tensor(1);
  const Tensor value = args.tensor(2);
  const std::optional<Tensor> mask = args.optional_tensor(3);
  AttentionCall call;
  call.causal = args.boolean(4);
  call.scale = args.real(5);
  const Tensor out = args.out(6);
  if (!args.ok() || !check_attention_sizes(context, query, key, value)) return false;
  SizeArray scores(query.sizes());
  scores[3] = static_cast<SizesType>(key.size(2));
  if (mask && !read_mask(context, *mask, query, scores, &call)) return false;
  SizeArray sizes(query.sizes());
  sizes[3] = static_cast<SizesType>(value.size(3));
  if (!check_same_type(context, query, out) || !resize_out(context, out, sizes.span()) ||
      !check_contiguous(context, out)) {
    return false;
  }
  call.type = call.out_type = query.scalar_type();
  call.batches = static_cast<size_t>(query.size(0));
  call.heads = static_cast<size_t>(query.size(1));
  call.groups = static_cast<size_t>(key.size(1));
  call.rows = static_cast<size_t>(query.size(2));
  call.columns = static_cast<size_t>(key.size(2));
  call.depth = static_cast<size_t>(query.size(3));
  call.width = static_cast<size_t>(value.size(3));
  call.query = side_of(query);
  call.key = side_of(key);
  call.value = side_of(value);
  call.sums = side_of(out);
  call.out = out.mutable_data_ptr();
  *out_call = call;
  return charge_attention(context, call);
}

bool charge_attention(KernelRuntimeContext& context, const AttentionCall& call) {
  // Scores, and sums of values.
  constexpr size_t kSums = 256;  // of values at a time, for each of which scores are made anew
  return context.charge(call.batches * call.heads * call.rows, call.columns,
                        call.depth * (call.width / kSums + 1) + call.width);
}

namespace {

// One row of the output; `head` counts over batches.
class AttentionRow {
 public:
  AttentionRow(const AttentionCall& call, size_t head, size_t row)
      : call_(call),
        load_(loader<double>(call.type)),
        batch_(head / call.heads),
        head_(head % call.heads),
        row_(row) {
    const size_t group = call.group_of(head_);
    query_ = call.query.at(batch_, head_) + row * call.query.row;
    key_ = call.key.at(batch_, group);
    value_ = call.value.at(batch_, group);
    out_ = call.sums.at(batch_, head_) + row * call.sums.row;
  }

  void run() const {
    for (size_t first = 0; first < call_.width; first += kSums) {
      const size_t left = call_.width - first;
      run_columns(first, left < kSums ? left : kSums);
    }
  }

 private:
  // Columns of the output at a time; the scores are computed again for others.
  static constexpr size_t kSums = 256;

  // Element i of the vector that begins at `vector` and has `size`.
  double element(const AttentionSide& side, size_t vector, size_t size, size_t i) const {
    const double number = load_(side.data, vector + i);
    if (side.scales == nullptr) return number;
    return (number - side.zero_points[vector / size]) * side.scales[vector / size];
  }

  // False where the mask hides it.
  bool score(size_t column, double* score) const {
    double sum = 0.0;
    const size_t key = key_ + column * call_.key.row;
    for (size_t e = 0; e < call_.depth; ++e) {
      sum += element(call_.query, query_, call_.depth, e) * element(call_.key, key, call_.depth, e);
    }
    sum *= call_.scale;
    *score = sum;
    if (call_.mask == nullptr) return true;
    const int64_t at =
        call_.mask_at(batch_, head_, row_) + static_cast<int64_t>(column) * call_.mask_stride[3];
    const double added = loader<double>(call_.mask_type)(call_.mask, static_cast<size_t>(at));
    if (call_.mask_is_bool()) return added != 0;
    *score += added;
    return added != -kInfinity;
  }

  void run_columns(size_t first, size_t count) const {
    double sums[kSums] = {};
    double largest = -kInfinity;
    double total = 0.0;
    for (size_t column = 0; column < call_.visible(row_); ++column) {
      double s;
      if (!score(column, &s)) continue;
      if (s > largest) {
        const double shrink = reference_math::exp(largest - s);
        for (size_t i = 0; i < count; ++i) sums[i] *= shrink;
        total *= shrink;
        largest = s;
      }
      // Infinite scores give NaN, as the quotient of infinities they are; one of -inf is a
      // weight of 0, of which an infinite value still makes NaN.
      const double weight = s == -kInfinity ? 0.0 : reference_math::exp(s - largest);
      total += weight;
      const size_t from = value_ + column * call_.value.row;
      for (size_t i = 0; i < count; ++i) {
        sums[i] += weight * element(call_.value, from, call_.width, first + i);
      }
    }
    const auto store = storer<double>(call_.out_type);
    const bool is_hidden = total == 0.0 && call_.mask != nullptr;
    for (size_t i = 0; i < count; ++i) {
      store(call_.out, out_ + first + i, is_hidden ? call_.hidden : sums[i] / total);
    }
  }

  const AttentionCall& call_;
  Loader<double> load_;
  size_t batch_, head_, row_;
  size_t query_, key_, value_, out_;  // places of the first elements
};

}  // namespace

void attend(const AttentionCall& call) {
  for (size_t head = 0; head < call.batches * call.heads; ++head) {
    for (size_t row = 0; row < call.rows; ++row) AttentionRow(call, head, row).run();
  }
}

void attention_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  AttentionCall call;
  if (read_attention(context, raw, &call)) attend(call);
}

}  // namespace petrel::runtime::portable
