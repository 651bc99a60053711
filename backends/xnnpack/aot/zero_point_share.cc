// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/zero_point_share.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ops/read_sizes.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

struct Groups {
  int64_t rows;
  int64_t columns;
  int64_t size;

  int64_t count() const { return columns / size; }
};

Groups groups_of(const StoredWeight& weight) {
  const exir::Sizes& sizes = weight.constant->type.sizes;
  return {sizes[0], sizes[1], weight.group_size == 0 ? sizes[1] : weight.group_size};
}

// Of each group of each row of `x`.
uint32_t add_means(Lowering& l, uint32_t x, const Groups& groups) {
  if (groups.size == 1) return x;
  Extents sizes = l.sizes(x);
  sizes.pop_back();
  const exir::rules::Size rows = exir::product(sizes);
  const uint32_t image = l.reshape(x, {rows, 1, groups.columns, 1});
  const uint32_t means = l.intermediate({rows, 1, groups.count(), 1});
  Node& pool = l.add_node(NodeKind::AvgPooling2d, {image}, means);
  pool.window.kernel_width = static_cast<uint32_t>(groups.size);
  pool.window.stride_width = pool.window.kernel_width;
  pool.flags = kKeepDims;
  sizes.push_back(groups.count());
  return l.reshape(means, sizes);
}

}  // namespace

absl::StatusOr<uint32_t> add_zero_point_share(Lowering& l, uint32_t x, const StoredWeight& weight) {
  const Groups groups = groups_of(weight);
  std::vector<float> factors;
  for (size_t i = 0; i < weight.scales.size(); ++i) {
    factors.push_back(-static_cast<float>(groups.size) * weight.scales[i] * weight.zero_points[i]);
  }
  const MadeOf made = {{weight.scale_constant.get(), weight.zero_point_constant.get()},
                       absl::StrCat("share_", groups.size)};
  PETREL_ASSIGN_OR_RETURN(
      const uint32_t filter,
      l.floats(made, {static_cast<uint32_t>(groups.rows), static_cast<uint32_t>(groups.count())},
               factors));
  const uint32_t means = add_means(l, x, groups);
  Extents sizes = l.sizes(means);
  sizes.back() = groups.rows;
  const uint32_t share = l.intermediate(std::move(sizes));
  l.add_node(NodeKind::FullyConnected, {means, filter, kNoId}, share);
  return share;
}

}  // namespace petrel::backends::xnnpack::aot
