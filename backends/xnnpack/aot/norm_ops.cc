// SPDX-License-Identifier: Apache-2.0
//
// Normalisations, which XNNPACK has no node for: a mean is a product with parts of one, or a
// GlobalAvgPooling2d. The runtime takes what is made here for one node (format/norms.h), and must
// find it again: change both.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/op_table.h"
#include "exir/ops/read_sizes.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using absl::Status;
using exir::Support;
using exir::rules::Size;
using IrNode = exir::Node;

// What is left of the first value without the mean, divided by its spread, and the factors: each
// step is a node, the last of which makes the result.
class Steps {
 public:
  Steps(Lowering& l, const IrNode& node, size_t count) : l_(l), node_(node), left_(count) {}

  uint32_t add(NodeKind kind, std::vector<uint32_t> inputs, const Extents& sizes) {
    const uint32_t out = next(sizes);
    l_.add_node(kind, std::move(inputs), out);
    return out;
  }

  uint32_t add_reshape(uint32_t id, const Extents& sizes) {
    const uint32_t out = next(sizes);
    l_.add_reshape(id, out);
    return out;
  }

 private:
  uint32_t next(const Extents& sizes) {
    return --left_ == 0 ? l_.result(node_) : l_.intermediate(sizes);
  }

  Lowering& l_;
  const IrNode& node_;
  size_t left_;
};

// The mean over the last dim, of `count` elements.
absl::StatusOr<uint32_t> add_mean(Lowering& l, uint32_t x, uint32_t count) {
  Extents sizes = l.sizes(x);
  sizes.back() = 1;
  const std::vector<float> parts(count, 1.0f / static_cast<float>(count));
  PETREL_ASSIGN_OR_RETURN(const uint32_t filter, l.floats({}, {1, count}, parts));
  const uint32_t mean = l.intermediate(sizes);
  l.add_node(NodeKind::FullyConnected, {x, filter, kNoId}, mean);
  return mean;
}

// 1 / sqrt(variance + epsilon).
absl::StatusOr<uint32_t> add_spread(Lowering& l, const IrNode& node, uint32_t variance) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t epsilon,
                          l.scalar(*number_argument(node.argument(arg::eps))));
  const uint32_t sum = l.intermediate(l.sizes(variance));
  l.add_node(NodeKind::Add, {variance, epsilon}, sum);
  const uint32_t factor = l.intermediate(l.sizes(variance));
  l.add_node(NodeKind::ReciprocalSquareRoot, {sum}, factor);
  return factor;
}

uint32_t add_square(Lowering& l, uint32_t x) {
  const uint32_t square = l.intermediate(l.sizes(x));
  l.add_node(NodeKind::Square, {x}, square);
  return square;
}

uint32_t subtract(Lowering& l, uint32_t x, uint32_t mean) {
  const uint32_t rest = l.intermediate(l.sizes(x));
  l.add_node(NodeKind::Subtract, {x, mean}, rest);
  return rest;
}

Support check_floats(const IrNode& node) {
  if (node.result()->tensor().dtype != exir::ScalarType::kFloat) {
    return Support::no(absl::StrCat("it is ", exir::to_string(node.result()->tensor()),
                                    ", must be f32 to be normalised"));
  }
  const auto epsilon = number_argument(node.argument(arg::eps));
  if (!epsilon || !(*epsilon >= 0 && std::isfinite(static_cast<float>(*epsilon)))) {
    return Support::no("eps must be a finite f32, 0 or more");
  }
  return Support::yes();
}

// --- layer norm ---

// The sizes of the input with those that are normalised as one.
Extents rows_of(const IrNode& node) {
  const Extents sizes = exir::sizes_of(node.input(arg::input));
  const size_t count = node.argument(arg::normalized_shape).as_ints().size();
  Extents rows = exir::leading(sizes, count);
  rows.push_back(exir::product(Extents(sizes.end() - static_cast<ptrdiff_t>(count), sizes.end())));
  return rows;
}

