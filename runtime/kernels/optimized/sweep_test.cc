// SPDX-License-Identifier: Apache-2.0
//
// Optimized kernels against the portable ones, which eager torch has checked,
// on sizes around the widths of vectors and tiles, on values with NaN and
// infinities, in channels-last order, on several threads and with each
// instruction set of this machine.
#include "runtime/kernels/optimized/instruction_sets.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/targets.h"
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

struct Machine {
  int64_t target;  // one of Highway's
  size_t threads;
};

std::vector<Machine> machines() {
  std::vector<Machine> list = {{optimized::supported_targets(), 3}};
  for (int64_t left = list[0].target; left != 0; left &= left - 1) {
    list.push_back({left & -left, 1});
  }
  return list;
}

class Sweep : public ::testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    ASSERT_EQ(set_thread_count(GetParam().threads), Error::Ok);
    optimized::choose_among(GetParam().target);
  }
  void TearDown() override {
    optimized::choose_among(0);
    ASSERT_EQ(set_thread_count(0), Error::Ok);
  }

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

constexpr ScalarType kBool = ScalarType::Bool;

// Operands that broadcast in every way there is a path for.
const std::pair<Sizes, Sizes> kOperands[] = {
    {{1}, {1}},          {{17}, {17}},         {{17}, {1}},           {{1}, {17}},
    {{70001}, {70001}},  {{3, 5, 19}, {19}},   {{3, 5, 19}, {5, 1}},  {{5, 1}, {3, 5, 19}},
    {{4, 1, 6}, {3, 1}}, {{2, 8, 4, 4}, {8, 1, 1}}, {{33, 2000}, {33, 1}}, {{0, 3}, {3}},
    {{}, {}},            {{}, {3, 4}}};

Sizes broadcast(const Sizes& a, const Sizes& b) {
  Sizes out(std::max(a.size(), b.size()), 1);
  for (const Sizes& s : {a, b}) {
    for (size_t i = 0; i < s.size(); ++i) {
      int32_t& size = out[out.size() - s.size() + i];
      if (s[i] != 1) size = s[i];
    }
  }
  return out;
}

TEST_P(Sweep, BinaryFunctions) {
  for (const auto& [sa, sb] : kOperands) {
    const Sizes so = broadcast(sa, sb);
    for (const ScalarType type : {kFloat, ScalarType::Long, ScalarType::Int, ScalarType::Half}) {
      const bool wild = type == kFloat;
      const double tolerance = type == ScalarType::Half ? 2e-3 : wild ? 3e-7 : 0.0;
      Array* a = random(type, sa, -5, 5, wild);
      Array* b = random(type, sb, -5, 5, wild);
      for (const char* name : {"add", "sub"}) {
        for (const int64_t alpha : {1, 3}) {
          compare(("aten::" + std::string(name) + ".out").c_str(),
                  {value(a), value(b), EValue(alpha)}, {{type, so}}, tolerance);
          compare(("aten::" + std::string(name) + ".Scalar_out").c_str(),
                  {value(a), EValue(int64_t{4}), EValue(alpha)}, {{type, sa}}, tolerance);
        }
      }
      compare("aten::rsub.Scalar_out", {value(a), EValue(int64_t{4}), EValue(int64_t{2})},
              {{type, sa}}, tolerance);
      for (const char* name : {"mul", "maximum", "minimum"}) {
        compare(("aten::" + std::string(name) + ".out").c_str(), {value(a), value(b)},
                {{type, so}}, tolerance);
      }
      if (wild) compare("aten::div.out", {value(a), value(b)}, {{type, so}}, tolerance);
      for (const char* name : {"eq", "ne", "lt", "le", "gt", "ge"}) {
        compare(("aten::" + std::string(name) + ".Tensor_out").c_str(), {value(a), value(b)},
                {{kBool, so}}, 0);
        compare(("aten::" + std::string(name) + ".Scalar_out").c_str(),
                {value(a), EValue(int64_t{2})}, {{kBool, sa}}, 0);
        compare(("aten::" + std::string(name) + ".Scalar_out").c_str(), {value(a), EValue(0.5)},
                {{kBool, sa}}, 0);
      }
      compare("aten::pow.Tensor_Scalar_out", {value(a), EValue(int64_t{2})}, {{type, sa}},
              tolerance);
    }
    Array *p = random(kBool, sa, -1, 1), *q = random(kBool, sb, -1, 1);
    for (const char* name : {"logical_and.out", "logical_or.out", "logical_xor.out",
                             "bitwise_and.Tensor_out", "bitwise_or.Tensor_out"}) {
      compare(("aten::" + std::string(name)).c_str(), {value(p), value(q)}, {{kBool, so}}, 0);
    }
  }
}

