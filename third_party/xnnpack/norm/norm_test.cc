// SPDX-License-Identifier: Apache-2.0

// Norms against sums in double.
#include "third_party/xnnpack/norm/norm.h"

#include <gtest/gtest.h>
#include <pthreadpool.h>
#include <xnnpack.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "third_party/xnnpack/norm/kernels.h"

namespace petrel::third_party::xnnpack {
namespace {

using Floats = std::vector<float>;

constexpr float kEpsilon = 1e-5f;

struct Shape {
  std::vector<size_t> dims;
  size_t axis, groups;

  size_t channels() const { return dims.back(); }
  size_t batch() const { return product(0, axis); }
  size_t pixels() const { return product(axis, dims.size() - 1); }
  size_t size() const { return product(0, dims.size()); }
  std::string text() const {
    std::string text;
    for (const size_t dim : dims) text += std::to_string(dim) + " ";
    return text + "axis " + std::to_string(axis) + " groups " + std::to_string(groups);
  }

 private:
  size_t product(size_t first, size_t end) const {
    size_t product = 1;
    for (size_t i = first; i < end; ++i) product *= dims[i];
    return product;
  }
};

// Calls `visit(index)` for each element of a group.
template <typename Visit>
void each_of_group(const Shape& s, size_t batch, size_t group, const Visit& visit) {
  const size_t c = s.channels() / s.groups;
  for (size_t p = 0; p < s.pixels(); ++p) {
    for (size_t i = 0; i < c; ++i) {
      visit((batch * s.pixels() + p) * s.channels() + group * c + i);
    }
  }
}

std::vector<double> expected(const Shape& s, const Floats& x, const Floats& weight,
                             const Floats& bias) {
  std::vector<double> y(s.size());
  const double count = static_cast<double>(s.pixels() * (s.channels() / s.groups));
  for (size_t n = 0; n < s.batch(); ++n) {
    for (size_t g = 0; g < s.groups; ++g) {
      double sum = 0, squares = 0;
      each_of_group(s, n, g, [&](size_t i) { sum += x[i]; });
      const double mean = sum / count;
      each_of_group(s, n, g, [&](size_t i) { squares += (x[i] - mean) * (x[i] - mean); });
      const double factor = 1 / std::sqrt(squares / count + kEpsilon);
      each_of_group(s, n, g, [&](size_t i) {
        const size_t channel = i % s.channels();
        y[i] = (x[i] - mean) * factor;
        if (!weight.empty()) y[i] *= weight[channel];
        if (!bias.empty()) y[i] += bias[channel];
      });
    }
  }
  return y;
}

Floats numbers(size_t count, float mean, float spread, uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> of(mean, spread);
  Floats list(count);
  for (float& number : list) number = of(engine);
  return list;
}

struct DeleteRuntime {
  void operator()(xnn_runtime_t runtime) const { xnn_delete_runtime(runtime); }
};
struct DeletePool {
  void operator()(pthreadpool_t pool) const { pthreadpool_destroy(pool); }
};
using Pool = std::unique_ptr<pthreadpool, DeletePool>;

// x, twice negated where the norm shall lie in place, normalised.
class Graph {
 public:
  Graph(const Shape& shape, const Floats& weight, const Floats& bias, size_t threads,
        bool is_in_place = false)
      : pool_(pthreadpool_create(threads)) {
    xnn_subgraph_t graph = nullptr;
    EXPECT_EQ(xnn_create_subgraph(2, 0, &graph), xnn_status_success);
    const auto add = [&](const std::vector<size_t>& dims, const float* data, uint32_t external,
                         uint32_t flags) {
      uint32_t id = XNN_INVALID_VALUE_ID;
      EXPECT_EQ(xnn_define_tensor_value(graph, xnn_datatype_fp32, dims.size(), dims.data(), data,
                                        external, flags, &id),
                xnn_status_success);
      return id;
    };
    constexpr uint32_t kNone = XNN_INVALID_VALUE_ID;
    uint32_t x = add(shape.dims, nullptr, 0, XNN_VALUE_FLAG_EXTERNAL_INPUT);
    const uint32_t y = add(shape.dims, nullptr, 1, XNN_VALUE_FLAG_EXTERNAL_OUTPUT);
    const std::vector<size_t> channels = {shape.channels()};
    const uint32_t w = weight.empty() ? kNone : add(channels, weight.data(), kNone, 0);
    const uint32_t b = bias.empty() ? kNone : add(channels, bias.data(), kNone, 0);
    const auto negate = [&](uint32_t from, uint32_t to) {
      EXPECT_EQ(xnn_define_unary(graph, xnn_unary_negate, nullptr, from, to, 0),
                xnn_status_success);
      return to;
    };
    uint32_t to = y;
    if (is_in_place) {
      x = negate(x, add(shape.dims, nullptr, kNone, 0));
      to = add(shape.dims, nullptr, kNone, 0);
    }
    const petrel_norm norm = {shape.axis, shape.groups, shape.channels(), kEpsilon};
    EXPECT_EQ(petrel_define_norm(graph, &norm, x, w, b, to), xnn_status_success);
    if (is_in_place) negate(to, y);
    xnn_runtime_t runtime = nullptr;
    EXPECT_EQ(xnn_create_runtime_v4(graph, nullptr, nullptr, pool_.get(), 0, &runtime),
              xnn_status_success);
    runtime_.reset(runtime);
    xnn_delete_subgraph(graph);
  }

