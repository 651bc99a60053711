// SPDX-License-Identifier: Apache-2.0
//
// Optimized kernels against the portable ones, which eager torch has checked,
// on sizes around the widths of vectors and tiles, on values with NaN and
// infinities, in channels-last order, and on several threads.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/core/log.h"
#include "runtime/kernels/optimized/kernels.h"
#include "runtime/kernels/portable/element.h"
#include "runtime/kernels/portable/kernels.h"
#include "runtime/threads/thread_count.h"

namespace petrel::runtime {
namespace {

using Sizes = std::vector<int32_t>;

// A tensor and its memory, in which canaries stand before and after.
class Array {
 public:
  Array(ScalarType type, Sizes sizes, bool channels_last = false)
      : sizes_(std::move(sizes)), order_(sizes_.size()), strides_(sizes_.size()) {
    for (size_t d = 0; d < sizes_.size(); ++d) order_[d] = static_cast<uint8_t>(d);
    if (channels_last) order_ = {0, 2, 3, 1};
    compute_strides(Span<const int32_t>(sizes_), Span<const uint8_t>(order_), strides_.data());
    impl_ = std::make_unique<TensorImpl>(type, static_cast<ssize_t>(sizes_.size()),
                                         sizes_.data(), nullptr, order_.data(), strides_.data());
    // Not aligned to more than the element: kernels must not count on it.
    memory_.assign(impl_->nbytes() + 2 * kMargin + 8, 0xa5);
    EXPECT_EQ(impl_->set_data(data(), impl_->nbytes()), Error::Ok);
  }

  uint8_t* data() { return memory_.data() + kMargin; }
  TensorImpl* impl() { return impl_.get(); }
  ScalarType type() const { return impl_->scalar_type(); }
  size_t numel() const { return impl_->numel(); }
  double at(size_t i) { return portable::loader<double>(type())(data(), i); }
  void set(size_t i, double v) { portable::storer<double>(type())(data(), i, v); }

