// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/op_table.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using absl::Status;
using exir::Support;
using exir::Value;
using IrNode = exir::Node;

// The names of the arguments that make a product, and how the weight lies.
struct Product {
  const char* input;
  const char* weight;
  const char* bias;  // null when there is none
  bool weight_is_transposed;
};
constexpr Product kLinear = {"input", "weight", "bias", false};
constexpr Product kMm = {"self", "mat2", nullptr, true};
constexpr Product kAddmm = {"mat1", "mat2", "self", true};

template <const Product& kProduct>
Support check_product(const IrNode& node) {
  const Value* weight = node.argument(kProduct.weight).value();
  if (!weight->is_constant()) {
    return Support::no(absl::StrCat(kProduct.weight, " is computed at run time"));
  }
  if (weight->tensor().rank() != 2) {
    return Support::no(
        absl::StrCat(kProduct.weight, " has rank ", weight->tensor().rank(), ", must be 2"));
  }
  for (const char* name : {"alpha", "beta"}) {
    if (node.op().find_arg(name) < 0) continue;
    const auto value = number_argument(node.argument(name));
    if (!value || *value != 1) return Support::no(absl::StrCat(name, " must be 1"));
  }
  if (kProduct.bias == nullptr || node.argument(kProduct.bias).is_none()) return Support::yes();
  const Value* bias = node.argument(kProduct.bias).value();
  if (!bias->is_constant()) return Support::no("bias is computed at run time");
  const exir::Sizes& sizes = bias->tensor().sizes;
  if (sizes.size() == 1 && sizes[0] == node.result()->tensor().sizes.back()) return Support::yes();
  return Support::no(absl::StrCat("bias is ", exir::to_string(bias->tensor()),
                                  ", must have one element per output channel"));
}

template <const Product& kProduct>
Status lower_product(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x,
                          l.operand(node.argument(kProduct.input).value(), Layout::kPlain));
  const Value* weight = node.argument(kProduct.weight).value();
  PETREL_ASSIGN_OR_RETURN(const uint32_t filter,
                          l.constant(weight, WeightView::of(*weight->constant())));
  uint32_t bias_id = kNoId;
  if (kProduct.bias != nullptr && node.argument(kProduct.bias).is_value()) {
    const Value* bias = node.argument(kProduct.bias).value();
    PETREL_ASSIGN_OR_RETURN(bias_id, l.constant(bias, WeightView::of(*bias->constant())));
  }
  Node& product = l.add_node(NodeKind::FullyConnected, {x, filter, bias_id}, l.result(node));
  product.flags = kProduct.weight_is_transposed ? kTransposeWeights : 0;
  product.output_min = l.range().min;
  product.output_max = l.range().max;
  return absl::OkStatus();
}

Status lower_bmm(Lowering& l, const IrNode& node) {
  std::vector<uint32_t> inputs;
  for (const char* name : {"self", "mat2"}) {
    const Value* value = node.argument(name).value();
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
    {"aten.linear.default", &check_product<kLinear>, &plain, &lower_product<kLinear>, true},
    {"aten.mm.default", &check_product<kMm>, &plain, &lower_product<kMm>, true},
    {"aten.addmm.default", &check_product<kAddmm>, &plain, &lower_product<kAddmm>, true},
    {"aten.bmm.default", &accept, &plain, &lower_bmm},
};

}  // namespace

absl::Span<const OpRow> matrix_ops() { return kRows; }

}  // namespace petrel::backends::xnnpack::aot
