// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "exir/ops/families.h"
#include "exir/ops/rule.h"
#include "exir/status_macros.h"

namespace petrel::exir::rules {
namespace {

// `pad` holds (before, after) of the last dimension, then of the one before it.
Inferred padded(const BoundArguments& in, bool reflects) {
  TensorType out = in.tensor("self");
  const Sizes pad = in.ints(in.has("pad") ? "pad" : "padding");
  if (pad.size() % 2 != 0 || pad.size() / 2 > out.rank()) {
    return invalid("argument 'pad' has ", pad.size(), " items, must be an even number of at most ",
                   2 * out.rank());
  }
  // Kernels of reflections and replications take their dims for granted.
  const ArgSpec& spec =
      in.op().args[static_cast<size_t>(in.op().find_arg(in.has("pad") ? "pad" : "padding"))];
  if (spec.fixed_length != 0 && pad.size() != spec.fixed_length) {
    return invalid("argument '", spec.name, "' has ", pad.size(), " items, must have ",
                   spec.fixed_length);
  }
  constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();
  Size left = 0;
  for (size_t i = 0; i < pad.size(); ++i) {
    const size_t dim = out.rank() - 1 - i / 2;
    const Size size = in.tensor("self").sizes[dim];
    if (pad[i] > kLimit || pad[i] < -kLimit) {
      return invalid("argument 'pad' has ", pad[i], " for dim ", dim);
    }
    if (reflects && pad[i] >= size) {
      return invalid("argument 'pad' has ", pad[i], " for dim ", dim, ", must be below its size ",
                     size, " to reflect");
    }
    out.sizes[dim] += pad[i];
    // What is cut off must be there: padding at the other end does not count.
    if (i % 2 == 0) left = size;
    if (pad[i] < 0) left += pad[i];
    if (left < 0) {
      return invalid("argument 'pad' cuts more from dim ", dim, " than its size ", size);
    }
  }
  return one(out);
}

Inferred constant_pad(const BoundArguments& in) { return padded(in, false); }

// All dims but the channels, and images that may be absent, are padded: where others come from
// depends on all of them.
absl::Status check_padded_dims(const BoundArguments& in, size_t dims) {
  const size_t rank = in.tensor("self").rank();
  const size_t items = in.ints(in.has("pad") ? "pad" : "padding").size();
  if (items != 2 * dims) {
    return invalid("argument 'padding' has ", items, " items, must have ", 2 * dims);
  }
  if (rank != dims + 1 && rank != dims + 2) {
    return invalid("argument 'self' has rank ", rank, ", must be ", dims + 1, " or ", dims + 2);
  }
  return absl::OkStatus();
}

Inferred pad(const BoundArguments& in) {
  const std::string mode = in.text("mode");
  if (mode == "constant") return padded(in, false);
  if (mode != "reflect" && mode != "replicate" && mode != "circular") {
    return invalid("argument 'mode' is '", mode, "'");
  }
  const size_t dims = in.ints("pad").size() / 2;
  if (dims < 1 || dims > 3) {
    return invalid("argument 'pad' has ", in.ints("pad").size(), " items, must have 2, 4 or 6");
  }
  PETREL_RETURN_IF_ERROR(check_padded_dims(in, dims));
  return padded(in, mode == "reflect");
}

template <size_t kDims>
Inferred reflection_pad(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_padded_dims(in, kDims));
  return padded(in, true);
}

template <size_t kDims>
Inferred replication_pad(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_padded_dims(in, kDims));
  return padded(in, false);
}

constexpr OpRow kRows[] = {
    {"aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> "
     "Tensor",
     "aten::constant_pad_nd.out", kPure, infer<constant_pad>},
    {"aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? "
     "value=None) -> Tensor",
     "", kPure, infer<pad>},
    {"aten::reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor",
     "aten::reflection_pad1d.out", kPure, infer<reflection_pad<1>>},
    {"aten::reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor",
     "aten::reflection_pad2d.out", kPure, infer<reflection_pad<2>>},
    {"aten::reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor",
     "aten::reflection_pad3d.out", kPure, infer<reflection_pad<3>>},
    {"aten::replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor",
     "aten::replication_pad1d.out", kPure, infer<replication_pad<1>>},
    {"aten::replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor",
     "aten::replication_pad2d.out", kPure, infer<replication_pad<2>>},
    {"aten::replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor",
     "aten::replication_pad3d.out", kPure, infer<replication_pad<3>>},
};

}  // namespace

absl::Span<const OpRow> pad_ops() { return kRows; }

}  // namespace petrel::exir::rules
