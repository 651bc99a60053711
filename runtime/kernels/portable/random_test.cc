// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/core/log.h"
#include "runtime/kernels/portable/functions.h"

namespace petrel::runtime {
namespace {

constexpr size_t kCount = 20000;

// A list of kCount elements.
class List {
 public:
  explicit List(ScalarType type)
      : memory_(kCount * 4), impl_(type, 1, &size_, nullptr, &order_, &stride_) {
    EXPECT_EQ(impl_.set_data(memory_.data(), impl_.nbytes()), Error::Ok);
  }
  template <typename T>
  T* data() {
    return reinterpret_cast<T*>(memory_.data());
  }
  EValue value() { return EValue(Tensor(&impl_)); }

 private:
  std::vector<uint8_t> memory_;
  int32_t size_ = kCount;
  uint8_t order_ = 0;
  int64_t stride_ = 1;
  TensorImpl impl_;
};

Error call(OpFunction function, std::vector<EValue> values) {
  std::vector<EValue*> args;
  for (EValue& v : values) args.push_back(&v);
  KernelRuntimeContext context;
  function(context, Span<EValue*>(args.data(), args.size()));
  return context.failure_state();
}

// kCount numbers of rand or randn.
std::vector<float> numbers(OpFunction function) {
  List out(ScalarType::Float);
  EValue size{int64_t{kCount}};
  EValue* items[] = {&size};
  int64_t unboxed[1];
  BoxedIntList sizes{Span<EValue*>(items), unboxed};
  EXPECT_EQ(call(function, {EValue(&sizes), out.value()}), Error::Ok);
  return std::vector<float>(out.data<float>(), out.data<float>() + kCount);
}

double mean_of(const std::vector<float>& list, double (*f)(double)) {
  double sum = 0;
  for (const float v : list) sum += f(v);
  return sum / static_cast<double>(list.size());
}
double itself(double x) { return x; }
double squared(double x) { return x * x; }

// Tolerances are five standard deviations of the estimate or more.
TEST(Random, RandIsUniform) {
  const std::vector<float> list = numbers(&portable::rand_out);
  EXPECT_GE(*std::min_element(list.begin(), list.end()), 0.0f);
  EXPECT_LT(*std::max_element(list.begin(), list.end()), 1.0f);
  EXPECT_NEAR(mean_of(list, itself), 0.5, 0.012);
  EXPECT_NEAR(mean_of(list, squared), 1.0 / 3.0, 0.012);
  size_t bins[10] = {};
  for (const float v : list) ++bins[static_cast<size_t>(v * 10.0f)];
  for (const size_t count : bins) EXPECT_NEAR(static_cast<double>(count), kCount / 10.0, 250.0);
}

TEST(Random, RandnIsNormal) {
  const std::vector<float> list = numbers(&portable::randn_out);
  EXPECT_NEAR(mean_of(list, itself), 0.0, 0.04);
  EXPECT_NEAR(mean_of(list, squared), 1.0, 0.06);
  const auto within =
      std::count_if(list.begin(), list.end(), [](float v) { return std::fabs(v) < 1.0f; });
  EXPECT_NEAR(static_cast<double>(within) / kCount, 0.6827, 0.02);
}

TEST(Random, CallsDiffer) { EXPECT_NE(numbers(&portable::rand_out), numbers(&portable::rand_out)); }

TEST(Random, DropoutDropsOnlyInTraining) {
  List in(ScalarType::Float), out(ScalarType::Float), mask(ScalarType::Bool);
  for (size_t i = 0; i < kCount; ++i) in.data<float>()[i] = 3.0f;
  ASSERT_EQ(call(&portable::native_dropout_out,
                 {in.value(), EValue(0.25), EValue(false), out.value(), mask.value()}),
            Error::Ok);
  for (size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(out.data<float>()[i], 3.0f);
    ASSERT_EQ(mask.data<uint8_t>()[i], 1);
  }
  ASSERT_EQ(call(&portable::native_dropout_out,
                 {in.value(), EValue(0.25), EValue(true), out.value(), mask.value()}),
            Error::Ok);
  size_t kept = 0;
  for (size_t i = 0; i < kCount; ++i) {
    kept += mask.data<uint8_t>()[i];
    ASSERT_EQ(out.data<float>()[i], mask.data<uint8_t>()[i] != 0 ? 4.0f : 0.0f);
  }
  EXPECT_NEAR(static_cast<double>(kept), kCount * 0.75, 350.0);
}

TEST(Random, DropoutRefusesProbabilitiesOutside) {
  set_log_hook(LogHook{});
  List in(ScalarType::Float), out(ScalarType::Float), mask(ScalarType::Bool);
  for (const double p : {-0.1, 1.5, std::nan("")}) {
    EXPECT_EQ(call(&portable::native_dropout_out,
                   {in.value(), EValue(p), EValue(true), out.value(), mask.value()}),
              Error::InvalidArgument);
  }
}

}  // namespace
}  // namespace petrel::runtime
