/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/timeline/timeline.h"

#include <string.h>

#include "xnnpack/allocator.h"

struct block {
  size_t start;
  size_t end;
};

/* In order; no two overlap or touch. */
struct blocks {
  struct block* list;
  uint32_t count;
  uint32_t capacity;
};

struct span {
  struct blocks all;
  struct blocks inside;
};

/* The children of span i are 2 i and 2 i + 1, the leaf of a node is span num_leaves + node. */
struct petrel_timeline {
  size_t num_leaves;
  struct span* spans;
  struct blocks taken; /* of the value that is placed */
  struct blocks spare;
  uint64_t steps_left;
};

struct petrel_timeline* petrel_make_timeline(uint32_t num_nodes, uint64_t max_steps) {
  struct petrel_timeline* timeline = xnn_allocate_zero_memory(sizeof(struct petrel_timeline));
  if (timeline == NULL) return NULL;
  timeline->steps_left = max_steps;
  timeline->num_leaves = 1;
  while (timeline->num_leaves < num_nodes) timeline->num_leaves *= 2;
  timeline->spans = xnn_allocate_zero_memory(2 * timeline->num_leaves * sizeof(struct span));
  if (timeline->spans == NULL) {
    xnn_release_memory(timeline);
    return NULL;
  }
  return timeline;
}

void petrel_delete_timeline(struct petrel_timeline* timeline) {
  if (timeline == NULL) return;
  for (size_t i = 1; i < 2 * timeline->num_leaves; i++) {
    xnn_release_memory(timeline->spans[i].all.list);
    xnn_release_memory(timeline->spans[i].inside.list);
  }
  xnn_release_memory(timeline->spans);
  xnn_release_memory(timeline->taken.list);
  xnn_release_memory(timeline->spare.list);
  xnn_release_memory(timeline);
}

static bool reserve(struct blocks* blocks, size_t count) {
  if (count <= blocks->capacity) return true;
  size_t capacity = 2 * (size_t)blocks->capacity;
  if (capacity < count) capacity = count;
  if (capacity > UINT32_MAX) return false;
  void* list = xnn_reallocate_memory(blocks->list, capacity * sizeof(struct block));
  if (list == NULL) return false;
  blocks->list = list;
  blocks->capacity = (uint32_t)capacity;
  return true;
}

/* The first block that ends at `start` or later. */
static uint32_t find_block(const struct blocks* blocks, size_t start) {
  uint32_t first = 0, end = blocks->count;
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    if (blocks->list[middle].end < start) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

static bool add(struct blocks* blocks, struct block block) {
  const uint32_t first = find_block(blocks, block.start);
  uint32_t end = first;
  for (; end < blocks->count && blocks->list[end].start <= block.end; end++) {
    if (blocks->list[end].start < block.start) block.start = blocks->list[end].start;
    if (blocks->list[end].end > block.end) block.end = blocks->list[end].end;
  }
  if (!reserve(blocks, (size_t)blocks->count + 1)) return false;
  struct block* at = blocks->list + first;
  memmove(at + 1, blocks->list + end, (blocks->count - end) * sizeof(struct block));
  *at = block;
  blocks->count = blocks->count - (end - first) + 1;
  return true;
}

static void append(struct blocks* blocks, struct block block) {
  struct block* last = blocks->count == 0 ? NULL : blocks->list + blocks->count - 1;
  if (last == NULL || last->end < block.start) {
    blocks->list[blocks->count++] = block;
  } else if (last->end < block.end) {
    last->end = block.end;
  }
}

static bool pay(struct petrel_timeline* timeline, uint64_t steps) {
  const bool is_enough = steps <= timeline->steps_left;
  timeline->steps_left -= is_enough ? steps : timeline->steps_left;
  return is_enough;
}

/* Adds the others to what is taken. */
static bool take(struct petrel_timeline* timeline, const struct blocks* others) {
  if (!pay(timeline, (uint64_t)others->count + 1)) return false;
  if (others->count == 0) return true;
  if (others->count == 1) return add(&timeline->taken, others->list[0]);
  const struct blocks* taken = &timeline->taken;
  struct blocks* sum = &timeline->spare;
  if (!pay(timeline, taken->count)) return false;
  if (!reserve(sum, (size_t)taken->count + others->count)) return false;
  sum->count = 0;
  uint32_t i = 0, j = 0;
  while (i < taken->count || j < others->count) {
    const bool is_first =
        j == others->count || (i < taken->count && taken->list[i].start <= others->list[j].start);
    append(sum, is_first ? taken->list[i++] : others->list[j++]);
  }
  const struct blocks other = timeline->taken;
  timeline->taken = timeline->spare;
  timeline->spare = other;
  return true;
}

static bool find_taken(struct petrel_timeline* timeline, uint32_t first, uint32_t last) {
  struct span* spans = timeline->spans;
  timeline->taken.count = 0;
  size_t from = timeline->num_leaves + first, to = timeline->num_leaves + last;
  for (size_t i = from, j = to; i != 0; i /= 2, j /= 2) {
    if (!take(timeline, &spans[i].all)) return false;
    if (j != i && !take(timeline, &spans[j].all)) return false;
  }
  for (to++; from < to; from /= 2, to /= 2) {
    if (from % 2 != 0 && !take(timeline, &spans[from++].inside)) return false;
    if (to % 2 != 0 && !take(timeline, &spans[--to].inside)) return false;
  }
  return true;
}

/* Moving blocks on takes a part of the time of reading them. */
static bool keep(struct petrel_timeline* timeline, struct blocks* blocks, struct block block) {
  return pay(timeline, 1 + blocks->count / 16) && add(blocks, block);
}

static bool keep_throughout(struct petrel_timeline* timeline, struct span* span,
                            struct block block) {
  return keep(timeline, &span->inside, block) && keep(timeline, &span->all, block);
}

static bool add_taken(struct petrel_timeline* timeline, uint32_t first, uint32_t last,
                      struct block block) {
  struct span* spans = timeline->spans;
  size_t from = timeline->num_leaves + first, to = timeline->num_leaves + last;
  for (size_t i = from, j = to; i != 0; i /= 2, j /= 2) {
    if (!keep(timeline, &spans[i].inside, block)) return false;
    if (j != i && !keep(timeline, &spans[j].inside, block)) return false;
  }
  for (to++; from < to; from /= 2, to /= 2) {
    if (from % 2 != 0 && !keep_throughout(timeline, &spans[from++], block)) return false;
    if (to % 2 != 0 && !keep_throughout(timeline, &spans[--to], block)) return false;
  }
  return true;
}

static size_t find_gap(const struct blocks* taken, size_t size) {
  size_t offset = taken->count == 0 ? 0 : taken->list[taken->count - 1].end;
  size_t smallest = SIZE_MAX;
  size_t start = 0;
  for (uint32_t i = 0; i < taken->count; i++) {
    const size_t gap = taken->list[i].start - start;
    if (gap >= size && gap < smallest) {
      offset = start;
      smallest = gap;
    }
    start = taken->list[i].end;
  }
  return offset;
}

bool petrel_place(struct petrel_timeline* timeline, uint32_t first, uint32_t last, size_t size,
                  size_t* offset) {
  if (!find_taken(timeline, first, last)) return false;
  *offset = find_gap(&timeline->taken, size);
  return add_taken(timeline, first, last, (struct block){*offset, *offset + size});
}
