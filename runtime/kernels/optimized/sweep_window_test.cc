// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and pools.
#include "runtime/kernels/optimized/sweep.h"

#include <algorithm>
#include <limits>

namespace petrel::runtime {
namespace {

struct Window {
  int32_t channels, out_channels, groups, height, width, rows, columns;
  int64_t stride, padding, dilation;
};

TEST_P(Sweep, Convolutions) {
  const Window windows[] = {{3, 8, 1, 9, 11, 3, 3, 1, 1, 1},  {3, 13, 1, 17, 16, 3, 3, 2, 1, 1},
                            {5, 24, 1, 7, 7, 1, 1, 1, 0, 1},  {40, 6, 1, 7, 7, 1, 1, 2, 0, 1},
                            {6, 6, 6, 12, 35, 3, 3, 1, 1, 1}, {6, 6, 6, 12, 35, 3, 3, 2, 1, 1},
                            {6, 12, 6, 9, 40, 5, 5, 2, 2, 1}, {4, 4, 4, 10, 10, 3, 3, 1, 2, 2},
                            {4, 4, 4, 5, 5, 3, 3, 3, 1, 1},   {8, 6, 2, 6, 33, 2, 3, 1, 0, 1},
                            {2, 3, 1, 1, 1, 3, 3, 1, 1, 1},   {2, 5, 1, 8, 8, 3, 3, 1, 4, 3},
                            {33, 97, 1, 6, 6, 3, 3, 1, 1, 1}, {2, 3, 1, 4, 4, 4, 4, 1, 0, 1},
                            {2, 2, 1, 3, 40, 2, 2, 7, 5, 1},  {1, 1, 1, 2, 2, 1, 1, 1, 3, 1}};
  for (const Window& w : windows) {
    const auto out_size = [&](int64_t in, int64_t window) {
      return static_cast<int32_t>((in + 2 * w.padding - w.dilation * (window - 1) - 1) / w.stride +
                                  1);
    };
    const Sizes sizes = {2, w.out_channels, out_size(w.height, w.rows),
                         out_size(w.width, w.columns)};
    Array* x = floats({2, w.channels, w.height, w.width});
    Array* k = floats({w.out_channels, w.channels / w.groups, w.rows, w.columns});
    Array* b = floats({w.out_channels});
    for (const bool biased : {true, false}) {
      compare("aten::convolution.out",
              {value(x), value(k), biased ? value(b) : EValue(), int_list({w.stride, w.stride}),
               int_list({w.padding}), int_list({w.dilation, w.dilation}), EValue(false),
               int_list({0, 0}), EValue(int64_t{w.groups})},
              {{kFloat, sizes}}, 2e-5);
    }
  }
  Array *line = floats({2, 6, 50}), *k = floats({8, 3, 5});
  compare("aten::convolution.out",
          {value(line), value(k), EValue(), int_list({2}), int_list({3}), int_list({1}),
           EValue(false), int_list({0}), EValue(int64_t{2})},
          {{kFloat, {2, 8, 26}}}, 2e-5);
}

TEST_P(Sweep, TransposedConvolutions) {
  const Window windows[] = {{3, 8, 1, 9, 11, 3, 3, 1, 1, 1}, {4, 6, 2, 7, 16, 4, 4, 2, 1, 1},
                            {5, 5, 5, 6, 9, 3, 5, 3, 0, 2},  {2, 3, 1, 4, 40, 2, 2, 5, 0, 1},
                            {3, 2, 1, 1, 1, 3, 3, 2, 1, 1},  {6, 4, 2, 5, 7, 1, 1, 2, 0, 1},
                            {2, 2, 1, 3, 4, 3, 3, 2, 3, 2},  {33, 9, 1, 6, 6, 2, 3, 1, 2, 3}};
  for (const Window& w : windows) {
    for (const int64_t extra : {0, 1}) {
      if (extra >= std::max(w.stride, w.dilation)) continue;
      const auto out_size = [&](int64_t in, int64_t window) {
        return static_cast<int32_t>((in - 1) * w.stride - 2 * w.padding +
                                    w.dilation * (window - 1) + 1 + extra);
      };
      const Sizes sizes = {2, w.out_channels, out_size(w.height, w.rows),
                           out_size(w.width, w.columns)};
      Array* x = floats({2, w.channels, w.height, w.width});
      Array* k = floats({w.channels, w.out_channels / w.groups, w.rows, w.columns});
      Array* b = floats({w.out_channels});
      compare("aten::convolution.out",
              {value(x), value(k), extra == 0 ? value(b) : EValue(), int_list({w.stride, w.stride}),
               int_list({w.padding, w.padding}), int_list({w.dilation, w.dilation}), EValue(true),
               int_list({extra, extra}), EValue(int64_t{w.groups})},
              {{kFloat, sizes}}, 2e-5);
    }
  }
  Array *line = floats({2, 6, 50}), *k = floats({6, 4, 5});
  compare("aten::convolution.out",
          {value(line), value(k), EValue(), int_list({3}), int_list({2}), int_list({1}),
           EValue(true), int_list({1}), EValue(int64_t{2})},
          {{kFloat, {2, 8, 149}}}, 2e-5);
}

struct PoolWindow {
  int32_t height, width;
  int64_t rows, columns, stride, padding, dilation;
  bool ceil_mode;
};

TEST_P(Sweep, Pools) {
  const PoolWindow windows[] = {{12, 35, 3, 3, 2, 1, 1, false},   {13, 36, 3, 3, 2, 1, 1, true},
                                {112, 112, 3, 3, 2, 1, 1, false}, {7, 7, 7, 7, 1, 0, 1, false},
                                {8, 8, 2, 2, 2, 0, 1, false},     {9, 20, 3, 2, 3, 1, 2, true},
                                {150, 130, 5, 5, 1, 2, 1, false}, {1, 1, 1, 1, 1, 0, 1, false},
                                {6, 40, 2, 4, 9, 1, 1, false}};
  for (const PoolWindow& w : windows) {
    const auto out_size = [&](int64_t in, int64_t window, int64_t dilation) {
      const int64_t room = in + 2 * w.padding - dilation * (window - 1) - 1;
      int64_t out = (room + (w.ceil_mode ? w.stride - 1 : 0)) / w.stride + 1;
      if (w.ceil_mode && (out - 1) * w.stride >= in + w.padding) --out;
      return static_cast<int32_t>(out);
    };
    for (const bool wild : {false, true}) {
      Array* x = random(kFloat, {2, 3, w.height, w.width}, -5, 5, wild);
      for (size_t i = 0; wild && i < x->numel() / 4; ++i) {
        x->set(i, -std::numeric_limits<double>::infinity());
      }
      const Sizes sizes = {2, 3, out_size(w.height, w.rows, w.dilation),
                           out_size(w.width, w.columns, w.dilation)};
      compare("aten::max_pool2d_with_indices.out",
              {value(x), int_list({w.rows, w.columns}), int_list({w.stride}),
               int_list({w.padding, w.padding}), int_list({w.dilation}), EValue(w.ceil_mode)},
              {{kFloat, sizes}, {ScalarType::Long, sizes}}, 0);
      if (wild || w.dilation > 1) continue;
      for (const bool with_padding : {false, true}) {
        compare("aten::avg_pool2d.out",
                {value(x), int_list({w.rows, w.columns}), int_list({w.stride}),
                 int_list({w.padding, w.padding}), EValue(w.ceil_mode), EValue(with_padding),
                 with_padding && w.rows == 3 ? EValue(int64_t{5}) : EValue()},
                {{kFloat, sizes}}, 2e-6);
      }
    }
  }
}

PETREL_SWEEP_ALL();

}  // namespace
}  // namespace petrel::runtime
