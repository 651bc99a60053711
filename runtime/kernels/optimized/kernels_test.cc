// SPDX-License-Identifier: Apache-2.0
//
// The recorded calls, with the reference kernels and with the optimized ones
// before them, one and several threads; and calls of many sizes, where the two
// must agree.
#include "runtime/kernels/optimized/kernels.h"

#include <set>
#include <string>

#include "gtest/gtest.h"
#include "runtime/core/log.h"
#include "runtime/executor/registry.h"
#include "runtime/kernels/portable/kernels.h"
#include "runtime/kernels/portable/recorded_call.h"

namespace petrel::runtime {
namespace {

constexpr KernelLibrary kReferenceLibraries[] = {&portable_kernels};
constexpr KernelLibrary kOptimizedLibraries[] = {&optimized_kernels, &portable_kernels};
constexpr Registry kReference(kReferenceLibraries, {});
constexpr Registry kOptimized(kOptimizedLibraries, {});

struct Library {
  const char* name;
  const Registry* registry;
  // Float sums instead of double ones.
  double slack;
};

class KernelLibraries : public ::testing::TestWithParam<Library> {};

TEST_P(KernelLibraries, AgreeWithEagerTorch) {
  for (const test::EagerCase& one : test::load_eager_cases(kRecordedCalls)) {
    SCOPED_TRACE(one.name);
    ASSERT_TRUE(one.call.has_value());
    const Kernel* kernel = GetParam().registry->find_kernel(one.call->function.c_str());
    ASSERT_NE(kernel, nullptr) << one.call->function;
    RecordedCall(one).run(*kernel, GetParam().slack);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelLibraries,
                         ::testing::Values(Library{"reference", &kReference, 1.0},
                                           Library{"optimized", &kOptimized, 2.0}),
                         [](const auto& info) { return info.param.name; });

// An output of one row lies in any order of dims; the result has two rows.
TEST(OptimizedKernels, WriteProductsInTheOrderOfTheOutput) {
  double a[] = {1, 2, 3, 4}, b[] = {1, 0, 10, 1}, out[4] = {};
  int32_t sizes[] = {2, 2}, out_sizes[] = {2, 2};
  uint8_t order[] = {0, 1}, out_order[] = {1, 0};
  int64_t strides[2], out_strides[2];
  TensorImpl left(ScalarType::Double, 2, sizes, a, order, strides);
  TensorImpl right(ScalarType::Double, 2, sizes, b, order, strides);
  TensorImpl result(ScalarType::Double, 2, out_sizes, out, out_order, out_strides,
                    TensorShapeDynamism::DYNAMIC_BOUND);
  const int32_t one_row[] = {1, 2};
  ASSERT_EQ(result.resize(one_row), Error::Ok);
  EValue values[] = {EValue(Tensor(&left)), EValue(Tensor(&right)), EValue(Tensor(&result))};
  EValue* args[] = {&values[0], &values[1], &values[2]};
  KernelRuntimeContext context;
  kOptimized.find_kernel("aten::mm.out")->fn(context, Span<EValue*>(args));
  ASSERT_EQ(context.failure_state(), Error::Ok);
  const double expected[] = {21, 43, 2, 4};  // column by column
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

TEST(OptimizedKernels, StandForPortableOnesOfTheSameName) {
  std::set<std::string> portable, optimized;
  for (const Kernel& kernel : portable_kernels()) portable.insert(kernel.name);
  for (const Kernel& kernel : optimized_kernels()) {
    EXPECT_EQ(portable.count(kernel.name), 1u) << kernel.name;
    EXPECT_TRUE(optimized.insert(kernel.name).second) << kernel.name;
    EXPECT_EQ(kOptimized.find_kernel(kernel.name)->fn, kernel.fn);
  }
}

}  // namespace
}  // namespace petrel::runtime
