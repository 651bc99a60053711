// SPDX-License-Identifier: Apache-2.0
//
// What a batch norm with given statistics does to each channel:
//
//   y[c] = x[c] * scale[c] + shift[c]
//
//   scale = weight / sqrt(running_var + eps)
//   shift = bias - running_mean * scale
//
//   if (is_fixed_batch_norm(node)) {
//     PETREL_ASSIGN_OR_RETURN(const ChannelAffine affine, affine_of(node));
//   }
#ifndef PETREL_EXIR_PASS_PASSES_BATCH_NORM_H_
#define PETREL_EXIR_PASS_PASSES_BATCH_NORM_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/pass/framework/rewrite.h"

namespace petrel::exir {

using Doubles = std::vector<double>;

// In double precision, one element for each channel.
struct ChannelAffine {
  Doubles scale;
  Doubles shift;
  std::string name;  // "bn1": of the module
};

// A constant that no method writes, in row-major order.
bool is_fixed(const Value* value);

// Whether the node normalises with given statistics and nothing else is asked of it.
bool is_inference(const Node& node);

// Whether weight, bias and statistics are constants, where there are any.
bool has_fixed_parameters(const Node& node);

// A batch norm of any spelling of which all of this holds.
bool is_batch_norm(const OpInfo& op);
bool is_fixed_batch_norm(const Node& node);

// Invalid argument where a parameter has not one element for each channel.
absl::StatusOr<ChannelAffine> affine_of(const Node& node);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_BATCH_NORM_H_
