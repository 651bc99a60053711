// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/dynamic_input.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/aot/quantized_weight.h"
#include "backends/xnnpack/aot/zero_point_share.h"
#include "exir/ops/read_sizes.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using absl::Status;
using exir::Support;
using exir::Value;
using IrNode = exir::Node;

// The names of the arguments that make a product, and how the weight lies.
struct Arguments {
  exir::ArgHandle input;
  exir::ArgHandle weight;
  exir::ArgHandle bias;  // no name when there is none
  bool weight_is_transposed;
};
constexpr exir::ArgHandle kNoBias;
constexpr Arguments kLinear = {arg::input, arg::weight, arg::bias, false};
constexpr Arguments kMm = {arg::self, arg::mat2, kNoBias, true};
constexpr Arguments kAddmm = {arg::mat1, arg::mat2, arg::self, true};

// The constant that the weight is or is stored as, with its zero points if `kProduct` takes
// these; null for others.
template <const Arguments& kProduct>
exir::ConstantPtr filter_of(const IrNode& node) {
  const Value* weight = node.input(kProduct.weight);
  if (const Value* constant = weight_constant(weight)) return constant->constant();
  if (kProduct.weight_is_transposed || weight->producer() == nullptr) return nullptr;
  const auto stored = stored_filter(node.input(kProduct.input), weight);
  return stored ? stored->constant : nullptr;
}

template <const Arguments& kProduct>
Support check_product(const IrNode& node) {
  const Value* weight = node.input(kProduct.weight);
  if (filter_of<kProduct>(node) == nullptr) {
    return Support::no(absl::StrCat(kProduct.weight.text, " is computed at run time"));
  }
  if (weight->tensor().rank() != 2) {
    return Support::no(
        absl::StrCat(kProduct.weight.text, " has rank ", weight->tensor().rank(), ", must be 2"));
  }
  const auto stored =
      weight->is_constant() ? std::nullopt : stored_filter(node.input(kProduct.input), weight);
  if (stored && stored->group_size != 0) {
    if (kProduct.weight_is_transposed) return Support::no("its weight has groups");
    if (Support s = check_groups(*stored); !s.supported) return s;
  }
  for (exir::ArgHandle name : {arg::alpha, arg::beta}) {
    if (node.op().find_arg(name) < 0) continue;
    const auto value = number_argument(node.argument(name));
    if (!value || *value != 1) return Support::no(absl::StrCat(name.text, " must be 1"));
  }
  if (kProduct.bias == kNoBias || node.argument(kProduct.bias).is_none()) return Support::yes();
  const Value* bias = node.input(kProduct.bias);
  if (!bias->is_constant()) return Support::no("bias is computed at run time");
  const Extents sizes = exir::sizes_of(bias);
  const Extents result = exir::sizes_of(node.result());
  if (sizes.size() == 1 && exir::is_always(sizes[0], result.back())) return Support::yes();
  return Support::no(absl::StrCat("bias is ", exir::to_string(bias->tensor()),
                                  ", must have one element per output channel"));
}

template <const Arguments& kProduct>
Support check_dynamic_product(const IrNode& node) {
  const Value* weight = node.input(kProduct.weight);
  const size_t axis = kProduct.weight_is_transposed ? 1 : 0;
  return check_dynamic_filter(weight, axis, *fixed(exir::sizes_of(weight)[axis]));
}

template <const Arguments& kProduct>
Status lower_product(Lowering& l, const IrNode& node) {
  const Value* weight = node.input(kProduct.weight);
  const exir::ConstantPtr stored = filter_of<kProduct>(node);
  const exir::Value* bias = nullptr;
  if (kProduct.bias != kNoBias && node.argument(kProduct.bias).is_value()) {
    bias = node.input(kProduct.bias);
  }
  FilterUse use = {node.input(kProduct.input), weight, bias, l.effective_result(node),
                   WeightView::of(*stored)};
  use.filter_dims = Dims(use.filter.sizes.begin(), use.filter.sizes.end());
  use.weight_axis = kProduct.weight_is_transposed ? 1 : 0;
  use.filter_axis = kProduct.weight_is_transposed ? 1 : 0;
  PETREL_ASSIGN_OR_RETURN(const ProductIds ids, add_operands(l, use));
  const bool is_plain = weight_constant(weight) != nullptr;
  const uint32_t result = is_plain ? l.result(node) : l.intermediate(l.result_sizes(node));
  Node* last = &l.add_node(NodeKind::FullyConnected, {ids.input, ids.filter, ids.bias}, result);
  last->flags = kProduct.weight_is_transposed ? kTransposeWeights : 0;
  if (!is_plain) {
    PETREL_ASSIGN_OR_RETURN(const uint32_t x,
                            l.operand(dynamic_source(node.input(kProduct.input)), Layout::kPlain));
    PETREL_ASSIGN_OR_RETURN(const uint32_t share,
                            add_zero_point_share(l, x, *stored_with_zero_points(weight)));
    last = &l.add_node(NodeKind::Add, {result, share}, l.result(node));
  }
  last->output_min = l.range().min;
  last->output_max = l.range().max;
  return absl::OkStatus();
}

Status lower_bmm(Lowering& l, const IrNode& node) {
  std::vector<uint32_t> inputs;
  for (exir::ArgHandle name : {arg::self, arg::mat2}) {
    const Value* value = node.input(name);
    uint32_t id = 0;
    if (value->is_constant()) {
      PETREL_ASSIGN_OR_RETURN(id, l.constant(value, WeightView::of(*value->constant())));
    } else {
      PETREL_ASSIGN_OR_RETURN(id, l.operand(value, Layout::kPlain));
    }
    inputs.push_back(id);
  }
  l.add_node(NodeKind::BatchMatrixMultiply, inputs, l.result(node));
  return absl::OkStatus();
}

constexpr OpRow kRows[] = {
    {aten::linear, &check_product<kLinear>, &plain, &lower_product<kLinear>,
     /*takes_activation=*/true, /*needs_company=*/false, &check_dynamic_product<kLinear>},
    {aten::mm, &check_product<kMm>, &plain, &lower_product<kMm>,
     /*takes_activation=*/true, /*needs_company=*/false, &check_dynamic_product<kMm>},
    {aten::addmm, &check_product<kAddmm>, &plain, &lower_product<kAddmm>,
     /*takes_activation=*/true, /*needs_company=*/false, &check_dynamic_product<kAddmm>},
    {aten::bmm, &accept, &plain, &lower_bmm},
};

}  // namespace

absl::Span<const OpRow> matrix_ops() { return kRows; }

}  // namespace petrel::backends::xnnpack::aot
