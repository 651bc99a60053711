// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/refusals.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/kernels/portable/kernels.h"
#include "runtime/kernels/portable/recorded_call.h"

namespace petrel::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Refusals, OfReferenceKernelsAreThoseThatAreKept) {
  const Refusals kept = kept_refusals();
  const Refusals found = refusals_of([](const std::string& name) -> const Kernel* {
    for (const Kernel& kernel : portable_kernels()) {
      if (name == kernel.name) return &kernel;
    }
    return nullptr;
  });
  EXPECT_THAT(differences(kept, found), IsEmpty());
  EXPECT_EQ(kept.size(), found.size()) << "write refusals.txt anew (refusals.h)";
}

TEST(Refusals, ThatDifferAreNamed) {
  const std::string name = test::load_eager_cases(kRecordedCalls).front().name;
  Refusals kept = {{name, kept_refusals().at(name)}};
  Refusals found = kept;
  kept[name][0] = '8';
  found[name][0] = '4';
  EXPECT_THAT(differences(kept, found),
              ElementsAre(name + ": all like x0: type 11: is taken, was refused",
                          name + ": all like x0: type 0: is refused, was taken"));
}

}  // namespace
}  // namespace petrel::runtime