  xnn_status reshape(const std::vector<size_t>& dims) {
    EXPECT_EQ(xnn_reshape_external_value(runtime_.get(), 0, dims.size(), dims.data()),
              xnn_status_success);
    return xnn_reshape_runtime(runtime_.get());
  }

  Floats run(const Shape& shape, const Floats& x) {
    EXPECT_EQ(reshape(shape.dims), xnn_status_success);
    Floats y(shape.size(), 7);
    const xnn_external_value ends[] = {{0, const_cast<float*>(x.data())}, {1, y.data()}};
    EXPECT_EQ(xnn_setup_runtime_v2(runtime_.get(), 2, ends), xnn_status_success);
    EXPECT_EQ(xnn_invoke_runtime(runtime_.get()), xnn_status_success);
    return y;
  }

 private:
  Pool pool_;
  std::unique_ptr<xnn_runtime, DeleteRuntime> runtime_;
};

const std::vector<Shape>& shapes() {
  static const auto* const list = new std::vector<Shape>{
      // Rows of fewer elements than a vector, of whole vectors, and between.
      {{5, 1}, 1, 1},
      {{5, 3}, 1, 1},
      {{4, 7}, 1, 1},
      {{3, 16}, 1, 1},
      {{3, 17}, 1, 1},
      {{2, 5, 96}, 2, 1},
      {{7, 100}, 1, 1},
      {{300, 192}, 1, 1},
      {{2, 9001}, 1, 1},
      // Pixels.
      {{2, 6, 6, 3}, 1, 1},
      {{2, 6, 6, 6}, 1, 3},
      {{1, 6, 6, 12}, 1, 4},
      {{3, 4, 4, 24}, 1, 8},
      {{1, 5, 5, 40}, 1, 8},
      {{1, 8, 8, 64}, 1, 64},
      {{1, 7, 9, 100}, 1, 5},
      {{1, 1, 3000, 128}, 1, 1},
      {{2, 64, 64, 32}, 1, 8},
      {{20, 3, 3, 48}, 1, 2},
      {{1, 30, 30, 520}, 1, 1},
      {{1, 1, 1, 64}, 1, 4},
  };
  return *list;
}

class NormTest : public ::testing::Test {
 protected:
  NormTest() { EXPECT_EQ(xnn_initialize(nullptr), xnn_status_success); }
};

TEST_F(NormTest, IsWhatDoublesGive) {
  for (const Shape& shape : shapes()) {
    for (const float mean : {0.0f, 30.0f}) {
      for (const bool has_factors : {false, true}) {
        SCOPED_TRACE(shape.text());
        const Floats x = numbers(shape.size(), mean, 2, 1);
        const Floats weight = has_factors ? numbers(shape.channels(), 1, 0.5f, 2) : Floats();
        const Floats bias = has_factors ? numbers(shape.channels(), 0, 1, 3) : Floats();
        Graph graph(shape, weight, bias, 1);
        const Floats y = graph.run(shape, x);
        const std::vector<double> right = expected(shape, x, weight, bias);
        // A mean is rounded to a float, from which all else is taken.
        const double ulp = 6e-8, spread = 2;
        const double bound = (4 + mean / spread) * ulp * 6;
        for (size_t i = 0; i < y.size(); ++i) {
          ASSERT_NEAR(y[i], right[i], bound * std::max(1.0, std::abs(right[i]))) << i;
        }
      }
    }
  }
}

TEST_F(NormTest, OneFactorAloneIsTaken) {
  const Shape shape = {{3, 40}, 1, 1};
  const Floats x = numbers(shape.size(), 0, 2, 1), factor = numbers(40, 1, 0.5f, 2);
  for (const bool is_weight : {false, true}) {
    const Floats weight = is_weight ? factor : Floats(), bias = is_weight ? Floats() : factor;
    Graph graph(shape, weight, bias, 1);
    const Floats y = graph.run(shape, x);
    const std::vector<double> right = expected(shape, x, weight, bias);
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], right[i], 3e-6) << i;
  }
}