Support check_layer_norm(const IrNode& node) {
  if (Support s = check_floats(node); !s.supported) return s;
  const exir::Argument& shape = node.argument(arg::normalized_shape);
  if (!shape.is_ints() || shape.as_ints().empty()) {
    return Support::no("normalized_shape is not a list of numbers");
  }
  const Extents rows = rows_of(node);
  const auto count = fixed(rows.back());
  if (!count) return Support::no("the size that is normalised varies");
  if (*count > INT32_MAX) {
    return Support::no(absl::StrCat("it normalises ", *count, " elements, must be below 2^31"));
  }
  const Extents sizes = exir::sizes_of(node.input(arg::input));
  if (rows.size() != sizes.size() && !has_one_varying_size(sizes)) {
    return Support::no("more than one of its sizes varies");
  }
  return Support::yes();
}

// A factor for each element of a row.
absl::StatusOr<uint32_t> factor_of_row(Lowering& l, const IrNode& node, exir::ArgHandle name,
                                       uint32_t count) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t factor, l.operand(node.input(name), Layout::kPlain));
  if (l.sizes(factor).size() == 1) return factor;
  const exir::Value* value = node.input(name);
  if (!value->is_constant()) return l.reshape(factor, {Size(count)});
  return l.constant(value->constant(), WeightView::of(*value->constant()), {count});
}

Status lower_layer_norm(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(uint32_t x, l.operand(node.input(arg::input), Layout::kPlain));
  const Extents rows = rows_of(node);
  const bool is_cut = rows.size() != l.sizes(x).size();
  const auto count = static_cast<uint32_t>(*fixed(rows.back()));
  x = l.reshape(x, rows);
  PETREL_ASSIGN_OR_RETURN(const uint32_t mean, add_mean(l, x, count));
  const uint32_t rest = subtract(l, x, mean);
  PETREL_ASSIGN_OR_RETURN(const uint32_t variance, add_mean(l, add_square(l, rest), count));
  PETREL_ASSIGN_OR_RETURN(const uint32_t spread, add_spread(l, node, variance));

  const bool has_weight = node.argument(arg::weight).is_value();
  const bool has_bias = node.argument(arg::bias).is_value();
  Steps steps(l, node, 1 + (has_weight ? 1 : 0) + (has_bias ? 1 : 0) + (is_cut ? 1 : 0));
  uint32_t y = steps.add(NodeKind::Multiply, {rest, spread}, rows);
  if (has_weight) {
    PETREL_ASSIGN_OR_RETURN(const uint32_t weight, factor_of_row(l, node, arg::weight, count));
    y = steps.add(NodeKind::Multiply, {y, weight}, rows);
  }
  if (has_bias) {
    PETREL_ASSIGN_OR_RETURN(const uint32_t bias, factor_of_row(l, node, arg::bias, count));
    y = steps.add(NodeKind::Add, {y, bias}, rows);
  }
  if (is_cut) steps.add_reshape(y, l.result_sizes(node));
  return absl::OkStatus();
}

// --- group norm ---

Support check_group_norm(const IrNode& node) {
  if (Support s = check_floats(node); !s.supported) return s;
  const Extents sizes = exir::sizes_of(node.input(arg::input));
  if (!has_channels_last_form(sizes.size())) {
    return Support::no(absl::StrCat("input has rank ", sizes.size(), ", must be 3, 4 or 5"));
  }
  const auto channels = fixed(sizes[1]);
  if (!channels || !node.argument(arg::num_groups).is_int()) {
    return Support::no("the number of its channels or groups varies");
  }
  const int64_t groups = node.argument(arg::num_groups).as_int();
  const bool is_cut = groups != 1 && groups != *channels;
  if ((is_cut || sizes.size() != 4) && !has_one_varying_size(sizes)) {
    return Support::no("more than one of its sizes varies");
  }
  for (exir::ArgHandle name : {arg::weight, arg::bias}) {
    if (node.argument(name).is_value() && !node.input(name)->is_constant()) {
      return Support::no(absl::StrCat(name.text, " is not a constant"));
    }
  }
  return Support::yes();
}

