// SPDX-License-Identifier: Apache-2.0
//
// The rows of the operator table, one span per family; each is defined in the
// file of its name beside the rules it uses.
#ifndef PETREL_EXIR_OPS_FAMILIES_H_
#define PETREL_EXIR_OPS_FAMILIES_H_

#include "absl/types/span.h"
#include "exir/ops/table.h"

namespace petrel::exir::rules {

absl::Span<const OpRow> activation_ops();
absl::Span<const OpRow> binary_ops();
absl::Span<const OpRow> calculus_ops();
absl::Span<const OpRow> combine_ops();
absl::Span<const OpRow> compare_ops();
absl::Span<const OpRow> complex_ops();
absl::Span<const OpRow> composite_ops();
absl::Span<const OpRow> conv_ops();
absl::Span<const OpRow> copy_ops();
absl::Span<const OpRow> decoder_ops();
absl::Span<const OpRow> delegate_ops();
absl::Span<const OpRow> effect_ops();
absl::Span<const OpRow> factory_ops();
absl::Span<const OpRow> grouped_ops();
absl::Span<const OpRow> fake_quantize_ops();
absl::Span<const OpRow> index_ops();
absl::Span<const OpRow> int8_ops();
absl::Span<const OpRow> linalg_ops();
absl::Span<const OpRow> loss_ops();
absl::Span<const OpRow> matmul_ops();
absl::Span<const OpRow> norm_ops();
absl::Span<const OpRow> pad_ops();
absl::Span<const OpRow> pool_ops();
absl::Span<const OpRow> quantized_ops();
absl::Span<const OpRow> torchao_ops();
absl::Span<const OpRow> random_ops();
absl::Span<const OpRow> recurrent_ops();
absl::Span<const OpRow> reduction_ops();
absl::Span<const OpRow> resample_ops();
absl::Span<const OpRow> scalar_ops();
absl::Span<const OpRow> scatter_ops();
absl::Span<const OpRow> shape_ops();
absl::Span<const OpRow> unary_ops();
absl::Span<const OpRow> view_ops();

}  // namespace petrel::exir::rules

#endif  // PETREL_EXIR_OPS_FAMILIES_H_
