// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/node_kind.h"

#include <cstddef>

namespace petrel::backends::xnnpack {
namespace {

using F = NodeFamily;

constexpr NodeKindInfo unary(NodeKind kind, const char* name, uint32_t flags = 0) {
  return {kind, name, F::kUnary, 1, false, 1, flags, true};
}
constexpr NodeKindInfo binary(NodeKind kind, const char* name, uint32_t flags = 0) {
  return {kind, name, F::kBinary, 2, false, 1, flags, true};
}
constexpr NodeKindInfo convolution(NodeKind kind, const char* name) {
  return {kind, name, F::kConvolution, 3, true, 1, 0, true};
}
constexpr NodeKindInfo concatenate(NodeKind kind, const char* name, uint8_t inputs) {
  return {kind, name, F::kConcatenate, inputs, false, 1, 0, true};
}

// In the order of their numbers, which start at 1.
constexpr NodeKindInfo kKinds[] = {
    binary(NodeKind::Add, "Add"),
    {NodeKind::FullyConnected, "FullyConnected", F::kFullyConnected, 3, true, 1, kTransposeWeights,
     true},
    unary(NodeKind::Softmax, "Softmax"),
    unary(NodeKind::Sigmoid, "Sigmoid"),
    {NodeKind::StaticTranspose, "StaticTranspose", F::kTranspose, 1, false, 1, 0, true},
    unary(NodeKind::Clamp, "Clamp"),
    convolution(NodeKind::Conv2d, "Conv2d"),
    binary(NodeKind::Div, "Div"),
    {NodeKind::StaticResizeBilinear2d, "StaticResizeBilinear2d", F::kResize, 1, false, 1,
     kAlignCorners, true},
    {NodeKind::StaticConstantPad, "StaticConstantPad", F::kPad, 1, false, 1, 0, true},
    {NodeKind::AvgPooling2d, "AvgPooling2d", F::kPooling, 1, false, 1, kKeepDims, true},
    binary(NodeKind::Minimum, "Minimum"),
    convolution(NodeKind::DepthwiseConv2d, "DepthwiseConv2d"),
    {NodeKind::MaxPooling2d, "MaxPooling2d", F::kPooling, 1, false, 1, kKeepDims, true},
    binary(NodeKind::Multiply, "Multiply"),
    binary(NodeKind::Subtract, "Subtract"),
    unary(NodeKind::Floor, "Floor"),
    // 0x100 is a hint that upstream leaves on conversions, for kernels that are not
    // built here.
    unary(NodeKind::Convert, "Convert", 0x100),
    unary(NodeKind::GlobalAvgPooling2d, "GlobalAvgPooling2d", kKeepDims),
    {NodeKind::StaticReshape, "StaticReshape", F::kReshape, 1, false, 1, 0, true},
    {NodeKind::ArgMaxPooling2d, "ArgMaxPooling2d", F::kArgMaxPooling, 1, false, 2, 0, false},
    unary(NodeKind::SquareRoot, "SquareRoot"),
    unary(NodeKind::Ceiling, "Ceiling"),
    unary(NodeKind::Hardswish, "Hardswish"),
    {NodeKind::LeakyRelu, "LeakyRelu", F::kLeakyRelu, 1, false, 1, 0, true},
    binary(NodeKind::Maximum, "Maximum"),
    unary(NodeKind::Negate, "Negate"),
    unary(NodeKind::Square, "Square"),
    {NodeKind::Elu, "Elu", F::kElu, 1, false, 1, 0, true},
    unary(NodeKind::Abs, "Abs"),
    binary(NodeKind::PRelu, "PRelu"),
    concatenate(NodeKind::Concatenate2, "Concatenate2", 2),
    concatenate(NodeKind::Concatenate3, "Concatenate3", 3),
    concatenate(NodeKind::Concatenate4, "Concatenate4", 4),
    {NodeKind::StaticSlice, "StaticSlice", F::kSlice, 1, false, 1, 0, true},
    {NodeKind::ScaledDotProductAttention, "ScaledDotProductAttention", F::kAttention, 5, false, 1,
     0, false},
    binary(NodeKind::BatchMatrixMultiply, "BatchMatrixMultiply", kTransposeWeights),
    concatenate(NodeKind::Concatenate5, "Concatenate5", 5),
    convolution(NodeKind::ConvTranspose2d, "ConvTranspose2d"),
    unary(NodeKind::ReciprocalSquareRoot, "ReciprocalSquareRoot"),
    unary(NodeKind::Log, "Log"),
    unary(NodeKind::Gelu, "Gelu"),
    unary(NodeKind::Tanh, "Tanh"),
    unary(NodeKind::Exp, "Exp"),
    unary(NodeKind::Sin, "Sin"),
    unary(NodeKind::Copy, "Copy"),
    unary(NodeKind::Cos, "Cos"),
    {kNorm, "Norm", F::kNorm, 3, false, 1, 0, true},
};
constexpr size_t kNumKinds = sizeof(kKinds) / sizeof(kKinds[0]);
static_assert(kNumKinds == static_cast<size_t>(kNorm));

constexpr bool in_order() {
  for (size_t i = 0; i < kNumKinds; ++i) {
    if (static_cast<size_t>(kKinds[i].kind) != i + 1) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

const NodeKindInfo* find_node_kind(NodeKind kind) {
  const size_t number = static_cast<size_t>(kind);
  if (number < 1 || number > kNumKinds) return nullptr;
  return &kKinds[number - 1];
}

}  // namespace petrel::backends::xnnpack
