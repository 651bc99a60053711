// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/scratch/table.h"

#include "runtime/kernels/scratch/attention_tiles.h"

namespace petrel::runtime::scratch {
namespace {

size_t bytes_of(const Axis& height, const Axis& width) {
  const PlaneBands bands(height, width);
  return bands.fits() ? bands.bytes() : 0;
}

bool is_true(Ints number) { return number.size() == 1 && number[0] != 0; }

// (input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
size_t convolution(const ScratchCall& call) {
  Axis height, width;
  if (call.sizes.size() < 9 || call.ints.size() < 9 || is_true(call.ints[6]) ||
      call.sizes[1].size() < 2 || call.sizes[1][1] != 1 ||
      !read_convolution(call.sizes[0], call.sizes[1], call.ints[3], call.ints[4], call.ints[5],
                        &height, &width)) {
    return 0;
  }
  return bytes_of(height, width);
}

// (self, kernel_size, stride, padding, dilation, ceil_mode)
size_t max_pool(const ScratchCall& call) {
  Axis height, width;
  if (call.sizes.size() < 6 || call.ints.size() < 6 ||
      !read_pool(call.sizes[0], call.ints[1], call.ints[2], call.ints[3], call.ints[4],
                 is_true(call.ints[5]), &height, &width)) {
    return 0;
  }
  return bytes_of(height, width);
}

// (self, kernel_size, stride, padding, ceil_mode, ...)
size_t avg_pool(const ScratchCall& call) {
  Axis height, width;
  if (call.sizes.size() < 5 || call.ints.size() < 5 ||
      !read_pool(call.sizes[0], call.ints[1], call.ints[2], call.ints[3], {}, is_true(call.ints[4]),
                 &height, &width)) {
    return 0;
  }
  return bytes_of(height, width);
}

// (query, key, value, attn_mask, is_causal, scale), query [batch, heads, rows, depth]
size_t attention(const ScratchCall& call) {
  if (call.sizes.size() < 6 || call.sizes[0].size() != 4) return 0;
  const Sizes& query = call.sizes[0];
  for (size_t d = 0; d < 3; ++d) {
    if (query[d] <= 0) return 0;
  }
  const size_t heads = static_cast<size_t>(query[0]) * static_cast<size_t>(query[1]);
  return AttentionTiles(heads, static_cast<size_t>(query[2])).bytes();
}

struct Row {
  std::string_view kernel;
  size_t (*bytes)(const ScratchCall& call);
};

constexpr Row kRows[] = {
    {"aten::avg_pool2d.out", &avg_pool},
    {"aten::convolution.out", &convolution},
    {"aten::max_pool2d_with_indices.out", &max_pool},
    {"petrel::attention.out", &attention},
};

}  // namespace

size_t scratch_bytes(std::string_view kernel, const ScratchCall& call) {
  for (const Row& row : kRows) {
    if (row.kernel == kernel) return row.bytes(call);
  }
  return 0;
}

}  // namespace petrel::runtime::scratch