TEST_F(NormTest, HasTheSameBitsForAnyNumberOfThreadsAndInPlace) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.text());
    const Floats x = numbers(shape.size(), 1, 2, 1), weight = numbers(shape.channels(), 1, 1, 2);
    const Floats bias = numbers(shape.channels(), 0, 1, 3);
    const Floats alone = Graph(shape, weight, bias, 1).run(shape, x);
    for (const size_t threads : {2, 3}) {
      EXPECT_EQ(Graph(shape, weight, bias, threads).run(shape, x), alone) << threads;
    }
    Floats negated = x;
    for (float& number : negated) number = -number;
    Floats in_place = Graph(shape, weight, bias, 2, true).run(shape, negated);
    for (float& number : in_place) number = -number;
    EXPECT_EQ(in_place, alone);
  }
}

TEST_F(NormTest, WhatIsNoNumberStaysInItsGroup) {
  for (const Shape& shape : {Shape{{3, 40}, 1, 1}, Shape{{2, 20, 20, 40}, 1, 4}}) {
    for (const float odd : {INFINITY, -INFINITY, NAN}) {
      SCOPED_TRACE(shape.text());
      Floats x = numbers(shape.size(), 0, 1, 1);
      x[shape.size() - 1] = odd;
      const Floats y = Graph(shape, {}, {}, 2).run(shape, x);
      std::vector<bool> is_near(shape.size());
      each_of_group(shape, shape.batch() - 1, shape.groups - 1,
                    [&](size_t i) { is_near[i] = true; });
      for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(std::isnan(y[i]), is_near[i]) << i;
    }
  }
}

TEST_F(NormTest, BatchAndPixelsMayVary) {
  const Floats weight = numbers(24, 1, 1, 2);
  Graph images({{1, 4, 4, 24}, 1, 3}, weight, {}, 2), rows({{4, 24}, 1, 1}, weight, {}, 2);
  for (const size_t n : {1, 3, 17}) {
    for (const size_t side : {1, 5, 70}) {
      const Shape shape = {{n, side, side, 24}, 1, 3};
      const Floats x = numbers(shape.size(), 1, 2, 1);
      EXPECT_EQ(images.run(shape, x), Graph(shape, weight, {}, 1).run(shape, x)) << shape.text();
      const Shape flat = {{n * side, 24}, 1, 1};
      EXPECT_EQ(rows.run(flat, x), Graph(flat, weight, {}, 1).run(flat, x)) << flat.text();
    }
  }
  EXPECT_EQ(rows.reshape({4, 25}), xnn_status_unsupported_parameter);
}

