// SPDX-License-Identifier: Apache-2.0
//
// Generates problems for tests and measurements: endless, of any size, the
// same for the same seed on every machine.
//
// cut_rectangle() cuts the rectangle [0, horizon) x [0, capacity) into buffers,
// so that every instant is full to the brim and the smallest peak is known to
// be `capacity`. Guillotine cuts go right through a piece; a pinwheel cuts one
// into five that no straight cut separates:
//
//      +------+--+
//      |      |  |
//      +--+---+  |
//      |  |   |  |
//      |  +---+--+
//      |  |      |
//      +--+------+

#ifndef PETREL_EXIR_PLAN_BENCHMARKS_INSTANCES_H_
#define PETREL_EXIR_PLAN_BENCHMARKS_INSTANCES_H_

#include <cstdint>

#include "exir/plan/model/problem.h"

namespace petrel::exir::plan {

struct CutOptions {
  int num_buffers = 200;
  int64_t capacity = 1 << 20;
  int64_t horizon = 1 << 20;
  int64_t size_grain = 1;  // cuts of addresses and times at multiples of these
  int64_t time_grain = 1;
  int pinwheel_percent = 25;  // of the cuts, where a pinwheel fits
};

// Buffers in random order; a few less than asked when pieces get too small.
Problem cut_rectangle(const CutOptions& options, uint64_t seed);

// Random lifetimes, sizes, alignments, gaps, fixed offsets, pools with and
// without capacity, conflicts, non-conflicts and permitted overlaps; may be
// infeasible.
Problem random_problem(int num_buffers, int num_pools, uint64_t seed);

// The same problem seen differently; the smallest peak stays the same, or is
// multiplied by `factor`. model/reversal.h mirrors it in time.
Problem shuffled(const Problem& problem, uint64_t seed);
Problem scaled(const Problem& problem, int64_t factor);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_BENCHMARKS_INSTANCES_H_
