// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/costs.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/layout.h"
#include "backends/xnnpack/aot/op_table.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using exir::Sizes;
using IrNode = exir::Node;
using IrValue = exir::Value;

enum class Family : uint8_t {
  kView,  // nothing to kernels; XNNPACK copies
  kCheap,
  kBinary,
  kRoot,
  kTranscendental,
  kGelu,
  kSoftmax,
  kNorm,
  kMove,
  kMean,
  kPool,
  kProduct,
  kVectorProduct,  // of one row
  kConvolution,
  kDepthwise,
  kBatchProduct,
  kAttention,
  kCall,  // of a delegate
};

struct CostRow {
  Family family;
  double kernel_ns;
  double kernel_ps_per_unit;
  double xnnpack_ns;
  double xnnpack_ps_per_unit;

  // Microseconds.
  double kernels(double units) const {
    return 1e-3 * kernel_ns + 1e-6 * kernel_ps_per_unit * units;
  }
  double xnnpack(double units) const {
    return 1e-3 * xnnpack_ns + 1e-6 * xnnpack_ps_per_unit * units;
  }
};

constexpr CostRow kTable[] = {
#include "backends/xnnpack/aot/cost_table.inc"
};

const CostRow& row_of(Family family) {
  for (const CostRow& row : kTable) {
    if (row.family == family) return row;
  }
  return kTable[0];  // not reached: a test asks for every family
}

// One and many of a kind, for the report.
struct Kind {
  const char* one;
  const char* many;
};

Kind kind_of(Family family) {
  switch (family) {
    case Family::kSoftmax:
      return {"softmax", "softmaxes"};
    case Family::kNorm:
      return {"normalisation", "normalisations"};
    case Family::kView:
    case Family::kMove:
      return {"move of elements", "moves of elements"};
    case Family::kMean:
      return {"mean", "means"};
    case Family::kPool:
      return {"pool", "pools"};
    case Family::kProduct:
    case Family::kVectorProduct:
    case Family::kBatchProduct:
      return {"matrix product", "matrix products"};
    case Family::kConvolution:
    case Family::kDepthwise:
      return {"convolution", "convolutions"};
    case Family::kAttention:
      return {"attention", "attentions"};
    default:
      return {"elementwise node", "elementwise nodes"};
  }
}

struct Member {
  exir::OpHandle op;
  Family family;
};

// What is in no row is cheap.
constexpr Member kMembers[] = {
    {aten::view, Family::kView},
    {aten::view_dtype, Family::kView},
    {aten::_unsafe_view, Family::kView},
    {aten::reshape, Family::kView},
    {aten::unsqueeze, Family::kView},
    {aten::squeeze, Family::kView},
    {aten::squeeze_dim, Family::kView},
    {aten::squeeze_dims, Family::kView},
    {aten::permute, Family::kMove},
    {aten::cat, Family::kMove},
    {aten::slice_Tensor, Family::kMove},
    {aten::constant_pad_nd, Family::kMove},
    {aten::pixel_shuffle, Family::kMove},
    {aten::pixel_unshuffle, Family::kMove},
    {aten::clone, Family::kMove},
    {aten::add_Scalar, Family::kBinary},
    {aten::add_Tensor, Family::kBinary},
    {aten::sub_Scalar, Family::kBinary},
    {aten::sub_Tensor, Family::kBinary},
    {aten::mul_Scalar, Family::kBinary},
    {aten::mul_Tensor, Family::kBinary},
    {aten::minimum, Family::kBinary},
    {aten::maximum, Family::kBinary},
    {aten::div_Scalar, Family::kBinary},
    {aten::div_Scalar_mode, Family::kBinary},
    {aten::div_Tensor, Family::kBinary},
    {aten::div_Tensor_mode, Family::kBinary},
    {aten::sqrt, Family::kRoot},
    {aten::rsqrt, Family::kRoot},
    {aten::cos, Family::kTranscendental},
    {aten::elu, Family::kTranscendental},
    {aten::exp, Family::kTranscendental},
    {aten::log, Family::kTranscendental},
    {aten::logit, Family::kTranscendental},
    {aten::sigmoid, Family::kTranscendental},
    {aten::silu, Family::kTranscendental},
    {aten::sin, Family::kTranscendental},
    {aten::tanh, Family::kTranscendental},
    {aten::gelu, Family::kGelu},
    {aten::_softmax, Family::kSoftmax},
    {aten::layer_norm, Family::kNorm},
    {aten::group_norm, Family::kNorm},
    {aten::mean, Family::kMean},
    {aten::mean_dim, Family::kMean},
    {aten::max_pool2d, Family::kPool},
    {aten::avg_pool2d, Family::kPool},
    {aten::max_pool3d, Family::kPool},
    {aten::avg_pool3d, Family::kPool},
    {aten::upsample_bilinear2d, Family::kPool},
    {aten::upsample_bilinear2d_vec, Family::kPool},
    {aten::linear, Family::kProduct},
    {aten::mm, Family::kProduct},
    {aten::addmm, Family::kProduct},
    {aten::bmm, Family::kBatchProduct},
    {aten::convolution, Family::kConvolution},
    {aten::scaled_dot_product_attention, Family::kAttention},
};

