// SPDX-License-Identifier: Apache-2.0
//
// Quantising and dequantising. Each is a Convert; those around nodes that compute with
// integers go away again (merge_conversions.h). Those with numbers that are found at run
// time (dynamic_input.h) are the affair of the products that read them.
#include <algorithm>
#include <vector>

#include "backends/xnnpack/aot/dynamic_input.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/aot/quantized_weight.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using absl::Status;
using exir::Support;
using IrNode = exir::Node;

namespace quantized = exir::quantized_decomposed;

Support check_quantize(const IrNode& node) {
  if (tensor_quant(node)) return Support::yes();
  return Support::no("XNNPACK takes all levels of i8 and scales that are not denormal");
}

Support check_dequantize(const IrNode& node) {
  if (node.input(arg::input)->is_constant()) {
    return stored_constant(node.result())
               ? Support::yes()
               : Support::no("XNNPACK takes levels of i8 and scales that are not denormal");
  }
  const std::optional<TensorQuant> quant = tensor_quant(node);
  if (!quant) return Support::no("XNNPACK takes i8 and scales that are not denormal");
  // An element of XNNPACK means one thing to all that read it.
  for (const IrNode* user : node.input(arg::input)->users()) {
    if (!user->is(quantized::dequantize_per_tensor)) continue;
    const std::optional<TensorQuant> other = tensor_quant(*user);
    if (!other || !(*other == *quant)) {
      return Support::no("another node takes the same integers for other numbers");
    }
  }
  const IrNode* made = node.input(arg::input)->producer();
  if (made == nullptr || !made->is(quantized::quantize_per_tensor)) return Support::yes();
  const std::optional<TensorQuant> other = tensor_quant(*made);
  if (!other || *other == *quant) return Support::yes();
  return Support::no("its integers were made for other numbers");
}

Status lower_quantize(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x,
                          l.operand(node.input(arg::input), l.result_layout(node)));
  const uint32_t result = l.result(node);
  l.quantize(result, tensor_quant(node)->params());
  l.add_node(NodeKind::Convert, {x}, result);
  return absl::OkStatus();
}

// Who can take the constant itself does; for others operand() makes floats of it.
Status lower_stored(Lowering&, const IrNode&) { return absl::OkStatus(); }

Status lower_dequantize(Lowering& l, const IrNode& node) {
  if (node.input(arg::input)->is_constant()) return lower_stored(l, node);
  PETREL_ASSIGN_OR_RETURN(const uint32_t x,
                          l.operand(node.input(arg::input), l.result_layout(node)));
  l.add_node(NodeKind::Convert, {x}, l.result(node));
  return absl::OkStatus();
}

// Of the nodes that find their numbers at run time: which products read them, the
// partitioner asks. Else it dequantises a weight.
Support check_dynamic_or_stored(const IrNode& node) {
  if (is_dynamic_conversion(node) || stored_weight(node.result())) return Support::yes();
  const std::vector<IrNode*> users = node.result()->users();
  const bool is_filter = std::all_of(users.begin(), users.end(), [&](const IrNode* user) {
    return user->is(aten::linear) && user->input(arg::weight) == node.result() &&
           user->input(arg::input) != node.result() &&
           stored_filter(user->input(arg::input), node.result());
  });
  if (is_filter) return Support::yes();
  return Support::no("it does not dequantise a constant of i8 without zero points");
}

Status lower_dynamic_or_stored(Lowering& l, const IrNode& node) {
  return is_dynamic_conversion(node) ? absl::OkStatus() : lower_stored(l, node);
}

LayoutNeed need_of_dequantize(const IrNode& node) {
  return node.input(arg::input)->is_constant() ? LayoutNeed::kPlain : LayoutNeed::kFollows;
}

constexpr OpRow dynamic_row(exir::OpHandle op, LayoutNeed (*need)(const IrNode&)) {
  return {op,
          &check_dynamic_or_stored,
          need,
          &lower_dynamic_or_stored,
          /*takes_activation=*/false,
          /*needs_company=*/true};
}

constexpr OpRow kRows[] = {
    {quantized::quantize_per_tensor, &check_quantize, &follows, &lower_quantize,
     /*takes_activation=*/false, /*needs_company=*/true},
    {quantized::dequantize_per_tensor, &check_dequantize, &need_of_dequantize, &lower_dequantize,
     /*takes_activation=*/false, /*needs_company=*/true},
    {quantized::dequantize_per_channel, &check_dynamic_or_stored, &plain, &lower_stored,
     /*takes_activation=*/false, /*needs_company=*/true},
    {quantized::dequantize_per_channel_group, &check_dynamic_or_stored, &plain, &lower_stored,
     /*takes_activation=*/false, /*needs_company=*/true},
    dynamic_row(quantized::choose_qparams_tensor, &takes_either),
    dynamic_row(quantized::choose_qparams_per_token_asymmetric, &takes_either),
    dynamic_row(quantized::choose_qparams_per_token, &takes_either),
    dynamic_row(quantized::quantize_per_tensor_tensor, &follows),
    dynamic_row(quantized::quantize_per_token, &follows),
    dynamic_row(quantized::dequantize_per_tensor_tensor, &need_of_dequantize),
    dynamic_row(quantized::dequantize_per_token, &need_of_dequantize),
    dynamic_row(exir::torchao::choose_qparams_affine, &takes_either),
    dynamic_row(exir::torchao::quantize_affine, &follows),
    dynamic_row(exir::torchao::dequantize_affine, &need_of_dequantize),
};

}  // namespace

absl::Span<const OpRow> quantized_ops() { return kRows; }

}  // namespace petrel::backends::xnnpack::aot
