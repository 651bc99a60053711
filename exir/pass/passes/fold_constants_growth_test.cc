// SPDX-License-Identifier: Apache-2.0
//
// What constants are computed from is walked within the work that foldings may take.
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/ir/allocated_bytes.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/pass/passes/fold_constants.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

// Each number of a chain is an output, and is computed from all before it.
size_t bytes_without_work(int nodes) {
  std::string text = "method @m() {\n%x0 = constant @w : f32[20000]\n";
  std::string returned = "%x0";
  for (int i = 0; i < nodes; ++i) {
    absl::StrAppend(&text, "%x", i + 1, " = aten.sin.default(%x", i, ")\n");
    absl::StrAppend(&returned, ", %x", i + 1);
  }
  const auto graph = graph_of(absl::StrCat(text, "return ", returned, " }"));
  if (graph == nullptr) return 0;
  const size_t before = allocated_bytes();
  EXPECT_TRUE(fold_constants_within(*graph, 1).ok());
  return allocated_bytes() - before;
}

TEST(FoldConstantsGrowth, WalksThatNobodyPaysForAreNotMade) {
  const size_t few = bytes_without_work(200);
  EXPECT_GT(few, 0u);
  EXPECT_LT(bytes_without_work(800), 6 * few);
}

}  // namespace
}  // namespace petrel::exir
