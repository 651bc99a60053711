// SPDX-License-Identifier: Apache-2.0
//
// Work grows as the number of weights does. It is counted in bytes that are
// allocated, which every run repeats exactly.
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/ir/verifier.h"
#include "exir/pass/passes/fold_constants.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/pass/passes/remove_dead_code.h"
#include "gtest/gtest.h"

namespace {
size_t allocated_bytes = 0;
}  // namespace

void* operator new(size_t size) {
  allocated_bytes += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace petrel::exir {
namespace {

// A chain of additions of transposed weights, one each.
std::string chain(int weights) {
  std::string text = "method @m(%x: f32[3,2]) {\n";
  std::string previous = "x";
  for (int i = 0; i < weights; ++i) {
    absl::StrAppend(&text, "%w", i, " = constant @w", i, " : f32[2,3]\n");
    absl::StrAppend(&text, "%p", i, " = aten.permute.default(%w", i, ", [1, 0])\n");
    absl::StrAppend(&text, "%a", i, " = aten.add.Tensor(%", previous, ", %p", i, ")\n");
    previous = absl::StrCat("a", i);
  }
  return absl::StrCat(text, "return %", previous, " }");
}

size_t bytes_to_fold(int weights) {
  const auto graph = graph_of(chain(weights));
  if (graph == nullptr) return 0;
  const size_t before = allocated_bytes;
  EXPECT_TRUE(*fold_constants(*graph, {}));
  EXPECT_TRUE(*remove_dead_code(*graph, {}));
  EXPECT_TRUE(verify_graph(*graph).ok());
  EXPECT_EQ(graph->constants().size(), static_cast<size_t>(weights));
  return allocated_bytes - before;
}

TEST(Growth, FoldingAndVerifyingAreLinearInTheNumberOfWeights) {
  const size_t few = bytes_to_fold(250);
  const size_t many = bytes_to_fold(1000);
  EXPECT_GT(few, 0u);
  EXPECT_LT(many, 5 * few);
}

}  // namespace
}  // namespace petrel::exir
