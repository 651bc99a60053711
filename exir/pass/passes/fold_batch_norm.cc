// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/fold_batch_norm.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/pass/passes/batch_norm.h"
#include "exir/pass/passes/channel_source.h"
#include "exir/pass/passes/fold_counts.h"
#include "exir/pass/passes/sum_convolutions.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

// How the producer's weight is laid out: element i belongs to channel
// (i / stride) % count within its group of `group_size` elements.
struct ChannelLayout {
  size_t stride = 1;      // elements per step of the channel
  size_t count = 1;       // channels per group
  size_t group_size = 0;  // elements per group
};

// out[i] = in[i] * factor for `count` elements, rounded once.
void scale_run(const uint8_t* in, size_t count, double factor, ScalarType dtype, uint8_t* out) {
  const size_t item = item_size(dtype);
  if (dtype != ScalarType::kFloat) {
    for (size_t i = 0; i < count; ++i) {
      encode_element(decode_element(in + i * item, dtype) * factor, dtype, out + i * item);
    }
    return;
  }
  for (size_t i = 0; i < count; ++i) {  // what nearly all weights are
    float value = 0;
    std::memcpy(&value, in + i * item, item);
    value = static_cast<float>(static_cast<double>(value) * factor);
    std::memcpy(out + i * item, &value, item);
  }
}

// `weight` times the scale of each element's channel.
Blob scaled(const Constant& weight, const ChannelLayout& layout, const Doubles& scale) {
  const Blob data = weight.data;
  const ScalarType dtype = weight.type.dtype;
  return Blob::produced(data.size(), [data, dtype, layout, scale](absl::Span<uint8_t> out) {
    const Blob::Bytes in = data.bytes();
    const size_t item = item_size(dtype);
    // Neighbours of one channel come in runs.
    const size_t runs = out.size() / (layout.stride * item);
    const size_t runs_per_group = layout.group_size / layout.stride;
    for (size_t run = 0; run < runs; ++run) {
      const size_t channel = run / runs_per_group * layout.count + run % layout.count;
      const size_t offset = run * layout.stride * item;
      scale_run(in.data() + offset, layout.stride, scale[channel], dtype, out.data() + offset);
    }
  });
}

// The parts of a producer that a scale and a shift go into.
struct Target {
  size_t weight_argument = 0;
  size_t bias_argument = 0;
  ChannelLayout layout;
};

absl::StatusOr<Value*> folded_weight(Graph& graph, const Constant& weight,
                                     const ChannelLayout& layout, const ChannelAffine& affine) {
  return add_unique_constant(graph, absl::StrCat(weight.fqn, "@", affine.name), weight.type,
                             scaled(weight, layout, affine.scale), weight.kind, weight.sources());
}

// Whether `node` is a producer whose weights can take the scale of each index of dim `dim` of its
// result, and how. Its weights are constants, and its channels are that dim.
bool find_target(const Node& node, size_t dim, size_t channels, Target* out) {
  for (const ArgHandle name : {arg::groups, arg::alpha, arg::beta}) {
    const Argument* number = find_argument(node, name);
    if (number != nullptr && !number->is_number()) return false;  // computed at run time
  }
  const size_t rank = node.result()->tensor().rank();
  if (node.is(aten::convolution)) {
    Value* weight = tensor_at(node, arg::weight);
    // An image may have no batch.
    if (!is_fixed(weight) || dim + weight->tensor().rank() != rank + 1) return false;
    const Sizes& sizes = weight->tensor().sizes;
    const size_t area = static_cast<size_t>(product(Sizes(sizes.begin() + 2, sizes.end())));
    const size_t groups = static_cast<size_t>(node.argument(arg::groups).as_int());
    if (node.argument(arg::transposed) == Argument(true)) {
      // [in, out / groups, ...]: channels of a group repeat for each input.
      out->layout.stride = area;
      out->layout.count = channels / groups;
      out->layout.group_size = static_cast<size_t>(sizes[0]) / groups * out->layout.count * area;
    } else {
      out->layout.stride = static_cast<size_t>(sizes[1]) * area;
      out->layout.count = channels;
      out->layout.group_size = out->layout.stride * channels;
    }
    out->weight_argument = 1;
    out->bias_argument = 2;
  } else if (node.is(aten::linear)) {
    Value* weight = tensor_at(node, arg::weight);
    if (!is_fixed(weight) || weight->tensor().rank() != 2 || dim + 1 != rank) return false;
    out->layout.stride = static_cast<size_t>(weight->tensor().sizes[1]);
    out->layout.count = channels;
    out->layout.group_size = out->layout.stride * channels;
    out->weight_argument = 1;
    out->bias_argument = 2;
  } else if (node.is(aten::addmm)) {
    Value* weight = tensor_at(node, arg::mat2);
    if (!is_fixed(weight) || dim != 1 || node.argument(arg::beta).as_number() != 1 ||
        node.argument(arg::alpha).as_number() != 1) {
      return false;
    }
    // Every row of [in, out] goes through all channels.
    out->layout = {1, channels, static_cast<size_t>(weight->tensor().numel())};
    out->weight_argument = 2;
    out->bias_argument = 0;
  } else {
    return false;
  }
  const Value* bias = tensor_in(node.arguments()[out->bias_argument]);
  return out->layout.group_size > 0 &&
         (bias == nullptr ||
          (is_fixed(bias) && bias->tensor().sizes == Sizes{static_cast<int64_t>(channels)}));
}

