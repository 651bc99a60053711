// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// What a convolution slides over: [batch,] channels and spatial dimensions.
struct Geometry {
  size_t spatial = 0;  // number of spatial dimensions
  size_t first = 0;    // index of the first of them
  Size groups = 1;
};

absl::StatusOr<Geometry> geometry(const BoundArguments& in, bool transposed) {
  const TensorType& input = in.tensor("input");
  const TensorType& weight = in.tensor("weight");
  if (weight.rank() < 3 || weight.rank() > 5) {
    return invalid("argument 'weight' has rank ", weight.rank(), ", must be 3, 4 or 5");
  }
  Geometry result;
  result.spatial = weight.rank() - 2;
  if (input.rank() != result.spatial + 1 && input.rank() != weight.rank()) {
    return invalid("argument 'input' has rank ", input.rank(), ", must be ", weight.rank() - 1,
                   " or ", weight.rank());
  }
  if (input.dtype != weight.dtype) {
    return invalid("dtypes ", std::string(scalar_type_name(input.dtype)), " and ",
                   std::string(scalar_type_name(weight.dtype)), " differ");
  }
  result.first = input.rank() - result.spatial;
  result.groups = in.integer("groups");
  const Size channels = input.sizes[result.first - 1];
  // The weight is [out, in / groups, ...], transposed [in, out / groups, ...].
  const Size filters = weight.sizes[0];
  if (result.groups < 1 || result.groups > std::numeric_limits<int32_t>::max() ||
      filters % result.groups != 0) {
    return invalid("argument 'groups' is ", result.groups, ", must divide ", filters, " filters");
  }
  Size expected = filters;
  if (!transposed && multiply_overflows(weight.sizes[1], result.groups, &expected)) {
    expected = -1;
  }
  if (channels != expected) {
    return invalid("argument 'input' has ", channels, " channels, the weight expects ", expected);
  }
  const Size outputs = transposed ? weight.sizes[1] * result.groups : filters;
  if (!in.given("bias")) return result;
  const TensorType& bias = in.tensor("bias");
  if (bias.sizes != Sizes{outputs} || bias.dtype != input.dtype) {
    const std::string dtype(scalar_type_name(input.dtype));
    return invalid("argument 'bias' is ", std::string(scalar_type_name(bias.dtype)), "[",
                   absl::StrJoin(bias.sizes, ","), "], must be ", dtype, "[", outputs, "]");
  }
  return result;
}

Inferred slid(const BoundArguments& in, const Geometry& geometry, const Sizes& total_padding) {
  const TensorType& weight = in.tensor("weight");
  TensorType out = in.tensor("input");
  PETREL_ASSIGN_OR_RETURN(Sizes stride, in.window("stride", geometry.spatial, 1));
  PETREL_ASSIGN_OR_RETURN(Sizes dilation, in.window("dilation", geometry.spatial, 1));
  out.sizes[geometry.first - 1] = weight.sizes[0];
  for (size_t i = 0; i < geometry.spatial; ++i) {
    Size& size = out.sizes[geometry.first + i];
    const Size kernel = weight.sizes[2 + i];
    const Size reach = dilation[i] * (kernel - 1) + 1;
    if (kernel < 1 || size + total_padding[i] < reach) {
      return invalid("a kernel that reaches ", reach, " does not fit dim ", geometry.first + i,
                     " of ", size, " padded by ", total_padding[i]);
    }
    size = (size + total_padding[i] - reach) / stride[i] + 1;
  }
  return one(out);
}

Inferred conv(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(Geometry shape, geometry(in, false));
  Sizes padding(shape.spatial, 0);
  if (!in.at("padding").is_string()) {
    PETREL_ASSIGN_OR_RETURN(padding, in.window("padding", shape.spatial, 0));
    for (Size& pad : padding) pad *= 2;
  } else if (in.text("padding") == "same") {
    PETREL_ASSIGN_OR_RETURN(Sizes dilation, in.window("dilation", shape.spatial, 1));
    for (size_t i = 0; i < shape.spatial; ++i) {
      if (in.ints("stride") != Sizes(in.ints("stride").size(), 1)) {
        return invalid("argument 'padding' is 'same' with a stride");
      }
      padding[i] = dilation[i] * (in.tensor("weight").sizes[2 + i] - 1);
    }
  } else if (in.text("padding") != "valid") {
    return invalid("argument 'padding' is '", in.text("padding"), "'");
  }
  return slid(in, shape, padding);
}

