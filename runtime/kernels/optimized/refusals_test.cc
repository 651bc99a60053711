// SPDX-License-Identifier: Apache-2.0
//
// Optimized kernels refuse what the reference kernels refuse, and nothing else.

#include "runtime/kernels/portable/refusals.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/kernels/optimized/kernels.h"

namespace petrel::runtime {
namespace {

TEST(OptimizedKernels, RefuseWhatTheReferenceKernelsRefuse) {
  const Refusals found = refusals_of([](const std::string& name) -> const Kernel* {
    for (const Kernel& kernel : optimized_kernels()) {
      if (name == kernel.name) return &kernel;
    }
    return nullptr;
  });
  EXPECT_GT(found.size(), 100u);
  EXPECT_THAT(differences(kept_refusals(), found), ::testing::IsEmpty());
}

}  // namespace
}  // namespace petrel::runtime
