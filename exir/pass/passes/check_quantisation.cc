// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/check_quantisation.h"

#include <cstddef>
#include <limits>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/dequantised.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

bool quantises(const Node& node) {
  return node.is(quantized_decomposed::quantize_per_tensor_tensor,
                 quantized_decomposed::quantize_per_channel,
                 quantized_decomposed::quantize_per_token,
                 quantized_decomposed::quantize_per_channel_group, torchao::quantize_affine);
}

absl::Status check_scales(const Node& node, const Value& scales) {
  const Constant& constant = *scales.constant();
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> numbers, decode_constant(constant));
  constexpr double kLeast = std::numeric_limits<float>::min();
  constexpr double kMost = std::numeric_limits<float>::max();
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] >= kLeast && numbers[i] <= kMost) continue;
    return absl::InvalidArgumentError(absl::StrCat(node.describe(), ": element ", i, " of scale '",
                                                   constant.fqn, "' is ", numbers[i],
                                                   ", must be a positive, normal number"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> check_quantisation(Graph& graph, const PassContext&) {
  std::set<const Constant*> checked;  // many nodes may have one
  for (const auto& node : graph.nodes()) {
    if (!quantises(*node) && !dequantises(*node)) continue;
    const Argument* scales = find_argument(*node, arg::scale);
    if (scales == nullptr) scales = find_argument(*node, arg::scales);
    const Value* value = scales == nullptr ? nullptr : tensor_in(*scales);
    if (value == nullptr || !value->is_constant() || value->constant()->is_mutable()) continue;
    if (!checked.insert(value->constant().get()).second) continue;
    PETREL_RETURN_IF_ERROR(check_scales(*node, *value));
  }
  return false;
}

}  // namespace petrel::exir
