// SPDX-License-Identifier: Apache-2.0
//
// SeenEdges: which of the edges that the compiler counts have been taken so far, and
// about how often in one execution. An execution that takes another one, or one about
// twice as often as any before, shows something new.
//
//   SeenEdges seen;
//   seen.forget();          // what was counted outside of executions
//   LLVMFuzzerTestOneInput(data, size);
//   if (seen.take()) keep(data, size);
//
// One object in a process, built with -fsanitize=fuzzer-no-link and linked without libFuzzer:
// the counters belong to the process.

#ifndef PETREL_TEST_FUZZ_SEEN_EDGES_H_
#define PETREL_TEST_FUZZ_SEEN_EDGES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace petrel::fuzz {

class SeenEdges final {
 public:
  SeenEdges();

  // Zeros for the next execution.
  void forget();
  // Whether the counters show something new; zeros afterwards.
  bool take();

  // That were taken at least once.
  size_t count() const { return count_; }

 private:
  void take_edge(size_t edge, uint8_t count, bool* is_new);

  // For a count, the bit of the class that it is in.
  std::array<uint8_t, 256> class_of_;
  // For each edge, the classes of its counts so far.
  std::vector<uint8_t> seen_;
  size_t count_ = 0;
};

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_SEEN_EDGES_H_
