/* SPDX-License-Identifier: Apache-2.0
 *
 * Which bytes of an arena are taken while which nodes run, for the planner of memory.
 *
 * A network that repeats a cell has a thousand values that live to its end, and each value is
 * placed among all that live at the same time. Comparing all pairs takes minutes for what
 * computes in milliseconds. So time is a tree, whose leaves are nodes, and taken bytes are kept
 * as few blocks that do not touch each other:
 *
 *   nodes           0   1   2   3   4   5   6   7
 *                 |-------------------------------|     all:    what lives throughout this span
 *                 |---------------|---------------|     inside: what lives during any of it
 *                 |-------|-------|-------|-------|
 *                 |---|---|---|---|---|---|---|---|
 *   value of 1-6      |###|#######|#######|###|         `all` of four spans, `inside` of those
 *                                                       and of all that they lie in
 *
 * What is taken during nodes 2 to 3 is `inside` of their span and `all` of the spans it lies in.
 *
 *   struct petrel_timeline* timeline = petrel_make_timeline(num_nodes, PETREL_MAX_PLACING_STEPS);
 *   size_t offset;
 *   petrel_place(timeline, first_node, last_node, size, &offset);   // in turn
 *   petrel_delete_timeline(timeline);
 *
 * Blocks of networks join into a few. A graph that was made for it has thousands of them at each
 * node, which takes a thousand times as long, so steps are counted.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_TIMELINE_TIMELINE_H_
#define PETREL_THIRD_PARTY_XNNPACK_TIMELINE_TIMELINE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* About a second of one core. */
#define PETREL_MAX_PLACING_STEPS ((uint64_t)1 << 28)

struct petrel_timeline;

/* Null if there is no memory. A step reads a block. */
struct petrel_timeline* petrel_make_timeline(uint32_t num_nodes, uint64_t max_steps);
void petrel_delete_timeline(struct petrel_timeline* timeline); /* may be null */

/* Takes `size` bytes during nodes `first` to `last`, each below the number of nodes: the smallest
 * gap that is large enough, the lowest of equal ones, or what follows the last block. False if
 * there is no memory, or after too many steps; then the timeline can only be deleted. */
bool petrel_place(struct petrel_timeline* timeline, uint32_t first, uint32_t last, size_t size,
                  size_t* offset);

#ifdef __cplusplus
}
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_TIMELINE_TIMELINE_H_ */
