// SPDX-License-Identifier: Apache-2.0
//
// Attention of ExecuTorch's decoders: the rows of queries, keys and values lie one behind
// the other, [batches, rows, heads, elements], and keys and values are whole caches.
#include <cmath>

#include "runtime/kernels/portable/attention_call.h"
#include "runtime/kernels/portable/cache_rows.h"
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/functions.h"

namespace petrel::runtime::portable {
namespace {

// Which dims of a tensor are rows and heads.
struct Dims {
  int row = 1, head = 2;
};
constexpr Dims kRowsFirst = {1, 2};
constexpr Dims kHeadsFirst = {2, 1};

AttentionSide side_of(const Tensor& tensor, const Dims& dims) {
  const auto elements = static_cast<size_t>(tensor.size(3));
  const auto inner = static_cast<size_t>(tensor.size(2));
  AttentionSide side;
  side.data = tensor.const_data_ptr();
  side.row = dims.row == 1 ? inner * elements : elements;
  side.head = dims.row == 1 ? elements : inner * elements;
  side.batch = elements * inner * static_cast<size_t>(tensor.size(1));
  return side;
}

struct Tensors {
  Tensor query, key, value;
  std::optional<Tensor> mask;
  Tensor out;
  int64_t start;
  double dropout;
  bool causal;
  std::optional<double> scale;
};

bool check_sizes(KernelRuntimeContext& context, const Tensors& in, const Dims& dims) {
  for (const Tensor* tensor : {&in.query, &in.key, &in.value}) {
    if (!check_rank(context, *tensor, 4) || !check_contiguous(context, *tensor)) return false;
  }
  const int64_t groups = in.key.size(dims.head);
  return check_same_type(context, in.query, in.key) &&
         check_same_type(context, in.query, in.value) &&
         check(context,
               in.key.size(0) == in.query.size(0) && in.key.size(3) == in.query.size(3) &&
                   in.query.size(3) > 0,
               "query and key must have one batch size and one last size") &&
         check(context,
               in.key.size(0) == in.value.size(0) && in.key.size(1) == in.value.size(1) &&
                   in.key.size(2) == in.value.size(2) && in.key.size(3) == in.value.size(3),
               "key and value must have the same sizes") &&
         check(context, groups > 0 && in.query.size(dims.head) % groups == 0,
               "the heads of key must divide those of query") &&
         check(context, in.dropout == 0.0, "drpout_p must be 0") &&
         check(context, !in.mask || !in.causal, "attn_mask and is_causal cannot both be given");
}

bool read_mask(KernelRuntimeContext& context, const Tensor& mask, AttentionCall* call) {
  if (!check_floating(context, mask) || !check_rank(context, mask, 2) ||
      !check(context,
             static_cast<size_t>(mask.size(0)) == call->rows &&
                 static_cast<size_t>(mask.size(1)) == call->columns,
             "attn_mask must have a row for each of query and a column for each of key")) {
    return false;
  }
  call->mask = mask.const_data_ptr();
  call->mask_type = mask.scalar_type();
  call->mask_stride[2] = mask.strides()[0];
  call->mask_stride[3] = mask.strides()[1];
  // As eager torch divides nothing by nothing.
  call->hidden = std::numeric_limits<double>::quiet_NaN();
  return true;
}

// `call` has what Levels are read of, if any.
bool finish(KernelRuntimeContext& context, const Tensors& in, const Dims& dims,
            AttentionCall* call) {
  call->type = in.query.scalar_type();
  call->batches = static_cast<size_t>(in.query.size(0));
  call->heads = static_cast<size_t>(in.query.size(dims.head));
  call->groups = static_cast<size_t>(in.key.size(dims.head));
  call->rows = static_cast<size_t>(in.query.size(dims.row));
  call->columns = static_cast<size_t>(in.key.size(dims.row));
  call->depth = call->width = static_cast<size_t>(in.query.size(3));
  if (in.mask) {
    if (!read_mask(context, *in.mask, call)) return false;
  } else {
    if (!check_cache_range(context, in.start, in.query.size(dims.row), in.key.size(dims.row))) {
      return false;
    }
    call->causal = in.causal;
    call->ahead = static_cast<size_t>(in.start);
    call->columns = call->rows + call->ahead;
  }
  call->scale = in.scale ? *in.scale : 1.0 / std::sqrt(static_cast<double>(call->depth));
  if (!resize_out(context, in.out, in.query.sizes()) || !check_contiguous(context, in.out)) {
    return false;
  }
  call->query = side_of(in.query, dims);
  call->key = side_of(in.key, dims);
  call->value = side_of(in.value, dims);
  call->sums = side_of(in.out, dims);
  call->out_type = in.out.scalar_type();
  call->out = in.out.mutable_data_ptr();
  return true;
}

// A scale and a zero point for each vector of `tensor`.
bool read_levels(KernelRuntimeContext& context, const Tensor& tensor,
                 const std::optional<Tensor>& zero_points, const std::optional<Tensor>& scales,
                 AttentionSide* side) {
  if (!check(context, zero_points && scales, "scales and zero points must be given")) return false;
  const auto fits = [&](const Tensor& numbers) {
    if (!check_rank(context, numbers, 4) || !check_contiguous(context, numbers)) return false;
    for (int d = 0; d < 4; ++d) {
      if (!check(context, numbers.size(d) == (d == 3 ? 1 : tensor.size(d)),
                 "scales and zero points must have one for each row of each head")) {
        return false;
      }
    }
    return true;
  };
  if (!check(context,
             scales->scalar_type() == ScalarType::Float &&
                 zero_points->scalar_type() == ScalarType::Char,
             "scales must be f32 and zero points int8") ||
      !fits(*scales) || !fits(*zero_points)) {
    return false;
  }
  side->scales = static_cast<const float*>(scales->const_data_ptr());
  side->zero_points = static_cast<const int8_t*>(zero_points->const_data_ptr());
  return true;
}

}  // namespace

bool read_cache_attention(KernelRuntimeContext& context, Span<EValue*> raw,
                          AttentionCall* out_call) {
  KernelArgs args(context, raw, 9);
  const Tensors in = {
      args.tensor(0),  args.tensor(1), args.tensor(2),  args.optional_tensor(4), args.out(8),
      args.integer(3), args.real(5),   args.boolean(6), args.optional_real(7)};
  AttentionCall call;
  if (!args.ok() || !check_floating(context, in.query) || !check_sizes(context, in, kRowsFirst) ||
      !check_same_type(context, in.query, in.out) || !finish(context, in, kRowsFirst, &call)) {
    return false;
  }
  *out_call = call;
  return charge_attention(context, call);
}

bool read_attention_with_cache(KernelRuntimeContext& context, Span<EValue*> raw,
                               AttentionCall* out_call) {
  KernelArgs args(context, raw, 12);
  const Tensor key = args.tensor(1);
  const Tensor value = args.tensor(2);
  const Tensors in = {args.tensor(0),        args.out(3),     args.out(4),  args.optional_tensor(7),
                      args.out(11),          args.integer(5), args.real(8), args.boolean(9),
                      args.optional_real(10)};
  const int64_t count = args.integer(6);
  AttentionCall call;
  if (!args.ok() || !check_floating(context, in.query) || !check_sizes(context, in, kRowsFirst) ||
      !check_same_type(context, in.query, in.out) ||
      !check(context,
             key.dim() == 4 && value.dim() == 4 && key.size(1) == count && value.size(1) == count &&
                 in.query.size(1) == count,
             "seq_len must be that of query, key and value") ||
      !check_cache_rows(context, key, in.key) || !check_cache_rows(context, value, in.value) ||
      !finish(context, in, kRowsFirst, &call) ||
      !write_cache_rows(context, key, in.key, in.start) ||
      !write_cache_rows(context, value, in.value, in.start)) {
    return false;
  }
  *out_call = call;
  return charge_attention(context, call);
}

bool read_quantized_attention(KernelRuntimeContext& context, Span<EValue*> raw,
                              AttentionCall* out_call) {
  KernelArgs args(context, raw, 16);
  const Tensors in = {
      args.tensor(0),  args.tensor(1), args.tensor(2),  args.optional_tensor(4), args.out(15),
      args.integer(3), args.real(5),   args.boolean(6), args.optional_real(7)};
  const std::optional<Tensor> numbers[] = {args.optional_tensor(8),  args.optional_tensor(9),
                                           args.optional_tensor(10), args.optional_tensor(11),
                                           args.optional_tensor(12), args.optional_tensor(13)};
  const Dims dims = args.boolean(14) ? kHeadsFirst : kRowsFirst;
  AttentionCall call;
  if (!args.ok() ||
      !check(context, in.query.scalar_type() == ScalarType::Char, "query must be int8") ||
      !check_sizes(context, in, dims) ||
      !check(context, in.out.scalar_type() == ScalarType::Float, "out must be f32") ||
      !finish(context, in, dims, &call) ||
      !read_levels(context, in.query, numbers[0], numbers[1], &call.query) ||
      !read_levels(context, in.key, numbers[2], numbers[3], &call.key) ||
      !read_levels(context, in.value, numbers[4], numbers[5], &call.value)) {
    return false;
  }
  *out_call = call;
  return charge_attention(context, call);
}

void custom_sdpa_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  AttentionCall call;
  if (read_cache_attention(context, raw, &call)) attend(call);
}

void sdpa_with_kv_cache_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  AttentionCall call;
  if (read_attention_with_cache(context, raw, &call)) attend(call);
}

void custom_quantized_sdpa_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  AttentionCall call;
  if (read_quantized_attention(context, raw, &call)) attend(call);
}

}  // namespace petrel::runtime::portable
