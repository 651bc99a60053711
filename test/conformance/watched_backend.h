// SPDX-License-Identifier: Apache-2.0
//
// The backend under test with a wrapper around it that counts handles and named
// data, and makes things fail:
//
//   Method -> WatchedBackend -> the backend under test
//                  |  named data through a map that counts what is out
//
//   Watch& watch = reset_watch();
//   watch.fail_init = 1;             // the second init, before it is reached
//   ... load, run, destroy ...
//   EXPECT_EQ(watch.live(), 0);
#ifndef PETREL_TEST_CONFORMANCE_WATCHED_BACKEND_H_
#define PETREL_TEST_CONFORMANCE_WATCHED_BACKEND_H_

#include <atomic>

#include "runtime/backend/interface.h"

namespace petrel::conformance {

struct Watch {
  enum class DataFault { kError, kShort, kOtherBytes };

  // Counted from 0; -1: never.
  std::atomic<int> fail_init{-1};
  std::atomic<int> fail_data{-1};
  DataFault data_fault = DataFault::kError;

  std::atomic<int> inits{0};     // that succeeded
  std::atomic<int> fixed{0};     // of them, that were told that sizes are fixed
  std::atomic<int> attempts{0};  // of init
  std::atomic<int> destroyed{0};
  std::atomic<int> requests{0};     // for named data
  std::atomic<int> buffers_out{0};  // named data that was not given back

  int live() const { return inits - destroyed; }
};

// Clean again; handles must not be alive.
Watch& reset_watch();

// Under the name of the backend under test.
runtime::Backend watched_backend();

}  // namespace petrel::conformance

#endif  // PETREL_TEST_CONFORMANCE_WATCHED_BACKEND_H_
