// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>

#include "absl/strings/str_join.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// Either `output_size` or `scale_factors` is given; without the latter in the
// schema, the former always is.
Inferred upsample(const BoundArguments& in) {
  const bool vec = in.has("input");
  TensorType out = in.tensor(vec ? "input" : "self");
  // "aten::upsample_nearest2d": images and channels stand before the dims that its name counts.
  const std::string& name = in.op().name;
  const size_t n = static_cast<size_t>(name[name.find_first_of("123")] - '0');
  if (out.rank() != n + 2) {
    return invalid("argument '", vec ? "input" : "self", "' has rank ", out.rank(), ", must be ",
                   n + 2);
  }
  if (in.given("output_size")) {
    if (in.given("scale_factors")) {
      return invalid("arguments 'output_size' and 'scale_factors' are both given");
    }
    if (const size_t given = in.ints("output_size").size(); given != n) {
      return invalid("argument 'output_size' has ", given, " items, must have ", n);
    }
    PETREL_ASSIGN_OR_RETURN(Sizes sizes, in.window("output_size", n, 1));
    for (size_t i = 0; i < n; ++i) out.sizes[2 + i] = sizes[i];
    return one(out);
  }
  const std::vector<double> factors = in.floats("scale_factors");
  if (factors.size() != n) {
    return invalid("argument 'scale_factors' has ", factors.size(), " items, must have ", n);
  }
  for (size_t i = 0; i < n; ++i) {
    const double whole = std::floor(factors[i]);
    if (whole == factors[i] && whole >= 1.0 && whole < 65536.0) {
      out.sizes[2 + i] *= static_cast<int64_t>(whole);
      continue;
    }
    const double scaled =
        std::floor(static_cast<double>(static_cast<int64_t>(out.sizes[2 + i])) * factors[i]);
    if (!(scaled >= 1.0 && scaled < 2147483648.0)) {
      return invalid("argument 'scale_factors' has ", factors[i], ", which makes dim ", 2 + i, " ",
                     scaled);
    }
    out.sizes[2 + i] = static_cast<int64_t>(scaled);
  }
  return one(out);
}

// The grid is [N, spatial..., number of spatial dimensions].
Inferred grid_sampler(const BoundArguments& in) {
  TensorType out = in.tensor("input");
  const TensorType& grid = in.tensor("grid");
  if (out.rank() < 4 || out.rank() > 5 || grid.rank() != out.rank() ||
      grid.sizes[0] != out.sizes[0] || grid.sizes.back() != static_cast<int64_t>(out.rank()) - 2) {
    return invalid("argument 'grid' [", absl::StrJoin(grid.sizes, ","),
                   "] does not fit the input [", absl::StrJoin(out.sizes, ","), "]");
  }
  for (size_t i = 2; i < out.rank(); ++i) out.sizes[i] = grid.sizes[i - 1];
  return one(out);
}

Inferred affine_grid(const BoundArguments& in) {
  const Sizes size = in.ints("size");
  if (size.size() < 4 || size.size() > 5) {
    return invalid("argument 'size' has ", size.size(), " items, must have 4 or 5");
  }
  const TensorType& theta = in.tensor("theta");
  const auto spatial = static_cast<int64_t>(size.size()) - 2;
  if (!is_floating_point(theta.dtype) || theta.rank() != 3 || theta.sizes[0] != size[0] ||
      theta.sizes[1] != spatial || theta.sizes[2] != spatial + 1) {
    return invalid("argument 'theta' is ", std::string(scalar_type_name(theta.dtype)), "[",
                   absl::StrJoin(theta.sizes, ","), "], must be floats [", size[0], ",", spatial,
                   ",", spatial + 1, "]");
  }
  for (const Size& extent : size) {
    if (extent < 1) return invalid("argument 'size' has ", extent, ", must be at least 1");
  }
  Sizes sizes = {size[0]};
  sizes.insert(sizes.end(), size.begin() + 2, size.end());
  sizes.push_back(static_cast<int64_t>(size.size()) - 2);
  return one(in.tensor("theta").dtype, std::move(sizes));
}

constexpr OpRow kRows[] = {
    {"aten::upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool "
     "align_corners, float[]? scale_factors) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::upsample_linear1d(Tensor self, SymInt[1] output_size, bool "
     "align_corners, float? scales=None) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool "
     "align_corners, float[]? scale_factors) -> Tensor",
     "aten::upsample_bilinear2d.vec_out", kPure, infer<upsample>},
    {"aten::upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool "
     "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::_upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, "
     "bool align_corners, float[]? scale_factors) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool "
     "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
     "aten::_upsample_bilinear2d_aa.out", kPure, infer<upsample>},
    {"aten::upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, "
     "bool align_corners, float[]? scale_factors) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool "
     "align_corners, float? scales_d=None, float? scales_h=None, float? "
     "scales_w=None) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool "
     "align_corners, float[]? scale_factors) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool "
     "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::_upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, "
     "bool align_corners, float[]? scale_factors) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::_upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool "
     "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, "
     "float[]? scale_factors) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::upsample_nearest1d(Tensor self, SymInt[1] output_size, float? "
     "scales=None) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, "
     "float[]? scale_factors) -> Tensor",
     "aten::upsample_nearest2d.vec_out", kPure, infer<upsample>},
    {"aten::upsample_nearest2d(Tensor self, SymInt[2] output_size, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, "
     "float[]? scale_factors) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::upsample_nearest3d(Tensor self, SymInt[3] output_size, float? "
     "scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::_upsample_nearest_exact1d.vec(Tensor input, SymInt[]? "
     "output_size, float[]? scale_factors) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, "
     "float? scales=None) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::_upsample_nearest_exact2d.vec(Tensor input, SymInt[]? "
     "output_size, float[]? scale_factors) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, "
     "float? scales_h=None, float? scales_w=None) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::_upsample_nearest_exact3d.vec(Tensor input, SymInt[]? "
     "output_size, float[]? scale_factors) -> Tensor",
     "", kPure, infer<upsample>},
    {"aten::_upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, "
     "float? scales_d=None, float? scales_h=None, float? scales_w=None) -> "
     "Tensor",
     "", kPure, infer<upsample>},
    {"aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, "
     "int padding_mode, bool align_corners) -> Tensor",
     "", kPure, infer<grid_sampler>},
    {"aten::grid_sampler_2d(Tensor input, Tensor grid, int "
     "interpolation_mode, int padding_mode, bool align_corners) -> Tensor",
     "aten::grid_sampler_2d.out", kPure, infer<grid_sampler>},
    {"aten::grid_sampler_3d(Tensor input, Tensor grid, int "
     "interpolation_mode, int padding_mode, bool align_corners) -> Tensor",
     "", kPure, infer<grid_sampler>},
    {"aten::affine_grid_generator(Tensor theta, SymInt[] size, bool "
     "align_corners) -> Tensor",
     "", kPure, infer<affine_grid>},
};

}  // namespace

absl::Span<const OpRow> resample_ops() { return kRows; }

}  // namespace petrel::exir::rules
