// SPDX-License-Identifier: Apache-2.0
//
// The question put to the memory planner: which buffers are alive when, and
// which memories may hold them. The planner knows buffers, lifetimes, pools
// and conflicts; it knows nothing about tensors.
//
//      address                     a  alive in [0, 3), size 2
//      4 |   . . c c c .           b  alive in [2, 5), size 1
//      3 |   . . b b b .           c  alive in [2, 5), size 1
//      2 |   a a a . . .
//      1 |   a a a . . .           a and b are both alive at time 2, so they
//      0 +---0-1-2-3-4-5-> time    may not share an address.
//
// Times are half-open: a value written by operator 3 and read last by operator
// 7 lives in [3, 8). Sizes and offsets are bytes, times any integers.
//
// Invariant: indices into `buffers` and `pools` identify them everywhere; ids
// and names are for messages and files. check_problem() says whether a problem
// is well-formed; every entry point of the library calls it.
//
//   Problem problem;
//   problem.pools.resize(1);  // one arena without a limit
//   Buffer a;
//   a.id = "a";
//   a.size = 2;
//   a.lifetime = {0, 3};
//   problem.buffers.push_back(a);
//   absl::StatusOr<Solution> solution = plan(problem, Options());

#ifndef PETREL_EXIR_PLAN_MODEL_PROBLEM_H_
#define PETREL_EXIR_PLAN_MODEL_PROBLEM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace petrel::exir::plan {

using BufferIdx = int32_t;
using PoolIdx = int32_t;

// Sizes, offsets and capacities stay below this, so that sums of two cannot
// overflow; the sum of all sizes is held below it too.
constexpr int64_t kMaxBytes = int64_t{1} << 60;
// Times lie in [-kMaxTime, kMaxTime].
constexpr int64_t kMaxTime = int64_t{1} << 60;

// Each buffer has a list of its pools, and is tried in all of them, by every ordering.
constexpr size_t kMaxPools = 64;

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;  // exclusive
};

// A window of time within a lifetime in which the buffer needs only the bytes
// [low, high) of itself; low == high means none at all.
struct Gap {
  Interval time;
  int64_t low = 0;
  int64_t high = 0;
};

struct Buffer {
  std::string id;
  int64_t size = 0;
  int64_t alignment = 1;  // any positive number, not only powers of two
  Interval lifetime;
  std::vector<Gap> gaps;          // disjoint, within the lifetime, any order
  std::optional<int64_t> offset;  // fixed place, if any
  std::optional<int64_t> hint;    // offset of an earlier plan, tried first
  std::vector<PoolIdx> pools;     // allowed, best first; empty: all, in order
  int64_t access_count = 0;       // reads and writes over one execution
  std::string group;              // what pictures colour alike, such as a layer
  std::string origin;             // where a file states it: "line 4"; for messages
};

enum class PoolKind { kReadWrite, kReadOnly };

struct Pool {
  std::string name;
  std::optional<int64_t> capacity;            // hard limit
  std::optional<int64_t> preferred_capacity;  // exceeded only when necessary
  PoolKind kind = PoolKind::kReadWrite;
  int64_t cost_per_access = 0;  // any unit; slower memories cost more
};

// Two buffers that must not share an address although their lifetimes do not
// meet, or that may although they do (branches of which only one executes).
struct Pair {
  BufferIdx first = 0;
  BufferIdx second = 0;
};

// The last `bytes` bytes of `lower` may coincide with the first bytes of
// `upper`, as when an operator that works from low to high addresses writes
// `lower` over the part of `upper` that it has read already:
//
//            |<--- upper --->|
//   |<-- lower ->|                   bytes = length of the shared part
struct PermittedOverlap {
  BufferIdx lower = 0;
  BufferIdx upper = 0;
  int64_t bytes = 0;
};

struct Problem {
  std::vector<Buffer> buffers;
  std::vector<Pool> pools;
  std::vector<Pair> conflicts;
  std::vector<Pair> non_conflicts;
  std::vector<PermittedOverlap> overlaps;
};

// "a", or "a (line 4)" when the origin is known.
std::string label(const Buffer& buffer);

// Files refer to buffers and pools by name: fails when one is given twice.
absl::Status check_names(const Problem& problem);

// Fails with InvalidArgument, naming the buffer or pool, when anything above
// is violated: negative or overflowing sizes, an empty lifetime, a gap outside
// of it, unknown indices, a misaligned fixed offset; with FailedPrecondition
// when a buffer fits no allowed pool.
absl::Status check_problem(const Problem& problem);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_MODEL_PROBLEM_H_
