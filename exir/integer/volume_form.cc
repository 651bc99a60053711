// SPDX-License-Identifier: Apache-2.0
//
// A convolution of volumes is one of images whose channels are those of all planes that one
// plane of the result is made of:
//
//   x : [N, C, D, H, W]   ->   [N * D', C * k, H, W]   ->   [N * D', O, H', W']
//   w : [O, C, k, h, w]   as   [O, C * k, h, w], which lies in memory alike
//
// So sums are those of one operator, and rounded once.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/integer/product_arguments.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// As many nodes join the planes.
constexpr int64_t kMostPlanes = 64;

Ints without_first(const Ints& numbers) { return Ints(numbers.begin() + 1, numbers.end()); }

// [N, C, D, H, W] as [N * D', C * k, H, W].
BuiltValue planes_of(Builder& b, const FormOperand& x, const Node& node, int64_t taps,
                     int64_t depth) {
  const int64_t stride = ints_at(node, arg::stride, 3)[0];
  const int64_t padding = ints_at(node, arg::padding, 3)[0];
  const int64_t dilation = ints_at(node, arg::dilation, 3)[0];
  Value* from = x.value;
  if (padding > 0) {
    PETREL_ASSIGN_OR_RETURN(
        from, b.call(aten::constant_pad_nd,
                     {from, Ints{0, 0, 0, 0, padding, padding}, x.levels.zero_point}));
  }
  std::vector<Value*> planes;
  for (int64_t k = 0; k < taps; ++k) {
    const int64_t start = k * dilation;
    PETREL_ASSIGN_OR_RETURN(Value * plane,
                            b.slice(from, 2, start, start + (depth - 1) * stride + 1, stride));
    PETREL_ASSIGN_OR_RETURN(plane, b.call(aten::unsqueeze, {plane, 2}));
    planes.push_back(plane);
  }
  Value* all = planes[0];
  if (taps > 1) {
    PETREL_ASSIGN_OR_RETURN(all, b.call(aten::cat, {planes, 2}));
  }
  PETREL_ASSIGN_OR_RETURN(all, b.permute(all, {0, 3, 1, 2, 4, 5}));
  const Sizes& sizes = all->tensor().sizes;
  return b.call(aten::view,
                {all, Ints{sizes[0] * sizes[1], sizes[2] * sizes[3], sizes[4], sizes[5]}});
}

}  // namespace

absl::StatusOr<Value*> volume_form(Builder& b, const Node& node, const FormTarget& target) {
  if (node.argument(arg::transposed).as_bool()) {
    return cannot("transposed convolutions of volumes have no integers");
  }
  PETREL_ASSIGN_OR_RETURN(const FormOperand x, operand_of(node.argument(arg::input), "input"));
  if (x.value->tensor().is_dynamic()) return cannot("its sizes vary");
  PETREL_ASSIGN_OR_RETURN(ProductWeight weight, weight_of(node.argument(arg::weight), 0));
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> bias, bias_of(node.argument(arg::bias)));
  const Constant& constant = *weight.levels->constant();
  const Sizes sizes = constant.type.sizes, out = node.result()->tensor().sizes;
  if (sizes[2] > kMostPlanes || node.result()->tensor().numel() == 0) {
    return cannot(absl::StrCat("it makes a plane of ", sizes[2], ", must be at most ", kMostPlanes,
                               ", and not empty"));
  }
  weight.levels = add_unique_constant(
      b.graph(), absl::StrCat(constant.fqn, "@planes"),
      TensorType::contiguous(ScalarType::kChar,
                             {sizes[0], sizes[1] * sizes[2], sizes[3], sizes[4]}),
      constant.data, constant.kind, constant.sources());
  FormOperand planes = x;
  PETREL_ASSIGN_OR_RETURN(planes.value, planes_of(b, x, node, sizes[2], out[2]));
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                          product_arguments(b, planes, weight, bias, target));
  for (const ArgHandle name : {arg::stride, arg::padding, arg::dilation}) {
    arguments.emplace_back(without_first(ints_at(node, name, 3)));
  }
  arguments.push_back(node.argument(arg::groups));
  arguments.emplace_back(x.levels.zero_point);
  PETREL_ASSIGN_OR_RETURN(
      Value * y, with_target(b, petrel_ops::int8_convolution, std::move(arguments), target));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::view, {y, Ints{out[0], out[2], out[1], out[3], out[4]}}));
  return b.permute(y, {0, 2, 1, 3, 4});
}

}  // namespace petrel::exir
