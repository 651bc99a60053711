// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/shared_work.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

TEST(SharedWork, DoesEachPieceOnceWhateverTheNumberOfThreads) {
  for (const size_t helpers : {0, 1, 3, 16}) {
    for (const size_t pieces : {0, 1, 2, 100}) {
      std::vector<int> done(pieces);  // without locks: finish() makes them seen
      SharedWork work(pieces, helpers, [&](size_t i) { ++done[i]; });
      work.finish();
      work.finish();
      EXPECT_EQ(done, std::vector<int>(pieces, 1)) << helpers << " helpers";
    }
  }
}

TEST(SharedWork, WithoutHelpersTheCallerDoesAllInOrder) {
  std::vector<size_t> order;
  const std::thread::id self = std::this_thread::get_id();
  SharedWork work(5, 0, [&](size_t i) {
    EXPECT_EQ(std::this_thread::get_id(), self);
    order.push_back(i);
  });
  EXPECT_TRUE(order.empty());
  work.finish();
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

// The owner waits for a helper here, so that it could not end if helpers began at finish() only.
TEST(SharedWork, HelpersWorkWhileTheOwnerDoesSomethingElse) {
  std::atomic<bool> begun{false};
  SharedWork work(1, 1, [&](size_t) { begun = true; });
  while (!begun) std::this_thread::yield();
  work.finish();
}

TEST(SharedWork, DestructionWaitsForBegunPiecesAndDropsOthers) {
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  std::atomic<bool> may_end{false};
  std::thread opener;
  {
    SharedWork work(1000, 1, [&](size_t) {
      ++begun;
      while (!may_end) std::this_thread::yield();
      ++ended;
    });
    while (begun == 0) std::this_thread::yield();
    opener = std::thread([&] { may_end = true; });
  }
  EXPECT_EQ(begun, ended);
  opener.join();
}

TEST(SharedWork, ThereIsAtLeastOneThread) { EXPECT_GE(work_threads(), 1u); }

}  // namespace
}  // namespace petrel::exir
