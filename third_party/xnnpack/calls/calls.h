/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a runtime, where small ones are plain calls of their kernels.
 *
 * An operator takes two kilobytes, and to run one means to read a dozen places of it and to walk
 * through the thread pool: 100 ns, where its kernel takes ten. A recurrent network does this
 * seventeen times for each step of time. Here a small step is one line of the cache:
 *
 *   steps   | slice | sigmoid | multiply | product of 128 x 384 | add | convolution, threads |
 *   calls   |<------------------- one after the other ---------------->|<---- operator ----->|
 *
 * Kernels, addresses and order are those of the operators, so results are the same bits.
 *
 *   struct petrel_calls* calls = petrel_make_calls(runtime);       // operators are made
 *   status = petrel_set_up(runtime, calls);                        // all have their sizes
 *   if (!calls->are_planned) petrel_plan_calls(runtime, calls);    // when it runs
 *   status = petrel_run_calls(runtime, calls, observer);
 *   petrel_delete_calls(calls);
 *
 * A plan asks for no memory and holds until an operator is told other sizes or addresses. Where
 * only inputs and outputs of the runtime lie elsewhere, the operators that have none of them
 * are left alone: a thousand take a tenth of a millisecond, which callers with new tensors in
 * each run would pay, and the first run.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_CALLS_CALLS_H_
#define PETREL_THIRD_PARTY_XNNPACK_CALLS_CALLS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "third_party/xnnpack/steps/steps.h"
#include "xnnpack.h"

struct petrel_call;

struct petrel_calls {
  bool are_planned;
  bool are_set_up; /* operators, with the addresses of all values but inputs and outputs */
  size_t count;
  struct petrel_call* calls;
  size_t num_ends; /* operators that have an input or an output of the runtime */
  uint32_t* ends;
};

/* Null if there is no memory. */
struct petrel_calls* petrel_make_calls(xnn_runtime_t runtime);
void petrel_delete_calls(struct petrel_calls* calls); /* may be null */

/* Tells operators where their values are, and plans. */
enum xnn_status petrel_set_up(xnn_runtime_t runtime, struct petrel_calls* calls);

/* From what the operators of the runtime were told, which is final. */
void petrel_plan_calls(xnn_runtime_t runtime, struct petrel_calls* calls);

/* Tells the observer, which may be null, of each step. With one, lanes (lanes/lanes.h) run one
 * after the other. */
enum xnn_status petrel_run_calls(xnn_runtime_t runtime, const struct petrel_calls* calls,
                                 const struct petrel_observer* observer);

#endif /* PETREL_THIRD_PARTY_XNNPACK_CALLS_CALLS_H_ */
