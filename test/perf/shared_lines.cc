// SPDX-License-Identifier: Apache-2.0
//
// What one processor waits for lines of the cache that another one used last, in nanoseconds for
// a line of 64 bytes:
//
//   ./bazelw run //test/perf:shared_lines
//
//   the other   this one
//   read        reads       0.54
//   wrote       reads       0.86
//   read        writes      6.97
//   wrote       writes      0.87
//
// Two threads, on the first two processors, take turns with 300 KB; the shortest of 200 turns
// counts. The third row is why each thread has rows of its own (third_party/xnnpack/
// rows_of_threads.patch).
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLines = 4800;
constexpr size_t kWords = 64 / sizeof(uint64_t);
constexpr int kTurns = 200;

struct Line {
  alignas(64) uint64_t words[kWords];
};

void stay_on(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

// What is read goes to where the compiler must keep it.
void use(std::vector<Line>* lines, bool writes) {
  static std::atomic<uint64_t> sum{0};
  if (writes) {
    for (Line& line : *lines) std::fill(line.words, line.words + kWords, uint64_t{1});
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return;
  }
  uint64_t read = 0;
  for (const Line& line : *lines) read += line.words[0];
  sum += read;
}

double nanoseconds_of_line(bool other_writes, bool writes) {
  std::vector<Line> lines(kLines);
  std::atomic<bool> is_others_turn{false};
  std::thread other([&] {
    stay_on(1);
    for (int turn = 0; turn < kTurns; ++turn) {
      while (!is_others_turn.load(std::memory_order_acquire)) {
      }
      use(&lines, other_writes);
      is_others_turn.store(false, std::memory_order_release);
    }
  });
  double best = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < kTurns; ++turn) {
    is_others_turn.store(true, std::memory_order_release);
    while (is_others_turn.load(std::memory_order_acquire)) {
    }
    const auto start = Clock::now();
    use(&lines, writes);
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  other.join();
  return best / kLines;
}

}  // namespace

int main() {
  if (std::thread::hardware_concurrency() < 2) {
    std::fprintf(stderr, "shared_lines: needs two processors\n");
    return 1;
  }
  stay_on(0);
  std::printf("the other   this one    ns for a line\n");
  for (const bool writes : {false, true}) {
    for (const bool other_writes : {false, true}) {
      std::printf("%-11s %-11s %5.2f\n", other_writes ? "wrote" : "read",
                  writes ? "writes" : "reads", nanoseconds_of_line(other_writes, writes));
    }
  }
  return 0;
}
