// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/dynamic_input.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/op_table.h"
#include "exir/ops/read_sizes.h"

namespace petrel::backends::xnnpack::aot {
namespace {

namespace quantized = exir::quantized_decomposed;

using exir::Node;
using exir::Support;
using exir::Value;
namespace rules = exir::rules;

bool chooses(const Node& node) {
  return node.is(quantized::choose_qparams_tensor, quantized::choose_qparams_per_token_asymmetric,
                 quantized::choose_qparams_per_token, exir::torchao::choose_qparams_affine);
}

bool quantizes(const Node& node) {
  return node.is(quantized::quantize_per_tensor_tensor, quantized::quantize_per_token,
                 exir::torchao::quantize_affine);
}

bool dequantizes(const Node& node) {
  return node.is(quantized::dequantize_per_tensor_tensor, quantized::dequantize_per_token,
                 exir::torchao::dequantize_affine) &&
         !node.input(arg::input)->is_constant();
}

// The node that chose scale and zero point for `node`; null where others made them.
const Node* chooser_of(const Node& node) {
  if (chooses(node)) return &node;
  if (!quantizes(node) && !dequantizes(node)) return nullptr;
  const exir::Argument& scale = node.argument(arg::scale, arg::scales);
  const exir::Argument& zero_point = node.argument(arg::zero_point, arg::zero_points);
  if (!scale.is_value() || !zero_point.is_value()) return nullptr;
  const Node* chooser = scale.value()->producer();
  const bool is_pair = chooser != nullptr && chooses(*chooser) &&
                       scale.value() == chooser->result(0) &&
                       zero_point.value() == chooser->result(1);
  return is_pair ? chooser : nullptr;
}

bool is_bound(const Node& node, exir::ArgHandle name, int64_t bound) {
  const exir::Argument& argument = node.argument(name);
  return argument == exir::Argument(bound) ||
         (argument.is_none() && node.op().find_arg(arg::block_size) >= 0);
}

bool takes_all_levels(const Node& node) {
  const exir::Argument& dtype =
      node.argument(arg::dtype, arg::target_dtype, arg::input_dtype, arg::output_dtype);
  const bool has_sign = dtype == exir::Argument(exir::ScalarType::kChar);
  if (!has_sign && dtype != exir::Argument(exir::ScalarType::kByte)) return false;
  if (node.op().find_arg(arg::quant_min) < 0) return has_sign;
  return is_bound(node, arg::quant_min, has_sign ? INT8_MIN : 0) &&
         is_bound(node, arg::quant_max, has_sign ? INT8_MAX : UINT8_MAX);
}

// Whether the elements of a row have one scale, and other rows perhaps the same.
bool is_for_rows(const Node& node) {
  if (node.op().find_arg(arg::block_size) < 0) return true;
  const exir::Argument& block = node.argument(arg::block_size);
  const rules::Sizes sizes = exir::sizes_of(node.input(arg::input));
  const rules::Sizes blocks = exir::sizes_in(block, sizes.size());
  return !blocks.empty() && blocks.size() == sizes.size() &&
         exir::is_always(blocks.back(), sizes.back());
}

// Whether `node` quantises what `chooser` chose for, or dequantises that again.
bool is_of_chain(const Node& node, const Node& chooser) {
  if (chooser_of(node) != &chooser || !takes_all_levels(node) || !is_for_rows(node)) return false;
  const Value* x = node.input(arg::input);
  if (quantizes(node)) return x == chooser.input(arg::input);
  const Node* maker = x->producer();
  return dequantizes(node) && maker != nullptr && quantizes(*maker) && is_of_chain(*maker, chooser);
}

}  // namespace

bool is_dynamic_conversion(const Node& node) {
  return chooses(node) || quantizes(node) || dequantizes(node);
}

Support check_dynamic_conversion(const Node& node,
                                 const std::function<Support(const Node&)>& multiplies) {
  const Node* chooser = chooser_of(node);
  if (chooser == nullptr) return Support::no("choose_qparams has not chosen its scale");
  if (!takes_all_levels(*chooser)) return Support::no("XNNPACK takes all levels of 8 bits");
  if (!is_for_rows(*chooser)) return Support::no("a row has more than one scale");
  const Value* x = chooser->input(arg::input);
  if (x->is_constant() || x->tensor().dtype != exir::ScalarType::kFloat) {
    return Support::no(absl::StrCat("'", x->name(), "' is not computed as f32"));
  }
  for (size_t i = 0; i < chooser->num_results(); ++i) {
    const Value* number = chooser->result(i);
    for (const Node* user : number->users()) {
      if (!is_of_chain(*user, *chooser) || user->result()->output_uses() > 0) {
        return Support::no(absl::StrCat("'", number->name(), "' is used for more than to ",
                                        "quantise and dequantise '", x->name(), "'"));
      }
      for (const Node* reader : user->result()->users()) {
        if (quantizes(*user) && is_of_chain(*reader, *chooser)) continue;
        const Support s = quantizes(*user) ? Support::no("it takes what was quantised at run time")
                                           : multiplies(*reader);
        if (s.supported) continue;
        return Support::no(absl::StrCat("of '", reader->result()->name(), "': ", s.reason));
      }
    }
    if (number->output_uses() > 0) {
      return Support::no(absl::StrCat("'", number->name(), "' leaves the method"));
    }
  }
  return Support::yes();
}

const Value* dynamic_source(const Value* value) {
  const Node* node = value->producer();
  if (node == nullptr || !dequantizes(*node)) return nullptr;
  const Node* chooser = chooser_of(*node);
  return chooser == nullptr ? nullptr : chooser->input(arg::input);
}

bool is_whole(const Value* value) {
  return value->producer()->is(quantized::dequantize_per_tensor_tensor);
}

}  // namespace petrel::backends::xnnpack::aot
