// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/kernels.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "runtime/core/log.h"
#include "runtime/kernels/portable/recorded_call.h"

namespace petrel::runtime {
namespace {

const Kernel* find(const std::string& name) {
  for (const Kernel& kernel : portable_kernels()) {
    if (name == kernel.name) return &kernel;
  }
  return nullptr;
}

TEST(PortableKernels, AgreeWithEagerTorch) {
  for (const test::EagerCase& one : test::load_eager_cases(kRecordedCalls)) {
    SCOPED_TRACE(one.name);
    ASSERT_TRUE(one.call.has_value());
    const Kernel* kernel = find(one.call->function);
    ASSERT_NE(kernel, nullptr) << one.call->function;
    RecordedCall(one).run(*kernel, 1.0);
  }
}

// Operators of which torch has no out-variant to call, whose functions serve
// others that are compared; and random ones, which random_test.cc tests.
TEST(PortableKernels, AreAllCompared) {
  std::set<std::string> compared = {"dim_order_ops::_clone_dim_order.out",
                                    "dim_order_ops::_to_dim_order_copy.out",
                                    "aten::copy_",
                                    "aten::index_put_",
                                    "aten::empty.out",
                                    "dim_order_ops::_empty_dim_order.out",
                                    "aten::rand.out",
                                    "aten::randn.out",
                                    "aten::native_dropout.out"};
  for (const test::EagerCase& one : test::load_eager_cases(kRecordedCalls)) {
    ASSERT_TRUE(one.call.has_value()) << one.name;
    compared.insert(one.call->function);
  }
  for (const Kernel& kernel : portable_kernels()) {
    EXPECT_EQ(compared.count(kernel.name), 1u) << kernel.name;
  }
}

TEST(PortableKernels, HaveUniqueNames) {
  std::set<std::string> names;
  for (const Kernel& kernel : portable_kernels()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
  }
}

// A tensor of one element.
struct One {
  One(ScalarType type, void* data, size_t bytes) : impl(type, 1, &size, nullptr, &order, &stride) {
    EXPECT_EQ(impl.set_data(data, bytes), Error::Ok);
  }
  int32_t size = 1;
  uint8_t order = 0;
  int64_t stride = 1;
  TensorImpl impl;
};

// Its zero point is as far from quant_min as numbers go.
TEST(PortableKernels, ChooseParametersWhereTheScaleIsZero) {
  const Kernel* kernel = find("quantized_decomposed::choose_qparams.Tensor_out");
  ASSERT_NE(kernel, nullptr);
  float x = -1e-45f;
  double scale = 1;
  int64_t zero_point = 0;
  One x_tensor(ScalarType::Float, &x, sizeof(x));
  One scale_tensor(ScalarType::Double, &scale, sizeof(scale));
  One zero_point_tensor(ScalarType::Long, &zero_point, sizeof(zero_point));
  EValue values[] = {EValue(Tensor(&x_tensor.impl)),
                     EValue(int64_t{0}),
                     EValue(int64_t{255}),
                     EValue(0.0),
                     EValue(static_cast<int64_t>(ScalarType::Byte)),
                     EValue(Tensor(&scale_tensor.impl)),
                     EValue(Tensor(&zero_point_tensor.impl))};
  EValue* args[7];
  for (size_t i = 0; i < 7; ++i) args[i] = &values[i];
  KernelRuntimeContext context(nullptr, nullptr, kernel->name);
  kernel->fn(context, Span<EValue*>(args, 7));
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(scale, 0);
  EXPECT_EQ(zero_point, 255);
}

// Every argument of the wrong type, and every missing argument, must fail the
// call without touching memory it should not (run under AddressSanitizer).
TEST(PortableKernels, FailOnArgumentsOfOtherTypes) {
  set_log_hook(LogHook{});
  int32_t sizes[2] = {2, 2};
  uint8_t order[2] = {0, 1};
  int64_t strides[2] = {2, 1};
  float data[4] = {1, 2, 3, 4};
  TensorImpl impl(ScalarType::Float, 2, sizes, nullptr, order, strides);
  ASSERT_EQ(impl.set_data(data, sizeof(data)), Error::Ok);
  const bool flags[] = {true, false};
  const double reals[] = {0.5, -1.0};
  EValue one(int64_t{1});
  EValue* int_items[] = {&one, &one};
  int64_t unboxed[2];
  BoxedIntList ints{Span<EValue*>(int_items), unboxed};
  EValue tensor{Tensor(&impl)};
  EValue* tensor_items[] = {&tensor, &tensor};
  Tensor tensors[2] = {Tensor(&impl), Tensor(&impl)};
  BoxedTensorList tensor_list{Span<EValue*>(tensor_items), tensors};
  EValue values[] = {EValue(),
                     EValue(int64_t{-7}),
                     EValue(1e300),
                     EValue(true),
                     tensor,
                     EValue(std::string_view("none")),
                     EValue(Span<const bool>(flags)),
                     EValue(Span<const double>(reals)),
                     EValue(&ints),
                     EValue(&tensor_list)};
  constexpr size_t kMostArguments = 16;
  uint32_t random = 12345;
  for (const Kernel& kernel : portable_kernels()) {
    for (int round = 0; round < 300; ++round) {
      EValue* args[kMostArguments];
      random = random * 1664525u + 1013904223u;
      const size_t count = (random >> 8) % (kMostArguments + 1);
      for (size_t i = 0; i < count; ++i) {
        random = random * 1664525u + 1013904223u;
        args[i] = &values[(random >> 16) % (sizeof(values) / sizeof(values[0]))];
      }
      KernelRuntimeContext context(nullptr, nullptr, kernel.name);
      kernel.fn(context, Span<EValue*>(args, count));
      if (count < 2) {
        EXPECT_NE(context.failure_state(), Error::Ok) << kernel.name;
      }
    }
  }
}

}  // namespace
}  // namespace petrel::runtime
