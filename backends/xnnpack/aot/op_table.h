// SPDX-License-Identifier: Apache-2.0
//
// The operators that XNNPACK takes, one row each: what keeps a node from being
// taken, which layout it wants, and how it is lowered. Rows live in the files
// of their family (elementwise_ops.cc, ...).
//
//   {aten::silu, &accept, &follows, &lower_silu, /*takes_activation=*/true}
//
// What holds for all nodes (types, ranks, sizes) is checked in partitioner.cc.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_OP_TABLE_H_
#define PETREL_BACKENDS_XNNPACK_AOT_OP_TABLE_H_

#include <optional>
#include <string>

#include "absl/types/span.h"
#include "backends/xnnpack/aot/layout.h"
#include "backends/xnnpack/aot/lowering.h"
#include "exir/ops/handles.h"

namespace petrel::backends::xnnpack::aot {

namespace aten = exir::aten;
namespace arg = exir::arg;

struct OpRow {
  exir::OpHandle op;
  exir::Support (*check)(const exir::Node& node);
  LayoutNeed (*need)(const exir::Node& node);
  absl::Status (*lower)(Lowering& lowering, const exir::Node& node);
  // Its last payload node can bound its output, so a following activation may
  // be merged into it.
  bool takes_activation = false;
  // Moves elements only, or is as fast as a kernel: a partition of such nodes alone is not
  // worthwhile.
  bool needs_company = false;
  // What keeps a node that is taken from multiplying an input that was quantised at run time
  // (dynamic_input.h); null for what does not multiply at all.
  exir::Support (*check_dynamic)(const exir::Node& node) = nullptr;
};

// Null when XNNPACK has nothing for the operator.
const OpRow* find_row(const exir::OpInfo& op);

// The bounds when the node is a relu, hardtanh or clamp.
std::optional<Range> activation_range(const exir::Node& node);

// The node whose last payload node can do `node`'s work, when `node` is an
// activation that alone uses its result; else null.
const exir::Node* activation_host(const exir::Node& node);

// Families.
absl::Span<const OpRow> attention_ops();
absl::Span<const OpRow> elementwise_ops();
absl::Span<const OpRow> convolution_ops();
absl::Span<const OpRow> matrix_ops();
absl::Span<const OpRow> norm_ops();
absl::Span<const OpRow> pooling_ops();
absl::Span<const OpRow> quantized_ops();
absl::Span<const OpRow> shape_ops();

// For rows without conditions of their own.
inline exir::Support accept(const exir::Node&) { return exir::Support::yes(); }

inline LayoutNeed plain(const exir::Node&) { return LayoutNeed::kPlain; }
inline LayoutNeed channels_last(const exir::Node&) { return LayoutNeed::kChannelsLast; }
inline LayoutNeed follows(const exir::Node&) { return LayoutNeed::kFollows; }
inline LayoutNeed takes_either(const exir::Node&) { return LayoutNeed::kTakesEither; }

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_OP_TABLE_H_
