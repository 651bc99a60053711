// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/constant_facts.h"

#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/types/span.h"
#include "exir/ir/type.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

// Of zeros, or of one number behind them; `reads` counts who asks for its bytes.
ConstantPtr constant_of(bool zero, int* reads, Constant::Kind kind = Constant::Kind::kParameter) {
  auto made = std::make_shared<Constant>();
  made->fqn = "c";
  made->kind = kind;
  made->type = TensorType::contiguous(ScalarType::kChar, {8});
  made->data = Blob::produced(8, [zero, reads](absl::Span<uint8_t> out) {
    ++*reads;
    std::memset(out.data(), 0, out.size());
    out[7] = zero ? 0 : 1;
  });
  return made;
}

TEST(ConstantFacts, AConstantIsReadOnce) {
  for (const bool zero : {true, false}) {
    int reads = 0;
    const ConstantPtr constant = constant_of(zero, &reads);
    {
      const ConstantFacts facts;
      for (int i = 0; i < 3; ++i) {
        const ConstantFacts inner;
        EXPECT_EQ(is_zero(constant), zero);
      }
    }
    EXPECT_EQ(reads, 1);
    EXPECT_EQ(is_zero(constant), zero);
    EXPECT_EQ(reads, 2);
  }
}

TEST(ConstantFacts, NothingIsKnownOfState) {
  int reads = 0;
  EXPECT_FALSE(is_zero(constant_of(true, &reads, Constant::Kind::kMutableBuffer)));
  EXPECT_EQ(reads, 0);
}

}  // namespace
}  // namespace petrel::exir
