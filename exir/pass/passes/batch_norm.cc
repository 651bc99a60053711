// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr OpHandle kBatchNorms[] = {
    aten::batch_norm,
    aten::native_batch_norm,
    aten::_native_batch_norm_legit_no_training,
    aten::_native_batch_norm_legit,
};

// The elements of an optional operand, `otherwise` repeated where there is none.
absl::StatusOr<Doubles> elements(const Node& node, ArgHandle name, double otherwise,
                                 size_t channels) {
  const Value* value = tensor_at(node, name);
  if (value == nullptr) return Doubles(channels, otherwise);
  PETREL_ASSIGN_OR_RETURN(Doubles found, decode_constant(*value->constant()));
  if (found.size() != channels) {
    return absl::InvalidArgumentError(absl::StrCat("argument '", name.text, "' has ", found.size(),
                                                   " elements, the input ", channels, " channels"));
  }
  return found;
}

}  // namespace

bool is_fixed(const Value* value) {
  return value != nullptr && value->is_constant() && !value->constant()->is_mutable() &&
         value->tensor().is_contiguous();
}

bool is_inference(const Node& node) {
  const int training = node.op().find_arg(arg::training);
  const bool trains = training >= 0 && node.argument(arg::training) == Argument(true);
  if (trains || tensor_at(node, arg::input)->tensor().rank() < 2 ||
      tensor_at(node, arg::running_mean) == nullptr ||
      tensor_at(node, arg::running_var) == nullptr) {
    return false;
  }
  for (size_t i = 1; i < node.num_results(); ++i) {
    if (node.result(i)->is_used()) return false;
  }
  return true;
}

bool has_fixed_parameters(const Node& node) {
  for (ArgHandle name : {arg::weight, arg::bias, arg::running_mean, arg::running_var}) {
    const Value* value = tensor_at(node, name);
    if (value != nullptr && !is_fixed(value)) return false;
  }
  return true;
}

bool is_batch_norm(const OpInfo& op) {
  return std::any_of(std::begin(kBatchNorms), std::end(kBatchNorms),
                     [&](OpHandle handle) { return op.is(handle); });
}

bool is_fixed_batch_norm(const Node& node) {
  return is_batch_norm(node.op()) && is_inference(node) && has_fixed_parameters(node);
}

absl::StatusOr<ChannelAffine> affine_of(const Node& node) {
  const size_t channels = static_cast<size_t>(tensor_at(node, arg::input)->tensor().sizes[1]);
  PETREL_ASSIGN_OR_RETURN(const Doubles weight, elements(node, arg::weight, 1, channels));
  PETREL_ASSIGN_OR_RETURN(const Doubles bias, elements(node, arg::bias, 0, channels));
  PETREL_ASSIGN_OR_RETURN(const Doubles mean, elements(node, arg::running_mean, 0, channels));
  PETREL_ASSIGN_OR_RETURN(const Doubles variance, elements(node, arg::running_var, 1, channels));
  const double eps = node.argument(arg::eps).as_number();
  ChannelAffine affine;
  for (size_t c = 0; c < channels; ++c) {
    affine.scale.push_back(weight[c] / std::sqrt(variance[c] + eps));
    affine.shift.push_back(bias[c] - mean[c] * affine.scale[c]);
  }
  absl::string_view name = tensor_at(node, arg::running_mean)->constant()->fqn;
  if (!absl::ConsumeSuffix(&name, ".running_mean") || name.empty()) name = "bn";
  affine.name = std::string(name);
  return affine;
}

}  // namespace petrel::exir