// Whether `weight` and its bias may become others.
bool may_fold(FoldCounts& counts, const Value& weight, size_t channels) {
  // Scales are kept for the weight, shifts are the new bias.
  return counts.takes_more(*weight.constant()) &&
         counts.take(FoldCounts::bytes_beside(weight) +
                     static_cast<double>(channels * 2 * sizeof(double)));
}

// What makes some of the channels that a norm scales.
struct Part {
  Node* producer;
  Target target;
  size_t first;     // of the norm's channels
  size_t channels;  // how many
};

bool add_part(Value* x, size_t dim, size_t first, std::vector<Part>* parts) {
  const size_t channels = static_cast<size_t>(x->tensor().sizes[dim]);
  const auto [producer, at] = channel_source(x, dim);
  Target target;
  if (producer == nullptr || !find_target(*producer, at, channels, &target)) return false;
  parts->push_back({producer, target, first, channels});
  return true;
}

// What makes dim 1 of `x`: one producer, or several whose channels are joined. Empty where one of
// them cannot take a scale.
std::vector<Part> find_parts(Value* x) {
  std::vector<Part> parts;
  const auto [node, dim] = channel_source(x, 1);
  if (node == nullptr || !node->is(aten::cat)) {
    add_part(x, 1, 0, &parts);
    return parts;
  }
  const TensorType& type = node->result()->tensor();
  const int64_t axis = wrap_dim(fixed_int(node->argument(arg::dim)), type.rank());
  if (static_cast<size_t>(axis) != dim) return {};
  size_t first = 0;
  std::set<const Node*> producers;
  for (Value* joined : node->argument(arg::tensors).values()) {
    const TensorType& part = joined->tensor();
    if (part.rank() != type.rank() || part.dtype != type.dtype) return {};
    if (!add_part(joined, dim, first, &parts)) return {};
    // Joined twice, it would take two scales.
    if (!producers.insert(parts.back().producer).second) return {};
    first += parts.back().channels;
  }
  if (first != static_cast<size_t>(x->tensor().sizes[1])) return {};
  return parts;
}

// Puts the scale and the shift of some channels into what makes them.
absl::Status fold_into(Builder& b, const Part& part, const ChannelAffine& all, ScalarType dtype,
                       FoldCounts& counts) {
  const auto slice = [&](const Doubles& list) {
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(part.first);
    return Doubles(begin, begin + static_cast<std::ptrdiff_t>(part.channels));
  };
  const ChannelAffine affine = {slice(all.scale), slice(all.shift), all.name};
  const Node& producer = *part.producer;
  const Value* old_weight = tensor_in(producer.arguments()[part.target.weight_argument]);
  const Constant& weight = *old_weight->constant();
  const Value* bias = tensor_in(producer.arguments()[part.target.bias_argument]);
  Doubles shift = affine.shift;
  std::string bias_name = absl::StrReplaceAll(weight.fqn, {{"weight", "bias"}});
  if (bias != nullptr) {
    PETREL_ASSIGN_OR_RETURN(const Doubles old, decode_constant(*bias->constant()));
    for (size_t c = 0; c < part.channels; ++c) shift[c] += old[c] * affine.scale[c];
    bias_name = bias->constant()->fqn;
  }
  PETREL_ASSIGN_OR_RETURN(Blob shift_data, encode_constant(shift, dtype));
  PETREL_ASSIGN_OR_RETURN(Value * new_weight,
                          folded_weight(b.graph(), weight, part.target.layout, affine));
  counts.note(weight, *new_weight->constant());
  Value* new_bias =
      add_unique_constant(b.graph(), absl::StrCat(bias_name, "@", affine.name),
                          TensorType::contiguous(dtype, {static_cast<int64_t>(part.channels)}),
                          std::move(shift_data), weight.kind);
  part.producer->set_argument(part.target.weight_argument, Argument(new_weight));
  part.producer->set_argument(part.target.bias_argument, Argument(new_bias));
  return absl::OkStatus();
}

// Puts the scale and the shift into all that makes the channels of `node`'s input.
Rewritten fold_into_producers(Builder& b, Node& node, FoldCounts& counts) {
  Value* x = tensor_at(node, arg::input);
  const std::vector<Part> parts = find_parts(x);
  if (parts.empty()) return false;
  for (const Part& part : parts) {
    const Value& weight = *tensor_in(part.producer->arguments()[part.target.weight_argument]);
    if (!may_fold(counts, weight, part.channels)) return false;
  }
  PETREL_ASSIGN_OR_RETURN(const ChannelAffine affine, affine_of(node));
  for (const Part& part : parts) {
    PETREL_RETURN_IF_ERROR(fold_into(b, part, affine, x->tensor().dtype, counts));
  }
  PETREL_RETURN_IF_ERROR(b.replace(node, x));
  return true;
}