Family family_of(const IrNode& node) {
  for (const Member& member : kMembers) {
    if (node.is(member.op)) return member.family;
  }
  return Family::kCheap;
}

double numel(const IrValue& value) { return static_cast<double>(value.tensor().numel()); }

struct Work {
  Family family;
  double units;
};

Work product_work(const IrNode& node) {
  const IrValue& result = *node.result();
  const auto depth =
      static_cast<double>(node.input(arg::input, arg::mat1, arg::self)->tensor().sizes.back());
  const bool one_row = result.tensor().numel() == result.tensor().sizes.back();
  return {one_row ? Family::kVectorProduct : Family::kProduct, numel(result) * depth};
}

Work convolution_work(const IrNode& node) {
  const Sizes& weight = node.input(arg::weight)->tensor().sizes;
  const double window = numel(*node.input(arg::weight)) / static_cast<double>(weight[0]);
  const bool transposed = node.argument(arg::transposed) == exir::Argument(true);
  const IrValue& each = transposed ? *node.input(arg::input) : *node.result();
  const bool depthwise = !transposed && weight[1] == 1 && node.argument(arg::groups).as_int() > 1;
  return {depthwise ? Family::kDepthwise : Family::kConvolution, numel(each) * window};
}

Work pool_work(const IrNode& node) {
  double window = 4;  // of a pixel between others
  if (node.op().find_arg(arg::kernel_size) >= 0) {
    window = 1;
    const size_t dims = node.input(arg::self)->tensor().rank() - 2;
    const auto kernel = ints_argument(node.argument(arg::kernel_size), dims);
    for (const int64_t size : kernel.value_or(std::vector<int64_t>())) {
      window *= static_cast<double>(size);
    }
  }
  return {Family::kPool, numel(*node.result()) * window};
}

Work attention_work(const IrNode& node) {
  const Sizes& key = node.input(arg::key)->tensor().sizes;
  const auto columns = static_cast<double>(key[key.size() - 2]);
  return {Family::kAttention, (numel(*node.input(arg::query)) + numel(*node.result())) * columns};
}

Work work_of(const IrNode& node) {
  const Family family = family_of(node);
  switch (family) {
    case Family::kProduct:
      return product_work(node);
    case Family::kBatchProduct: {
      const Sizes& left = node.input(arg::self)->tensor().sizes;
      return {family, numel(*node.result()) * static_cast<double>(left.back())};
    }
    case Family::kConvolution:
      return convolution_work(node);
    case Family::kPool:
      return pool_work(node);
    case Family::kAttention:
      return attention_work(node);
    case Family::kMean:
      return {family, numel(*node.input(arg::self))};
    default:
      return {family, numel(*node.result())};
  }
}

// "1,200".
std::string with_commas(int64_t number) {
  std::string text = absl::StrCat(number);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string describe(const std::map<std::string, std::pair<Kind, size_t>>& kinds,
                     int64_t elements) {
  std::vector<std::string> partitions;
  for (const auto& [name, kind] : kinds) {
    partitions.push_back(
        absl::StrCat(kind.second, " ", kind.second == 1 ? kind.first.one : kind.first.many));
  }
  return absl::StrCat(absl::StrJoin(partitions, ", "), ", ", with_commas(elements), " elements");
}

}  // namespace

exir::GroupCosts costs_of(const exir::Graph& partition) {
  exir::GroupCosts costs;
  std::map<std::string, std::pair<Kind, size_t>> kinds;
  int64_t elements = 0;
  LayoutProblem problem;
  std::map<const IrNode*, const IrNode*> activations;
  for (const auto& node : partition.nodes()) {
    const Work work = work_of(*node);
    const Kind kind = kind_of(work.family);
    ++kinds.try_emplace(kind.one, kind, 0).first->second.second;
    elements += node->result()->tensor().numel();
    const IrNode* host = activation_host(*node);
    if (host != nullptr) activations[host] = node.get();
    if (work.family == Family::kView) {
      costs.delegated += row_of(Family::kCheap).xnnpack(work.units);
    } else {
      costs.kernels += row_of(work.family).kernels(work.units);
      if (host == nullptr) costs.delegated += row_of(work.family).xnnpack(work.units);
    }
    if (host == nullptr) problem.nodes.push_back(node.get());
  }
  costs.nodes = describe(kinds, elements);

  problem.need = [](const IrNode& node) { return find_row(node.op())->need(node); };
  problem.result = [&](const IrNode& node) -> const IrValue* {
    const auto activation = activations.find(&node);
    return activation == activations.end() ? node.result() : activation->second->result();
  };
  const std::vector<const IrValue*> outputs(partition.outputs().begin(), partition.outputs().end());
  for (const IrValue* copied : layout_copies(problem, plan_layouts(problem), outputs)) {
    ++costs.layout_copies;
    costs.copied_elements += copied->tensor().numel();
    costs.delegated += row_of(Family::kMove).xnnpack(numel(*copied));
  }
  costs.call = row_of(Family::kCall).xnnpack(0);
  return costs;
}

}  // namespace petrel::backends::xnnpack::aot
