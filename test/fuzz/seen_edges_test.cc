// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/seen_edges.h"

#include <gtest/gtest.h>

#include <cstdint>

extern "C" void __sanitizer_cov_8bit_counters_init(uint8_t* first, uint8_t* last);

namespace petrel::fuzz {
namespace {

// Not a multiple of what is looked at together.
uint8_t counters[150];

class SeenEdgesTest : public testing::Test {
 protected:
  SeenEdgesTest() { __sanitizer_cov_8bit_counters_init(counters, counters + sizeof(counters)); }

  static bool take(SeenEdges& seen, size_t edge, uint8_t count) {
    counters[edge] = count;
    return seen.take();
  }
};

TEST_F(SeenEdgesTest, ShowAnEdgeOnce) {
  SeenEdges seen;
  EXPECT_FALSE(seen.take());
  for (const size_t edge : {size_t{0}, size_t{63}, size_t{64}, size_t{149}}) {
    EXPECT_TRUE(take(seen, edge, 1));
    EXPECT_FALSE(take(seen, edge, 1));
  }
  EXPECT_EQ(seen.count(), 4u);
}

TEST_F(SeenEdgesTest, ShowAnEdgeThatIsTakenMoreOften) {
  SeenEdges seen;
  EXPECT_TRUE(take(seen, 7, 1));
  EXPECT_TRUE(take(seen, 7, 2));
  EXPECT_TRUE(take(seen, 7, 5));
  EXPECT_FALSE(take(seen, 7, 7));
  EXPECT_TRUE(take(seen, 7, 255));
  EXPECT_FALSE(take(seen, 7, 128));
  EXPECT_EQ(seen.count(), 1u);
}

TEST_F(SeenEdgesTest, ForgetWhatHasNotBeenTaken) {
  SeenEdges seen;
  counters[5] = 1;
  counters[149] = 1;
  seen.forget();
  EXPECT_FALSE(seen.take());
  EXPECT_EQ(seen.count(), 0u);
}

}  // namespace
}  // namespace petrel::fuzz