// One value per channel as [1, C, 1, ...].
absl::StatusOr<Value*> per_channel(Graph& graph, const std::string& fqn, const Doubles& values,
                                   const TensorType& like) {
  Sizes sizes(like.rank(), 1);
  sizes[1] = static_cast<int64_t>(values.size());
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(values, like.dtype));
  return add_unique_constant(graph, fqn, TensorType::contiguous(like.dtype, std::move(sizes)),
                             std::move(data), Constant::Kind::kParameter);
}

Rewritten scale_and_shift(Builder& b, Node& node, const ChannelAffine& affine) {
  Value* x = tensor_at(node, arg::input);
  PETREL_ASSIGN_OR_RETURN(Value * scale, per_channel(b.graph(), absl::StrCat(affine.name, ".scale"),
                                                     affine.scale, x->tensor()));
  PETREL_ASSIGN_OR_RETURN(Value * shift, per_channel(b.graph(), absl::StrCat(affine.name, ".shift"),
                                                     affine.shift, x->tensor()));
  PETREL_ASSIGN_OR_RETURN(x, b.binary(aten::mul_Tensor, x, scale));
  return done(b, node, b.binary(aten::add_Tensor, x, shift));
}

// (x - mean) * rsqrt(var + eps) * weight + bias with statistics that the
// program computes.
Rewritten with_operators(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::input);
  rules::Sizes sizes(x->tensor().rank(), 1);
  sizes[1] = numel_of(tensor_at(node, arg::running_mean));
  PETREL_ASSIGN_OR_RETURN(Value * s, b.call(aten::add_Scalar, {tensor_at(node, arg::running_var),
                                                               node.argument(arg::eps)}));
  PETREL_ASSIGN_OR_RETURN(s, b.call(aten::rsqrt, {s}));
  if (Value* weight = tensor_at(node, arg::weight)) {
    PETREL_ASSIGN_OR_RETURN(s, b.binary(aten::mul_Tensor, s, weight));
  }
  PETREL_ASSIGN_OR_RETURN(s, b.view(s, sizes));
  PETREL_ASSIGN_OR_RETURN(Value * mean, b.view(tensor_at(node, arg::running_mean), sizes));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::sub_Tensor, x, mean));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, y, s));
  if (Value* bias = tensor_at(node, arg::bias)) {
    PETREL_ASSIGN_OR_RETURN(bias, b.view(bias, sizes));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, y, bias));
  }
  return done(b, node, b.cast(y, node.result()->tensor().dtype));
}

Rewritten batch_norm(Builder& b, Node& node) {
  if (!is_inference(node)) return false;
  // A norm has a scale and a shift of its own, whatever shares its statistics.
  const int64_t channels = tensor_at(node, arg::input)->tensor().sizes[1];
  if (!has_fixed_parameters(node) || !check_table({2, channels}).ok()) {
    return with_operators(b, node);
  }
  PETREL_ASSIGN_OR_RETURN(const ChannelAffine affine, affine_of(node));
  return scale_and_shift(b, node, affine);
}

constexpr Rewrite kRows[] = {
    {aten::batch_norm, batch_norm},
    {aten::native_batch_norm, batch_norm},
    {aten::_native_batch_norm_legit_no_training, batch_norm},
    {aten::_native_batch_norm_legit, batch_norm},
};

constexpr Rewrites kTables[] = {Rewrites(kRows)};

}  // namespace

absl::StatusOr<bool> fold_batch_norm(Graph& graph, const PassContext&) {
  const auto is_mine = [](const OpInfo& op) {
    return is_batch_norm(op) || op.is(aten::add_Tensor) || op.is(aten::add_Scalar);
  };
  if (!graph.any_operator(is_mine)) return false;
  FoldCounts counts(graph);
  bool changed = false;
  // No rows: rows see a node of varying sizes without its producer. In the order of the graph,
  // as a batch norm may follow a sum.
  for (Node* node : graph.node_pointers()) {
    Builder b(graph, node);
    if (is_fixed_batch_norm(*node)) {
      PETREL_ASSIGN_OR_RETURN(const bool fits, fold_into_producers(b, *node, counts));
      changed = changed || fits;
    } else if (node->is(aten::add_Tensor, aten::add_Scalar)) {
      PETREL_ASSIGN_OR_RETURN(const bool fits, sum_convolutions(b, *node, counts));
      changed = changed || fits;
    }
  }
  PETREL_ASSIGN_OR_RETURN(const bool rewritten, apply_rewrites(graph, kTables));
  return changed || rewritten;
}

}  // namespace petrel::exir
