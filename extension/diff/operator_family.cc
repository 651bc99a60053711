// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/operator_family.h"

#include <cstddef>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace petrel::extension {
namespace {

// "aten::view_copy.out" -> "view", "StaticReshape" -> "staticreshape".
std::string plain_name(absl::string_view op) {
  const size_t colons = op.rfind("::");
  if (colons != absl::string_view::npos) op.remove_prefix(colons + 2);
  op = op.substr(0, op.find('.'));
  while (absl::ConsumePrefix(&op, "_")) {
  }
  if (op != "copy" && op != "copy_") op = absl::StripSuffix(op, "_copy");
  return absl::AsciiStrToLower(op);
}

const std::map<std::string, std::string>& families() {
  static const auto* const kFamilies = new std::map<std::string, std::string>{
      {"conv2d", "convolution"},
      {"depthwiseconv2d", "convolution"},
      {"convtranspose2d", "convolution"},
      {"mm", "product"},
      {"bmm", "product"},
      {"addmm", "product"},
      {"linear", "product"},
      {"mixed_mm", "product"},
      {"mixed_linear", "product"},
      {"fullyconnected", "product"},
      {"batchmatrixmultiply", "product"},
      {"relu", "clamp"},
      {"hardtanh", "clamp"},
      {"view", "move"},
      {"alias", "move"},
      {"detach", "move"},
      {"lift_fresh", "move"},
      {"clone", "move"},
      {"clone_dim_order", "move"},
      {"to_dim_order", "move"},
      {"to", "move"},
      {"copy", "move"},
      {"copy_", "move"},
      {"permute", "move"},
      {"transpose", "move"},
      {"t", "move"},
      {"squeeze", "move"},
      {"unsqueeze", "move"},
      {"staticreshape", "move"},
      {"statictranspose", "move"},
      {"pixel_shuffle", "move"},
      {"pixel_unshuffle", "move"},
      {"channel_shuffle", "move"},
      {"flip", "move"},
      {"roll", "move"},
      {"expand", "expand"},
      {"staticslice", "slice"},
      {"narrow", "slice"},
      {"select", "slice"},
      {"split", "slice"},
      {"split_with_sizes", "slice"},
      {"unbind", "slice"},
      {"constant_pad_nd", "pad"},
      {"staticconstantpad", "pad"},
      {"max_pool2d_with_indices", "max_pool"},
      {"maxpooling2d", "max_pool"},
      {"avg_pool2d", "mean"},
      {"adaptive_avg_pool2d", "mean"},
      {"avgpooling2d", "mean"},
      {"globalavgpooling2d", "mean"},
      {"upsample_bilinear2d", "resize"},
      {"upsample_nearest2d", "resize"},
      {"staticresizebilinear2d", "resize"},
      {"multiply", "mul"},
      {"subtract", "sub"},
      {"leakyrelu", "leaky_relu"},
      {"squareroot", "sqrt"},
      {"reciprocalsquareroot", "rsqrt"},
      {"negate", "neg"},
      {"ceiling", "ceil"},
      {"square", "pow"},
      {"stack", "cat"},
  };
  return *kFamilies;
}

}  // namespace

std::string operator_family(absl::string_view op) {
  const std::string plain = plain_name(op);
  if (absl::StartsWith(plain, "concatenate")) return "cat";
  if (plain == "convert" || absl::StartsWith(plain, "quantize_per") ||
      absl::StartsWith(plain, "dequantize_per")) {
    return "convert";
  }
  const auto found = families().find(plain);
  return found == families().end() ? plain : found->second;
}

}  // namespace petrel::extension
