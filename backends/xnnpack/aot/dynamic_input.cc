// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/dynamic_input.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/op_table.h"

namespace petrel::backends::xnnpack::aot {
namespace {

namespace quantized = exir::quantized_decomposed;

using exir::Node;
using exir::Support;
using exir::Value;

bool chooses(const Node& node) {
  return node.is(quantized::choose_qparams_tensor, quantized::choose_qparams_per_token_asymmetric);
}

bool quantizes(const Node& node) {
  return node.is(quantized::quantize_per_tensor_tensor, quantized::quantize_per_token);
}

bool dequantizes(const Node& node) {
  return node.is(quantized::dequantize_per_tensor_tensor, quantized::dequantize_per_token);
}

// The node that chose scale and zero point for `node`; null where others made them.
const Node* chooser_of(const Node& node) {
  if (chooses(node)) return &node;
  if (!quantizes(node) && !dequantizes(node)) return nullptr;
  const Value* scale = node.input(arg::scale, arg::scales);
  const Value* zero_point = node.input(arg::zero_point, arg::zero_points);
  const Node* chooser = scale->producer();
  const bool is_pair = chooser != nullptr && chooses(*chooser) && scale == chooser->result(0) &&
                       zero_point == chooser->result(1);
  return is_pair ? chooser : nullptr;
}

bool takes_all_levels(const Node& node) {
  if (node.argument(arg::dtype) != exir::Argument(exir::ScalarType::kChar)) return false;
  if (node.op().find_arg(arg::quant_min) < 0) return true;
  return node.argument(arg::quant_min) == exir::Argument(int64_t{INT8_MIN}) &&
         node.argument(arg::quant_max) == exir::Argument(int64_t{INT8_MAX});
}

// Whether `node` quantises what `chooser` chose for, or dequantises that again.
bool is_of_chain(const Node& node, const Node& chooser) {
  if (chooser_of(node) != &chooser || !takes_all_levels(node)) return false;
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
  if (!takes_all_levels(*chooser)) return Support::no("XNNPACK takes all levels of i8");
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
