// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"

#include "exir/ops/elementwise.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// The number of spatial dimensions is the number in the operator's name.
size_t spatial_dims(const BoundArguments& in) {
  const size_t d = in.op().name.find('d', in.op().name.find("pool"));
  return d == std::string::npos ? 2 : static_cast<size_t>(in.op().name[d - 1] - '0');
}

absl::Status check_image(const TensorType& self, size_t spatial) {
  if (self.rank() == spatial + 1 || self.rank() == spatial + 2) {
    return absl::OkStatus();
  }
  return invalid("argument 'self' has rank ", self.rank(), ", must be ", spatial + 1, " or ",
                 spatial + 2);
}

// One spatial size after pooling. In ceil mode a last window may hang over, even the only one,
// but it must start inside the image or its left padding.
absl::StatusOr<Size> pooled(const Size& size, int64_t kernel, int64_t stride, int64_t padding,
                            int64_t dilation, bool ceil_mode) {
  const int64_t reach = dilation * (kernel - 1) + 1;
  const Size room = size + 2 * padding - reach;
  if (room < 0) {
    // Of sizes that vary those count for which a whole window fits.
    const bool is_fixed = size.expression().is_constant();
    if (ceil_mode && is_fixed && size >= 1 && room + stride > 0) return Size(1);
    return invalid("a window that reaches ", reach, " does not fit ", size, " padded by ", padding);
  }
  // Where a window reaches so far that whatever is left in front of it begins a window inside, no
  // size decides anything: one expression for all of them.
  if (ceil_mode && stride + padding <= reach) return (room + stride - 1) / stride + 1;
  Size count = room / stride + 1;
  if (ceil_mode && room % stride != 0 && count * stride < size + padding) {
    count += 1;
  }
  return count;
}

Inferred windowed(const BoundArguments& in) {
  const size_t n = spatial_dims(in);
  TensorType out = in.tensor("self");
  PETREL_RETURN_IF_ERROR(check_image(out, n));
  PETREL_ASSIGN_OR_RETURN(Sizes kernel, in.window("kernel_size", n, 1));
  Sizes stride = kernel;
  if (!in.ints("stride").empty()) {
    PETREL_ASSIGN_OR_RETURN(stride, in.window("stride", n, 1));
  }
  PETREL_ASSIGN_OR_RETURN(Sizes padding, in.window("padding", n, 0));
  Sizes dilation(n, 1);
  if (in.has("dilation")) {
    PETREL_ASSIGN_OR_RETURN(dilation, in.window("dilation", n, 1));
  }
  for (size_t i = 0; i < n; ++i) {
    if (padding[i] > kernel[i] / 2) {
      return invalid("argument 'padding' has ", padding[i],
                     ", must be at most half of the kernel's ", kernel[i]);
    }
    Size& size = out.sizes[out.rank() - n + i];
    PETREL_ASSIGN_OR_RETURN(
        size, pooled(size, kernel[i], stride[i], padding[i], dilation[i], in.flag("ceil_mode")));
  }
  return one(out);
}

Inferred with_indices(Inferred values) {
  PETREL_RETURN_IF_ERROR(values.status());
  values->push_back(
      TensorType::contiguous(ScalarType::kLong, TensorType((*values)[0].tensor).sizes));
  return values;
}

Inferred max_pool_with_indices(const BoundArguments& in) { return with_indices(windowed(in)); }

// Each value goes to its place in a plane of output_size.
Inferred max_unpool(const BoundArguments& in) {
  const size_t n = spatial_dims(in);
  TensorType out = in.tensor("self");
  PETREL_RETURN_IF_ERROR(check_image(out, n));
  const TensorType& indices = in.tensor("indices");
  if (indices.dtype != ScalarType::kLong || indices.sizes != out.sizes) {
    return invalid("argument 'indices' is ", std::string(scalar_type_name(indices.dtype)), "[",
                   absl::StrJoin(indices.sizes, ","), "], must be i64[",
                   absl::StrJoin(out.sizes, ","), "]");
  }
  const Sizes size = in.ints("output_size");
  if (size.size() != n) {
    return invalid("argument 'output_size' has ", size.size(), " elements, must have ", n);
  }
  std::copy(size.begin(), size.end(), out.sizes.end() - static_cast<ptrdiff_t>(n));
  return one(out.dtype, out.sizes);
}

Inferred avg_pool(const BoundArguments& in) {
  if (in.given("divisor_override") && in.integer("divisor_override") == 0) {
    return invalid("argument 'divisor_override' is 0");
  }
  return windowed(in);
}

Inferred adaptive_pool(const BoundArguments& in) {
  const size_t n = spatial_dims(in);
  TensorType out = in.tensor("self");
  PETREL_RETURN_IF_ERROR(check_image(out, n));
  // An output size of -1 does not reach here: the exporter fills it in.
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, in.window("output_size", n, 1));
  for (size_t i = 0; i < n; ++i) out.sizes[out.rank() - n + i] = sizes[i];
  return one(out);
}

Inferred adaptive_pool_with_indices(const BoundArguments& in) {
  return with_indices(adaptive_pool(in));
}

constexpr OpRow kRows[] = {
    {"aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], "
     "int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> "
     "Tensor",
     "", kPure, infer<windowed>},
    {"aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], "
     "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
     "", kPure, infer<windowed>},
    {"aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], "
     "int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor",
     "", kPure, infer<windowed>},
    {"aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] "
     "stride=[], int[1] padding=[0], int[1] dilation=[1], bool "
     "ceil_mode=False) -> (Tensor, Tensor)",
     "", kPure, infer<max_pool_with_indices>},
    {"aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] "
     "stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) "
     "-> (Tensor, Tensor)",
     "aten::max_pool2d_with_indices.out", kPure, infer<max_pool_with_indices>},
    {"aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] "
     "stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) "
     "-> (Tensor, Tensor)",
     "", kPure, infer<max_pool_with_indices>},
    {"aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor", "", kPure,
     infer<max_unpool>},
    {"aten::max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, "
     "int[3] padding) -> Tensor",
     "", kPure, infer<max_unpool>},
    {"aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], "
     "int[1] padding=[0], bool ceil_mode=False, bool count_include_pad=True) "
     "-> Tensor",
     "", kPure, infer<avg_pool>},
    {"aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], "
     "int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, "
     "int? divisor_override=None) -> Tensor",
     "aten::avg_pool2d.out", kPure, infer<avg_pool>},
    {"aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], "
     "int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, "
     "int? divisor_override=None) -> Tensor",
     "", kPure, infer<avg_pool>},
    {"aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", "", kPure,
     infer<adaptive_pool>},
    {"aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
     "aten::_adaptive_avg_pool2d.out", kPure, infer<adaptive_pool>},
    {"aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", "", kPure,
     infer<adaptive_pool>},
    {"aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> "
     "Tensor",
     "aten::_adaptive_avg_pool2d.out", kPure, infer<adaptive_pool>},
    {"aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> "
     "Tensor",
     "", kPure, infer<adaptive_pool>},
    {"aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, "
     "Tensor)",
     "", kPure, infer<adaptive_pool_with_indices>},
    {"aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, "
     "Tensor)",
     "", kPure, infer<adaptive_pool_with_indices>},
    {"aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, "
     "Tensor)",
     "", kPure, infer<adaptive_pool_with_indices>},
};

}  // namespace

absl::Span<const OpRow> pool_ops() { return kRows; }

}  // namespace petrel::exir::rules