// Means of pixels, and of the channels of a group.
class GroupMeans {
 public:
  GroupMeans(Lowering& l, const Extents& image, uint32_t groups, uint32_t group_channels)
      : l_(l), image_(image), groups_(groups), group_channels_(group_channels) {}

  bool is_cut() const { return groups_ != 1 && group_channels_ != 1; }

  // The sizes that a mean goes with.
  Extents cut_sizes() const {
    if (!is_cut()) return image_;
    return {image_[0], image_[1] * image_[2], Size(groups_), Size(group_channels_)};
  }

  absl::StatusOr<uint32_t> add(uint32_t x) const {
    uint32_t mean = l_.intermediate({image_[0], 1, 1, image_[3]});
    l_.add_node(NodeKind::GlobalAvgPooling2d, {x}, mean).flags = kKeepDims;
    if (group_channels_ == 1) return mean;
    if (is_cut()) mean = l_.reshape(mean, {image_[0], 1, Size(groups_), Size(group_channels_)});
    return add_mean(l_, mean, group_channels_);
  }

 private:
  Lowering& l_;
  const Extents image_;
  const uint32_t groups_, group_channels_;
};

Status lower_group_norm(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(uint32_t x, l.operand(node.input(arg::input), Layout::kChannelsLast));
  const Extents in = exir::sizes_of(node.input(arg::input));
  // The planes of a volume belong together.
  if (in.size() == 5) x = l.reshape(x, {in[0], in[2] * in[3], in[4], in[1]});
  const Extents image = l.sizes(x);
  const auto groups = static_cast<uint32_t>(node.argument(arg::num_groups).as_int());
  const auto channels = static_cast<uint32_t>(*fixed(image[3]));
  const GroupMeans means(l, image, groups, channels / groups);

  PETREL_ASSIGN_OR_RETURN(const uint32_t mean, means.add(x));
  const uint32_t rest = subtract(l, l.reshape(x, means.cut_sizes()), mean);
  const uint32_t squares = l.reshape(add_square(l, rest), image);
  PETREL_ASSIGN_OR_RETURN(const uint32_t variance, means.add(squares));
  PETREL_ASSIGN_OR_RETURN(const uint32_t spread, add_spread(l, node, variance));

  const bool has_weight = node.argument(arg::weight).is_value();
  const bool has_bias = node.argument(arg::bias).is_value();
  Steps steps(l, node,
              1 + (means.is_cut() ? 1 : 0) + (has_weight ? 1 : 0) + (has_bias ? 1 : 0) +
                  (in.size() == 5 ? 1 : 0));
  uint32_t y = steps.add(NodeKind::Multiply, {rest, spread}, means.cut_sizes());
  if (means.is_cut()) y = steps.add_reshape(y, image);
  if (has_weight) {
    PETREL_ASSIGN_OR_RETURN(const uint32_t weight,
                            l.operand(node.input(arg::weight), Layout::kPlain));
    y = steps.add(NodeKind::Multiply, {y, weight}, image);
  }
  if (has_bias) {
    PETREL_ASSIGN_OR_RETURN(const uint32_t bias, l.operand(node.input(arg::bias), Layout::kPlain));
    y = steps.add(NodeKind::Add, {y, bias}, image);
  }
  if (in.size() == 5) steps.add_reshape(y, l.result_sizes(node));
  return absl::OkStatus();
}

constexpr OpRow kRows[] = {
    {aten::layer_norm, &check_layer_norm, &plain, &lower_layer_norm, /*takes_activation=*/false,
     /*needs_company=*/true},
    {aten::group_norm, &check_group_norm, &channels_last, &lower_group_norm,
     /*takes_activation=*/false, /*needs_company=*/true},
};

}  // namespace

absl::Span<const OpRow> norm_ops() { return kRows; }

}  // namespace petrel::backends::xnnpack::aot