Inferred conv_transpose(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(Geometry shape, geometry(in, true));
  const size_t n = shape.spatial;
  const TensorType& weight = in.tensor("weight");
  TensorType out = in.tensor("input");
  PETREL_ASSIGN_OR_RETURN(Sizes stride, in.window("stride", n, 1));
  PETREL_ASSIGN_OR_RETURN(Sizes padding, in.window("padding", n, 0));
  PETREL_ASSIGN_OR_RETURN(Sizes extra, in.window("output_padding", n, 0));
  PETREL_ASSIGN_OR_RETURN(Sizes dilation, in.window("dilation", n, 1));
  out.sizes[shape.first - 1] = weight.sizes[1] * shape.groups;
  for (size_t i = 0; i < n; ++i) {
    Size& size = out.sizes[shape.first + i];
    if (weight.sizes[2 + i] < 1 || size < 1) {
      return invalid("an empty kernel or image in dim ", shape.first + i);
    }
    if (extra[i] >= stride[i] && extra[i] >= dilation[i]) {
      return invalid("argument 'output_padding' has ", extra[i], ", must be below the stride ",
                     stride[i], " or the dilation ", dilation[i]);
    }
    const Size reach = dilation[i] * (weight.sizes[2 + i] - 1);
    size = (size - 1) * stride[i] - 2 * padding[i] + reach + extra[i] + 1;
  }
  return one(out);
}

Inferred convolution(const BoundArguments& in) {
  return in.flag("transposed") ? conv_transpose(in) : conv(in);
}

constexpr OpRow kRows[] = {
    {"aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] "
     "stride=[1], SymInt[1] padding=[0], SymInt[1] dilation=[1], SymInt "
     "groups=1) -> Tensor",
     "", kPure, infer<conv>},
    {"aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, "
     "SymInt[1] stride=[1], str padding=\"valid\", SymInt[1] dilation=[1], "
     "SymInt groups=1) -> Tensor",
     "", kPure, infer<conv>},
    {"aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] "
     "stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], "
     "SymInt groups=1) -> Tensor",
     "", kPure, infer<conv>},
    {"aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, "
     "SymInt[2] stride=[1, 1], str padding=\"valid\", SymInt[2] dilation=[1, "
     "1], SymInt groups=1) -> Tensor",
     "", kPure, infer<conv>},
    {"aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] "
     "stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, "
     "1, 1], SymInt groups=1) -> Tensor",
     "", kPure, infer<conv>},
    {"aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, "
     "SymInt[3] stride=[1, 1, 1], str padding=\"valid\", SymInt[3] dilation=[1, "
     "1, 1], SymInt groups=1) -> Tensor",
     "", kPure, infer<conv>},
    {"aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, "
     "SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] "
     "output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]) -> Tensor",
     "", kPure, infer<conv_transpose>},
    {"aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? "
     "bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] "
     "output_padding=[0, 0], SymInt groups=1, SymInt[2] dilation=[1, 1]) -> "
     "Tensor",
     "", kPure, infer<conv_transpose>},
    {"aten::conv_transpose3d.input(Tensor input, Tensor weight, Tensor? "
     "bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], "
     "SymInt[3] output_padding=[0, 0, 0], SymInt groups=1, SymInt[3] "
     "dilation=[1, 1, 1]) -> Tensor",
     "", kPure, infer<conv_transpose>},
    {"aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] "
     "stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] "
     "output_padding, SymInt groups) -> Tensor",
     "aten::convolution.out", kPure, infer<convolution>},
};

}  // namespace

absl::Span<const OpRow> conv_ops() { return kRows; }

}  // namespace petrel::exir::rules