TEST_P(Sweep, ChannelsLastOperands) {
  const Sizes sizes = {2, 5, 7, 3};
  Array *a = random(kFloat, sizes, -3, 3, true, true), *b = random(kFloat, sizes, -3, 3, true, true);
  Array *plain = floats(sizes), *bias = floats({5, 1, 1});
  for (Array* other : {b, plain, bias}) {
    for (const bool channels_last : {true, false}) {
      compare("aten::add.out", {value(a), value(other), EValue(int64_t{1})}, {{kFloat, sizes}},
              3e-7, channels_last);
    }
  }
}

TEST_P(Sweep, IntegersWrap) {
  Array* a = make(ScalarType::Int, {5});
  for (size_t i = 0; i < 5; ++i) a->set(i, 2147483647.0 - static_cast<double>(i));
  compare("aten::mul.out", {value(a), value(a)}, {{ScalarType::Int, {5}}}, 0);
  compare("aten::add.out", {value(a), value(a), EValue(int64_t{1})}, {{ScalarType::Int, {5}}}, 0);
}

TEST_P(Sweep, ChosenElements) {
  for (const auto& [sa, sb] : kOperands) {
    const Sizes so = broadcast(sa, sb);
    for (const ScalarType type : {kFloat, ScalarType::Long, ScalarType::Half, ScalarType::Byte}) {
      Array *a = random(type, sa, 0, 5), *b = random(type, sb, 0, 5);
      Array *c = random(kBool, sb, -1, 1), *whole = random(kBool, so, -1, 1);
      compare("aten::where.self_out", {value(c), value(a), value(b)}, {{type, so}}, 0);
      compare("aten::where.self_out", {value(whole), value(a), value(b)}, {{type, so}}, 0);
      compare("aten::masked_fill.Scalar_out", {value(a), value(c), EValue(int64_t{3})},
              {{type, so}}, 0);
    }
  }
}

// Sizes, the dims to reduce, and whether rows or columns are left.
const std::pair<Sizes, std::vector<int64_t>> kReductions[] = {
    {{1}, {0}},          {{17}, {0}},        {{70001}, {0}},      {{5, 33}, {1}},
    {{5, 33}, {0}},      {{4, 100, 130}, {1}}, {{3, 4, 5, 6}, {2, 3}}, {{3, 4, 5, 6}, {0, 1}},
    {{3, 4, 5, 6}, {0, 2}}, {{1, 64, 7, 7}, {2, 3}}, {{2, 300, 3}, {-2}}, {{300, 300}, {0, 1}}};

TEST_P(Sweep, Reductions) {
  for (const auto& [sizes, dims] : kReductions) {
    for (const bool keepdim : {true, false}) {
      for (const bool wild : {true, false}) {
        Sizes out;
        for (size_t d = 0; d < sizes.size(); ++d) {
          bool reduced = false;
          for (int64_t dim : dims) {
            reduced |= dim == static_cast<int64_t>(d) ||
                       dim + static_cast<int64_t>(sizes.size()) == static_cast<int64_t>(d);
          }
          if (!reduced) out.push_back(sizes[d]);
          if (reduced && keepdim) out.push_back(1);
        }
        Array* x = random(kFloat, sizes, -3, 3, wild);
        const std::vector<EValue> sum = {value(x), int_list(dims), EValue(keepdim), EValue()};
        compare("aten::sum.IntList_out", sum, {{kFloat, out}}, 1e-5);
        compare("aten::mean.out", sum, {{kFloat, out}}, 1e-6);
        const std::vector<EValue> most = {value(x), int_list(dims), EValue(keepdim)};
        compare("aten::amax.out", most, {{kFloat, out}}, 0);
        compare("aten::amin.out", most, {{kFloat, out}}, 0);
        compare("aten::var.correction_out",
                {value(x), int_list(dims), EValue(int64_t{1}), EValue(keepdim)}, {{kFloat, out}},
                2e-6);
        Array* flags = random(kBool, sizes, -1, 1);
        compare("aten::any.dims_out", {value(flags), int_list(dims), EValue(keepdim)},
                {{kBool, out}}, 0);
        if (dims.size() > 1) continue;
        compare("aten::argmax.out", {value(x), EValue(dims[0]), EValue(keepdim)},
                {{ScalarType::Long, out}}, 0);
        compare("aten::max.dim_max", {value(x), EValue(dims[0]), EValue(keepdim)},
                {{kFloat, out}, {ScalarType::Long, out}}, 0);
        for (const char* name : {"aten::_softmax.out", "aten::_log_softmax.out"}) {
          compare(name, {value(x), EValue(dims[0]), EValue(false)}, {{kFloat, sizes}}, 2e-6);
        }
      }
    }
  }
}

