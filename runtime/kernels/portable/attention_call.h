// SPDX-License-Identifier: Apache-2.0
//
// The arguments of operators of attention, checked, as all kernels want them:
//
//   petrel::attention.out(Tensor query, Tensor key, Tensor value, Tensor? attn_mask,
//                         bool is_causal, float scale, *, Tensor(a!) out)
//
//   query [B, H, L, E]   key [B, G, S, E]   value [B, G, S, V]   out [B, H, L, V]
//   mask: bool (true: seen) or of a floating type, added; broadcast to [B, H, L, S]
//
//   out = softmax(scale * query key^T + mask) value
//
// G divides H: query head h meets key head h / (H / G). With is_causal row i
// sees the columns up to i + `ahead`. All but the mask are dense and of one floating
// type, or levels of int8 with a scale and a zero point for each row, of which floats
// are made. A row that a mask hides whole gives `hidden`. What hidden keys and values
// hold may, but need not, be read.
//
// cache_attention.cc reads calls of the operators of decoders, whose rows lie otherwise.
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_ATTENTION_CALL_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_ATTENTION_CALL_H_

#include "runtime/kernel/kernel_args.h"

namespace petrel::runtime::portable {

// A dense tensor of vectors; in elements from a vector to that of the next row, head
// and batch. Levels stand for (level - zero_point) * scale, those of vector i for the
// i-th of both.
struct AttentionSide {
  const void* data = nullptr;
  size_t row = 0, head = 0, batch = 0;
  const float* scales = nullptr;  // null: floats
  const int8_t* zero_points = nullptr;

  size_t at(size_t b, size_t h) const { return b * batch + h * head; }
};

struct AttentionCall {
  ScalarType type = ScalarType::Float;  // of query, key and value
  AttentionSide query, key, value, sums;
  ScalarType out_type = ScalarType::Float;
  void* out = nullptr;         // lies as `sums` says
  const void* mask = nullptr;  // null: none
  ScalarType mask_type = ScalarType::Float;
  size_t batches = 0, heads = 0, groups = 0;
  size_t rows = 0, columns = 0;  // L, S
  size_t depth = 0, width = 0;   // E, V
  int64_t mask_stride[4] = {};   // elements; 0 where it broadcasts
  bool causal = false;
  size_t ahead = 0;
  double scale = 1.0;
  double hidden = 0.0;

  bool mask_is_bool() const { return mask_type == ScalarType::Bool; }
  // The element [b, h, row, 0] of the mask.
  int64_t mask_at(size_t b, size_t h, size_t row) const {
    return static_cast<int64_t>(b) * mask_stride[0] + static_cast<int64_t>(h) * mask_stride[1] +
           static_cast<int64_t>(row) * mask_stride[2];
  }
  size_t group_of(size_t head) const { return head / (heads / groups); }
  // Columns that row `row` may see.
  size_t visible(size_t row) const {
    return causal && row + ahead < columns ? row + ahead + 1 : columns;
  }
};

// Fails the context and returns false for arguments that do not fit; else gives
// the output its sizes.
bool read_attention(KernelRuntimeContext& context, Span<EValue*> raw, AttentionCall* out_call);

// The same for calls of the operators of decoders, whose rows `count` from the start of
// caches are seen:
//
//   llama::custom_sdpa.out(Tensor query, Tensor key, Tensor value, SymInt start_pos,
//       Tensor? attn_mask, float drpout_p, bool is_causal, float? scale, *, Tensor(a!) out)
//   llama::custom_quantized_sdpa.out(..., Tensor? q_zero_points, Tensor? q_scales, and of k
//       and v, bool is_seq_at_dim_2, *, Tensor(a!) out)
//
//   query [B, L, H, E]   key, value [B, S, G, E]   out as query
//
// Without a mask the first start_pos + L rows of the keys are seen; with one all are.
bool read_cache_attention(KernelRuntimeContext& context, Span<EValue*> raw,
                          AttentionCall* out_call);
bool read_quantized_attention(KernelRuntimeContext& context, Span<EValue*> raw,
                              AttentionCall* out_call);
// Writes key and value to the caches as well:
//
//   llama::sdpa_with_kv_cache.out(Tensor query, Tensor key, Tensor value, Tensor(a!) key_cache,
//       Tensor(b!) value_cache, SymInt start_pos, SymInt seq_len, Tensor? attn_mask,
//       float drpout_p, bool is_causal, float? scale, *, Tensor(c!) out)
bool read_attention_with_cache(KernelRuntimeContext& context, Span<EValue*> raw,
                               AttentionCall* out_call);

// Pays for a call that was read.
bool charge_attention(KernelRuntimeContext& context, const AttentionCall& call);

// All rows of a call, in double.
void attend(const AttentionCall& call);

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_ATTENTION_CALL_H_
