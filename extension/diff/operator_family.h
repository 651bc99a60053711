// SPDX-License-Identifier: Apache-2.0
//
// What an operator does, in one word for all that programs call it: kernels, nodes of
// XNNPACK, ours or ExecuTorch's.
//
//   aten::convolution.out, Conv2d, DepthwiseConv2d     "convolution"
//   aten::addmm.out, aten::linear.out, FullyConnected  "product"
//   aten::view_copy.out, StaticReshape                 "move"
//   quantized_decomposed::..., Convert                 "convert"
//   what is not known                                  its name: "aten::cumsum.out" is "cumsum"
#ifndef PETREL_EXTENSION_DIFF_OPERATOR_FAMILY_H_
#define PETREL_EXTENSION_DIFF_OPERATOR_FAMILY_H_

#include <string>

#include "absl/strings/string_view.h"

namespace petrel::extension {

std::string operator_family(absl::string_view op);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DIFF_OPERATOR_FAMILY_H_
