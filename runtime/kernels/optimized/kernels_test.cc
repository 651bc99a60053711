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