TEST_P(Sweep, SoftmaxOfMaskedRows) {
  Array* x = floats({4, 19});
  for (size_t i = 0; i < 19; ++i) x->set(i, -std::numeric_limits<double>::infinity());
  for (size_t i = 25; i < 38; ++i) x->set(i, -std::numeric_limits<double>::infinity());
  for (size_t i = 38; i < 57; ++i) x->set(i, 1e4 + static_cast<double>(i));
  for (const int64_t dim : {0, 1}) {
    for (const char* name : {"aten::_softmax.out", "aten::_log_softmax.out"}) {
      compare(name, {value(x), EValue(dim), EValue(false)}, {{kFloat, {4, 19}}}, 2e-6);
    }
  }
}

TEST_P(Sweep, Normalisations) {
  for (const int32_t n : {1, 7, 16, 33, 192, 1000}) {
    const int32_t rows = n == 192 ? 197 : 5;
    Array *x = random(kFloat, {2, rows, n}, 3, 9), *w = floats({n}), *b = floats({n});
    for (const bool affine : {true, false}) {
      compare("aten::native_layer_norm.out",
              {value(x), int_list({n}), affine ? value(w) : EValue(), affine ? value(b) : EValue(),
               EValue(1e-5)},
              {{kFloat, {2, rows, n}}, {kFloat, {2, rows, 1}}, {kFloat, {2, rows, 1}}}, 1e-5);
    }
    Array *image = random(kFloat, {2, 6, 1, n}, -4, 4), *cw = floats({6}), *cb = floats({6});
    compare("aten::native_group_norm.out",
            {value(image), value(cw), value(cb), EValue(int64_t{2}), EValue(int64_t{6}),
             EValue(int64_t{n}), EValue(int64_t{3}), EValue(1e-5)},
            {{kFloat, {2, 6, 1, n}}, {kFloat, {2, 3}}, {kFloat, {2, 3}}}, 1e-5);
    Array *mean = floats({6}), *variance = floats({6}, 0.1, 2.0);
    compare("aten::_native_batch_norm_legit_no_training.out",
            {value(image), value(cw), EValue(), value(mean), value(variance), EValue(0.1),
             EValue(1e-5)},
            {{kFloat, {2, 6, 1, n}}, {kFloat, {0}}, {kFloat, {0}}}, 2e-6);
  }
}

struct Window {
  int32_t channels, out_channels, groups, height, width, rows, columns;
  int64_t stride, padding, dilation;
};

TEST_P(Sweep, Convolutions) {
  const Window windows[] = {
      {3, 8, 1, 9, 11, 3, 3, 1, 1, 1},    {3, 13, 1, 17, 16, 3, 3, 2, 1, 1},
      {5, 24, 1, 7, 7, 1, 1, 1, 0, 1},    {40, 6, 1, 7, 7, 1, 1, 2, 0, 1},
      {6, 6, 6, 12, 35, 3, 3, 1, 1, 1},   {6, 6, 6, 12, 35, 3, 3, 2, 1, 1},
      {6, 12, 6, 9, 40, 5, 5, 2, 2, 1},   {4, 4, 4, 10, 10, 3, 3, 1, 2, 2},
      {4, 4, 4, 5, 5, 3, 3, 3, 1, 1},     {8, 6, 2, 6, 33, 2, 3, 1, 0, 1},
      {2, 3, 1, 1, 1, 3, 3, 1, 1, 1},     {2, 5, 1, 8, 8, 3, 3, 1, 4, 3},
      {33, 97, 1, 6, 6, 3, 3, 1, 1, 1},   {2, 3, 1, 4, 4, 4, 4, 1, 0, 1},
      {2, 2, 1, 3, 40, 2, 2, 7, 5, 1},    {1, 1, 1, 2, 2, 1, 1, 1, 3, 1}};
  for (const Window& w : windows) {
    const auto out_size = [&](int64_t in, int64_t window) {
      return static_cast<int32_t>(
          (in + 2 * w.padding - w.dilation * (window - 1) - 1) / w.stride + 1);
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

struct PoolWindow {
  int32_t height, width;
  int64_t rows, columns, stride, padding, dilation;
  bool ceil_mode;
};

TEST_P(Sweep, Pools) {
  const PoolWindow windows[] = {
      {12, 35, 3, 3, 2, 1, 1, false}, {13, 36, 3, 3, 2, 1, 1, true},  {112, 112, 3, 3, 2, 1, 1, false},
      {7, 7, 7, 7, 1, 0, 1, false},   {8, 8, 2, 2, 2, 0, 1, false},   {9, 20, 3, 2, 3, 1, 2, true},
      {150, 130, 5, 5, 1, 2, 1, false}, {1, 1, 1, 1, 1, 0, 1, false}, {6, 40, 2, 4, 9, 1, 1, false}};
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

INSTANTIATE_TEST_SUITE_P(Machines, Sweep, ::testing::ValuesIn(machines()),
                         [](const auto& info) -> std::string {
                           if (info.param.threads > 1) return "threads";
                           return hwy::TargetName(info.param.target);
                         });

}  // namespace
}  // namespace petrel::runtime