  bool margins_are_untouched() const {
    for (size_t i = 0; i < kMargin; ++i) {
      if (memory_[i] != 0xa5 || memory_[kMargin + impl_->nbytes() + i] != 0xa5) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kMargin = 72;
  Sizes sizes_;
  std::vector<uint8_t> order_;
  std::vector<int64_t> strides_;
  std::vector<uint8_t> memory_;
  std::unique_ptr<TensorImpl> impl_;
};

class Sweep : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { ASSERT_EQ(set_thread_count(static_cast<size_t>(GetParam())), Error::Ok); }
  void TearDown() override { ASSERT_EQ(set_thread_count(0), Error::Ok); }

  Array* make(ScalarType type, Sizes sizes, bool channels_last = false) {
    arrays_.push_back(std::make_unique<Array>(type, std::move(sizes), channels_last));
    return arrays_.back().get();
  }

  // Uniform in [low, high); with `wild`, a NaN or an infinity now and then.
  Array* random(ScalarType type, Sizes sizes, double low, double high, bool wild = false,
                bool channels_last = false) {
    Array* array = make(type, std::move(sizes), channels_last);
    std::uniform_real_distribution<double> value(low, high);
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const double specials[] = {kInf, -kInf, std::nan(""), 0.0, -0.0, 1e-40, -1e-40};
    for (size_t i = 0; i < array->numel(); ++i) {
      array->set(i, wild && random_() % 16 == 0 ? specials[random_() % 7] : value(random_));
    }
    return array;
  }
  Array* floats(Sizes sizes, double low = -2.0, double high = 2.0) {
    return random(ScalarType::Float, std::move(sizes), low, high);
  }

  EValue value(Array* array) { return EValue(Tensor(array->impl())); }

  // Runs both kernels on `inputs`; outputs of each stand behind. Compares with
  // |a - b| <= tolerance * (1 + |b|).
  void compare(const char* name, std::vector<EValue> inputs,
               const std::vector<std::pair<ScalarType, Sizes>>& outputs, double tolerance,
               bool channels_last = false) {
    SCOPED_TRACE(name);
    std::vector<Array*> results[2];
    for (int k = 0; k < 2; ++k) {
      const Kernel* kernel = find(k == 0 ? portable_kernels() : optimized_kernels(), name);
      ASSERT_NE(kernel, nullptr);
      std::vector<EValue> values = inputs;
      for (const auto& [type, sizes] : outputs) {
        results[k].push_back(make(type, sizes, channels_last));
        values.push_back(value(results[k].back()));
      }
      std::vector<EValue*> args;
      for (EValue& v : values) args.push_back(&v);
      KernelRuntimeContext context(nullptr, nullptr, name);
      kernel->fn(context, Span<EValue*>(args.data(), args.size()));
      ASSERT_EQ(context.failure_state(), Error::Ok);
    }
    for (size_t r = 0; r < outputs.size(); ++r) {
      EXPECT_TRUE(results[1][r]->margins_are_untouched());
      int shown = 0;
      for (size_t i = 0; i < results[0][r]->numel() && shown < 3; ++i) {
        const double want = results[0][r]->at(i), got = results[1][r]->at(i);
        const bool same = std::isnan(want)   ? std::isnan(got)
                          : std::isinf(want) ? got == want
                                             : std::fabs(got - want) <=
                                                   tolerance * (1.0 + std::fabs(want));
        if (same) continue;
        ++shown;
        ADD_FAILURE() << "output " << r << " element " << i << " of "
                      << results[0][r]->numel() << ": " << got << ", must be " << want;
      }
    }
  }

  EValue int_list(std::vector<int64_t> values) {
    auto list = std::make_unique<IntList>();
    list->values = std::move(values);
    for (int64_t v : list->values) list->boxes.push_back(EValue(v));
    for (EValue& v : list->boxes) list->items.push_back(&v);
    list->unboxed.resize(list->values.size() + 1);
    list->list = BoxedIntList{Span<EValue*>(list->items.data(), list->items.size()),
                              list->unboxed.data()};
    lists_.push_back(std::move(list));
    return EValue(&lists_.back()->list);
  }

  std::mt19937 random_{12345};

 private:
  static const Kernel* find(Span<const Kernel> library, const std::string& name) {
    for (const Kernel& kernel : library) {
      if (name == kernel.name) return &kernel;
    }
    return nullptr;
  }

  struct IntList {
    std::vector<int64_t> values;
    std::vector<EValue> boxes;
    std::vector<EValue*> items;
    std::vector<int64_t> unboxed;
    BoxedIntList list;
  };
  std::vector<std::unique_ptr<Array>> arrays_;
  std::vector<std::unique_ptr<IntList>> lists_;
};

constexpr ScalarType kFloat = ScalarType::Float;
const int32_t kLengths[] = {0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 1000, 70001};

TEST_P(Sweep, UnaryFunctions) {
  const char* names[] = {"exp",  "expm1", "log",        "log1p", "log2", "log10", "tanh",
                         "sqrt", "rsqrt", "reciprocal", "abs",   "neg",  "ceil",  "floor",
                         "trunc", "round", "sign",      "relu",  "erf",  "sigmoid"};
  for (const char* name : names) {
    for (const int32_t n : kLengths) {
      Array* x = random(kFloat, {n}, -9.0, 9.0, /*wild=*/true);
      compare(("aten::" + std::string(name) + ".out").c_str(), {value(x)}, {{kFloat, {n}}}, 4e-7);
    }
  }
}

TEST_P(Sweep, UnaryFunctionsOverTheWholeRange) {
  const std::pair<const char*, std::pair<double, double>> ranges[] = {
      {"aten::exp.out", {-110, 95}},     {"aten::expm1.out", {-1, 1}},
      {"aten::log.out", {0, 4}},         {"aten::log.out", {0, 1e38}},
      {"aten::log.out", {0, 1e-37}},     {"aten::log1p.out", {-1, 1}},
      {"aten::log1p.out", {-1e-6, 1e-6}}, {"aten::tanh.out", {-12, 12}},
      {"aten::tanh.out", {-1e-3, 1e-3}}, {"aten::erf.out", {-6, 6}},
      {"aten::sigmoid.out", {-100, 100}}, {"aten::log2.out", {0, 20}},
      {"aten::log10.out", {0, 1000}}};
  for (const auto& [name, range] : ranges) {
    Array* x = random(kFloat, {20000}, range.first, range.second);
    compare(name, {value(x)}, {{kFloat, {20000}}}, 4e-7);
  }
}

TEST_P(Sweep, UnaryFunctionsWithParameters) {
  for (const int32_t n : {1, 17, 5000, 70001}) {
    Array* x = random(kFloat, {n}, -9.0, 9.0, /*wild=*/true);
    compare("aten::gelu.out", {value(x), EValue(std::string_view("none"))}, {{kFloat, {n}}}, 1e-6);
    compare("aten::gelu.out", {value(x), EValue(std::string_view("tanh"))}, {{kFloat, {n}}}, 1e-6);
    compare("aten::hardtanh.out", {value(x), EValue(0.0), EValue(6.0)}, {{kFloat, {n}}}, 0);
    compare("aten::clamp.out", {value(x), EValue(), EValue(int64_t{2})}, {{kFloat, {n}}}, 0);
    compare("aten::clamp.out", {value(x), EValue(3.0), EValue(-1.0)}, {{kFloat, {n}}}, 0);
    compare("aten::leaky_relu.out", {value(x), EValue(0.1)}, {{kFloat, {n}}}, 2e-7);
    compare("aten::elu.out", {value(x), EValue(1.1), EValue(1.05), EValue(0.9)}, {{kFloat, {n}}},
            4e-7);
  }
}

TEST_P(Sweep, ChannelsLast) {
  Array* x = random(kFloat, {2, 5, 7, 3}, -3, 3, false, /*channels_last=*/true);
  compare("aten::relu.out", {value(x)}, {{kFloat, {2, 5, 7, 3}}}, 0, true);
  compare("aten::exp.out", {value(x)}, {{kFloat, {2, 5, 7, 3}}}, 4e-7, false);
}

TEST_P(Sweep, MatrixProducts) {
  for (const int32_t m : {1, 2, 5, 6, 12, 13, 29, 200}) {
    for (const int32_t n : {1, 7, 16, 33, 100, 129}) {
      for (const int32_t k : {0, 1, 5, 64, 257, 600}) {
        const double tolerance = 1e-6 * (4 + k / 16);
        Array *a = floats({m, k}), *b = floats({k, n}), *w = floats({n, k}), *row = floats({n});
        compare("aten::mm.out", {value(a), value(b)}, {{kFloat, {m, n}}}, tolerance);
        compare("aten::addmm.out",
                {value(row), value(a), value(b), EValue(int64_t{1}), EValue(int64_t{1})},
                {{kFloat, {m, n}}}, tolerance);
        compare("aten::linear.out", {value(a), value(w), value(row)}, {{kFloat, {m, n}}},
                tolerance);
        if (k > 64) continue;
        Array *matrix = floats({m, n}), *column = floats({m, 1});
        for (Array* bias : {matrix, column}) {
          compare("aten::addmm.out",
                  {value(bias), value(a), value(b), EValue(int64_t{1}), EValue(int64_t{1})},
                  {{kFloat, {m, n}}}, tolerance);
        }
        Array *a3 = floats({3, m, k}), *b3 = floats({3, k, n});
        compare("aten::bmm.out", {value(a3), value(b3)}, {{kFloat, {3, m, n}}}, tolerance);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Sweep, ::testing::Values(1, 3),
                         [](const auto& info) { return std::to_string(info.param); });

}  // namespace
}  // namespace petrel::runtime
