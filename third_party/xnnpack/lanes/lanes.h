/* SPDX-License-Identifier: Apache-2.0
 *
 * Stretches of a runtime whose operators fall into two halves that need nothing of each other, and
 * are too small to be shared: one thread computes each half.
 *
 * A recurrent network that reads a sequence both ways is such: operators of a few microseconds,
 * each of which needs the one before it.
 *
 *   steps     | product, 40 cells forwards | product, 40 cells backwards | join | ...
 *             |<-- first ---------------------------------------- end -->|
 *
 *   thread 1  | product, 40 cells forwards  | join | ...
 *   thread 2  | product, 40 cells backwards |
 *
 * A stretch ends at a join of two values. It begins behind the last operator that both values need,
 * the last one that is not of a kind listed in find_lanes.c, or the stretch before it. Operators
 * that no value connects with either half go to the shorter one. It is a stretch only if, by the
 * operators' work, two threads take at most 0.8 times as long as one operator after the other.
 *
 * What only one lane uses has memory of its own, in which values follow each other as they do
 * without lanes; what else is in use anywhere in a stretch is so throughout it:
 *
 *   steps          first                          end
 *   inputs           |##############################|
 *   of lane 1        |=== planned by themselves ====|
 *   of lane 2        |=== planned by themselves ====|
 *   outputs          |##############################|######
 *
 * That is checked when all is placed: no byte that one lane writes is touched by the other, or
 * there are no lanes. Results are the same bits, with one thread as with two.
 *
 *   struct petrel_lanes* lanes;
 *   petrel_find_lanes(runtime, &lanes);       // operators have their sizes
 *   petrel_plan_lanes(runtime, lanes, &tracker);
 *   xnn_plan_value_allocation_tracker(&tracker);
 *   petrel_locate_lanes(runtime, lanes, &tracker);
 *   ... parts are located ...
 *   if (!petrel_lanes_hold(runtime, lanes, parts, &tracker)) ...
 *   petrel_delete_lanes(lanes);
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_LANES_LANES_H_
#define PETREL_THIRD_PARTY_XNNPACK_LANES_LANES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xnnpack.h"

#ifdef __cplusplus
extern "C" {
#endif

struct petrel_part;
struct xnn_value_allocation_tracker;

/* Of xnn_create_runtime_v4: no operator is shared by threads, they have lanes alone. */
#define PETREL_FLAG_SHARE_LANES_ALONE UINT32_C(0x80000000)

#define PETREL_MAX_STRETCHES 32

struct petrel_stretch {
  uint32_t first, end; /* operators; `end` is the one behind the last */
};

/* Where a record of the tracker lies that only one lane uses. */
struct petrel_place {
  uint32_t lane; /* the record that stands for the memory of the lane; UINT32_MAX: for no lane */
  size_t offset; /* there */
};

struct petrel_lanes {
  size_t num_stretches;
  struct petrel_stretch stretches[PETREL_MAX_STRETCHES];
  uint8_t* of_operator; /* 1 or 2 in a stretch, 0 outside */
  struct petrel_place* places;
};

/* Null where there are none. False if there is no memory. */
bool petrel_find_lanes(xnn_runtime_t runtime, struct petrel_lanes** lanes);
void petrel_delete_lanes(struct petrel_lanes* lanes); /* may be null, as below */

/* Plans the memory of each lane and makes it one record, when all records have their sizes. False
 * if there is no memory. */
bool petrel_plan_lanes(xnn_runtime_t runtime, struct petrel_lanes* lanes,
                       struct xnn_value_allocation_tracker* tracker);

/* Puts the values of lanes where their record was put. */
void petrel_locate_lanes(xnn_runtime_t runtime, const struct petrel_lanes* lanes,
                         struct xnn_value_allocation_tracker* tracker);

/* Whether no lane touches what the other one writes. False, too, if there is no memory to check,
 * and where a value has pixels among those of another. `parts` (petrel/in-place.h) may be null. */
bool petrel_lanes_hold(xnn_runtime_t runtime, const struct petrel_lanes* lanes,
                       const struct petrel_part* parts,
                       const struct xnn_value_allocation_tracker* tracker);

/* Of what was planned last. */
size_t petrel_num_stretches(xnn_runtime_t runtime);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_LANES_LANES_H_ */
