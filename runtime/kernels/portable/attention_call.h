// SPDX-License-Identifier: Apache-2.0
//
// The arguments of petrel::attention.out, checked, as both kernels want them:
//
//   attention.out(Tensor query, Tensor key, Tensor value, Tensor? attn_mask,
//                 bool is_causal, float scale, *, Tensor(a!) out)
//
//   query [B, H, L, E]   key [B, G, S, E]   value [B, G, S, V]   out [B, H, L, V]
//   mask: bool (true: seen) or of the type of query, added; broadcast to [B, H, L, S]
//
//   out = softmax(scale * query key^T + mask) value
//
// G divides H: query head h meets key head h / (H / G). With is_causal row i
// sees the columns up to i. All but the mask are contiguous and of one floating
// type. A row that a mask hides whole gives 0. What hidden keys and values
// hold may, but need not, be read.
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_ATTENTION_CALL_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_ATTENTION_CALL_H_

#include "runtime/kernel/kernel_args.h"

namespace petrel::runtime::portable {

struct AttentionCall {
  ScalarType type = ScalarType::Float;
  const void* query = nullptr;
  const void* key = nullptr;
  const void* value = nullptr;
  const void* mask = nullptr;  // null: none
  bool mask_is_bool = false;
  void* out = nullptr;
  size_t batch = 0, heads = 0, groups = 0;
  size_t rows = 0, columns = 0;  // L, S
  size_t depth = 0, width = 0;   // E, V
  int64_t mask_stride[4] = {};   // elements; 0 where it broadcasts
  bool causal = false;
  double scale = 1.0;

  // The element [b, h, row, 0] of the mask.
  int64_t mask_at(size_t b, size_t h, size_t row) const {
    return static_cast<int64_t>(b) * mask_stride[0] + static_cast<int64_t>(h) * mask_stride[1] +
           static_cast<int64_t>(row) * mask_stride[2];
  }
  size_t group_of(size_t head) const { return head / (heads / groups); }
  // Columns that row `row` may see.
  size_t visible(size_t row) const { return causal && row < columns ? row + 1 : columns; }
};

// Fails the context and returns false for arguments that do not fit; else gives
// the output its sizes.
bool read_attention(KernelRuntimeContext& context, Span<EValue*> raw, AttentionCall* out_call);

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_ATTENTION_CALL_H_