TEST_F(NormTest, RefusesWhatDoesNotFit) {
  xnn_subgraph_t graph = nullptr;
  ASSERT_EQ(xnn_create_subgraph(2, 0, &graph), xnn_status_success);
  const std::unique_ptr<xnn_subgraph, decltype(&xnn_delete_subgraph)> owner(graph,
                                                                            &xnn_delete_subgraph);
  const size_t dims[] = {2, 12}, few[] = {6};
  const float data[6] = {};
  uint32_t x = 0, y = 0, w = 0;
  ASSERT_EQ(xnn_define_tensor_value(graph, xnn_datatype_fp32, 2, dims, nullptr, 0,
                                    XNN_VALUE_FLAG_EXTERNAL_INPUT, &x),
            xnn_status_success);
  ASSERT_EQ(xnn_define_tensor_value(graph, xnn_datatype_fp32, 2, dims, nullptr, 1,
                                    XNN_VALUE_FLAG_EXTERNAL_OUTPUT, &y),
            xnn_status_success);
  ASSERT_EQ(
      xnn_define_tensor_value(graph, xnn_datatype_fp32, 1, few, data, XNN_INVALID_VALUE_ID, 0, &w),
      xnn_status_success);
  constexpr uint32_t kNone = XNN_INVALID_VALUE_ID;
  const petrel_norm no_groups = {1, 0, 12, kEpsilon}, odd_groups = {1, 5, 12, kEpsilon},
                    far_axis = {6, 1, 12, kEpsilon}, good = {1, 1, 12, kEpsilon};
  for (const petrel_norm* norm : {&no_groups, &odd_groups, &far_axis}) {
    EXPECT_EQ(petrel_define_norm(graph, norm, x, kNone, kNone, y), xnn_status_invalid_parameter);
  }
  EXPECT_EQ(petrel_define_norm(graph, &good, x, w, kNone, y), xnn_status_invalid_parameter);
  EXPECT_EQ(petrel_define_norm(graph, &good, x, kNone, y, y), xnn_status_invalid_parameter);
  EXPECT_EQ(petrel_define_norm(graph, &good, 99, kNone, kNone, y), xnn_status_invalid_parameter);
  EXPECT_EQ(petrel_define_norm(graph, &good, x, kNone, kNone, y), xnn_status_success);
}

// Kernels of fewer lanes than this machine takes.
TEST(NormKernels, OfAllInstructionSetsAgree) {
  std::vector<const norm_kernels*> all = {&norm_plain};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma")) all.push_back(&norm_fma3);
  if (__builtin_cpu_supports("avx512f")) all.push_back(&norm_avx512f);
#endif
  for (const norm_kernels* kernels : all) {
    for (const size_t size : {1, 4, 15, 16, 31, 64, 77, 200, 5000}) {
      SCOPED_TRACE(std::to_string(kernels->lanes) + " lanes, " + std::to_string(size));
      const Shape shape = {{3, size}, 1, 1};
      const Floats x = numbers(shape.size(), 1, 2, 1), weight = numbers(size, 1, 1, 2);
      const Floats bias = numbers(size, 0, 1, 3);
      // In place, with an element behind that stays.
      Floats y = x;
      y.push_back(7);
      kernels->rows(y.data(), y.data(), 3, size, weight.data(), bias.data(), kEpsilon);
      const std::vector<double> right = expected(shape, x, weight, bias);
      for (size_t i = 0; i < right.size(); ++i) {
        ASSERT_NEAR(y[i], right[i], 3e-6 * std::max(1.0, std::abs(right[i]))) << i;
      }
      EXPECT_EQ(y.back(), 7);
      const norm_pixels pixels = {3, size, size};
      double sum = 0, squares = 0, sum_of_all = 0, squares_of_all = 0;
      const float center = 1;
      for (const float number : x) {
        sum_of_all += number;
        squares_of_all += (number - 1.0) * (number - 1.0);
      }
      kernels->add(&pixels, x.data(), nullptr, &sum);
      kernels->add(&pixels, x.data(), &center, &squares);
      EXPECT_NEAR(sum, sum_of_all, 1e-5 * static_cast<double>(size));
      EXPECT_NEAR(squares, squares_of_all, 1e-5 * static_cast<double>(size));
    }
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
