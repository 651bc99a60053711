// SPDX-License-Identifier: Apache-2.0
//
// Methods of one program on several threads, which come and go while others
// run: each computes what it computes alone.
#include <thread>

#include "test/conformance/suite.h"

namespace petrel::conformance {
namespace {

using runtime::Error;

constexpr uint32_t kThreads = 6;
constexpr int kRounds = 6;
constexpr int kCalls = 5;

TEST_F(Conformance, MethodsOnManyThreadsComputeWhatEachAloneDoes) {
  const Methods methods = {{"forward", steps({"a", "", "b"})}, {"other", steps({"b", "a"})}};
  const Compiled made = compiled(methods);
  Watch& watch = reset_watch();
  const LoadedProgram program(made.files);
  ASSERT_EQ(program.error(), Error::Ok);
  std::vector<std::vector<Elements>> alone;
  for (uint32_t t = 0; t < kThreads; ++t) {
    alone.push_back(
        load_and_run(made.files, t % 2 == 0 ? "forward" : "other", make_inputs(made.inputs, t)));
  }
  std::vector<int> right(kThreads, 0);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<Elements> inputs = make_inputs(made.inputs, t);
      for (int round = 0; round < kRounds; ++round) {
        LoadedMethod method(program, t % 2 == 0 ? "forward" : "other");
        if (method.error() != Error::Ok) return;
        for (int call = 0; call < kCalls; ++call) {
          std::vector<Elements> outputs;
          if (method.run(inputs, &outputs) != Error::Ok) return;
          right[t] += outputs == alone[t];
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t t = 0; t < kThreads; ++t) {
    EXPECT_EQ(right[t], kRounds * kCalls) << "thread " << t;
  }
  EXPECT_EQ(watch.live(), 0);
  EXPECT_EQ(watch.buffers_out, 0);
}

}  // namespace
}  // namespace petrel::conformance
