/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "petrel/in-place.h"
#include "third_party/xnnpack/lanes/lanes.h"
#include "xnnpack/allocator.h"
#include "xnnpack/math.h"
#include "xnnpack/memory-planner.h"
#include "xnnpack/subgraph.h"

static bool is_in(const struct petrel_stretch* stretch, uint32_t op) {
  return stretch->first <= op && op < stretch->end;
}

/* Whether nothing outside of the lane uses it. */
static bool is_of_lane(const struct petrel_lanes* lanes, size_t stretch, uint8_t lane,
                       const struct xnn_usage_record* record) {
  const struct petrel_stretch* in = &lanes->stretches[stretch];
  return is_in(in, record->first_node) && is_in(in, record->last_node) &&
         lanes->of_operator[record->first_node] == lane &&
         lanes->of_operator[record->last_node] == lane;
}

/* Takes the records of a lane out of the plan of all others; false if there are none. The record
 * that stands for the other lane is not one of them, whichever lane the ends of the stretch are
 * in. */
static bool take_records(size_t num_records, const struct petrel_lanes* lanes, size_t stretch,
                         uint8_t lane, struct xnn_value_allocation_tracker* all,
                         struct xnn_value_allocation_tracker* of_lane) {
  of_lane->min_value_id = of_lane->max_value_id = XNN_INVALID_VALUE_ID;
  for (uint32_t i = 0; i < num_records; i++) {
    of_lane->usage[i].reuse_value_id = XNN_INVALID_VALUE_ID;
    struct xnn_usage_record* record = &all->usage[i];
    const bool is_taken = lanes->places[i].lane != UINT32_MAX;
    if (record->tensor_size == 0 || is_taken || !is_of_lane(lanes, stretch, lane, record)) continue;
    of_lane->usage[i] = *record;
    record->tensor_size = 0;
    if (of_lane->min_value_id == XNN_INVALID_VALUE_ID) of_lane->min_value_id = i;
    of_lane->max_value_id = i;
  }
  return of_lane->min_value_id != XNN_INVALID_VALUE_ID;
}

static bool plan_lane(size_t num_records, struct petrel_lanes* lanes, size_t stretch, uint8_t lane,
                      struct xnn_value_allocation_tracker* tracker) {
  struct xnn_value_allocation_tracker of_lane = {0};
  of_lane.usage = xnn_allocate_zero_memory(num_records * sizeof(struct xnn_usage_record));
  if (of_lane.usage == NULL) return false;
  bool is_planned = true;
  if (take_records(num_records, lanes, stretch, lane, tracker, &of_lane)) {
    xnn_plan_value_allocation_tracker(&of_lane);
    is_planned = of_lane.mem_arena_size != SIZE_MAX;
    const uint32_t first = (uint32_t)of_lane.min_value_id;
    for (uint32_t i = first; i < num_records; i++) {
      if (of_lane.usage[i].tensor_size == 0) continue;
      lanes->places[i] = (struct petrel_place){first, of_lane.usage[i].alloc_offset};
      /* Who lies in it by reuse is told its place once more when it is known. */
      tracker->usage[i].alloc_offset = of_lane.usage[i].alloc_offset;
    }
    tracker->usage[first].tensor_size = of_lane.mem_arena_size;
    tracker->usage[first].first_node = lanes->stretches[stretch].first;
    tracker->usage[first].last_node = lanes->stretches[stretch].end - 1;
  }
  xnn_release_memory(of_lane.usage);
  return is_planned;
}

/* What is in use anywhere in a stretch is so throughout it. */
static void prolong(const struct petrel_stretch* stretch, struct xnn_usage_record* record) {
  if (is_in(stretch, record->first_node)) record->first_node = stretch->first;
  if (is_in(stretch, record->last_node)) record->last_node = stretch->end - 1;
}

bool petrel_plan_lanes(xnn_runtime_t runtime, struct petrel_lanes* lanes,
                       struct xnn_value_allocation_tracker* tracker) {
  if (lanes == NULL) return true;
  const size_t num_records = runtime->num_values + runtime->num_ops;
  for (size_t i = 0; i < num_records; i++) lanes->places[i].lane = UINT32_MAX;
  for (size_t i = 0; i < lanes->num_stretches; i++) {
    for (uint8_t lane = 1; lane <= 2; lane++) {
      if (!plan_lane(num_records, lanes, i, lane, tracker)) return false;
    }
  }
  for (size_t i = 0; i < num_records; i++) {
    if (tracker->usage[i].tensor_size == 0) continue;
    for (size_t j = 0; j < lanes->num_stretches; j++) {
      prolong(&lanes->stretches[j], &tracker->usage[i]);
    }
  }
  return true;
}

void petrel_locate_lanes(xnn_runtime_t runtime, const struct petrel_lanes* lanes,
                         struct xnn_value_allocation_tracker* tracker) {
  if (lanes == NULL) return;
  const size_t num_records = runtime->num_values + runtime->num_ops;
  struct xnn_usage_record* records = tracker->usage;
  /* The record that stands for a lane is the first one of it, so the last to be moved. */
  for (size_t i = num_records; i-- > 0;) {
    const struct petrel_place* place = &lanes->places[i];
    if (place->lane != UINT32_MAX) {
      records[i].alloc_offset = records[place->lane].alloc_offset + place->offset;
    }
  }
  for (size_t i = 0; i < num_records; i++) {
    const uint32_t reused = records[i].reuse_value_id;
    if (reused != XNN_INVALID_VALUE_ID) records[i].alloc_offset = records[reused].alloc_offset;
  }
}

/* Bytes of the arena that an operator of a lane touches. */
struct range {
  size_t first, end;
  uint8_t lane;
  bool is_written;
};

static int compare_ranges(const void* a, const void* b) {
  const struct range *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

/* How far what has begun so far reaches, by lane, and of that what is written. */
struct reach {
  size_t all[2], written[2];
};

static bool is_free_of_other(struct reach* reach, const struct range* range) {
  const size_t mine = range->lane - 1, other = 1 - mine;
  if (range->first < reach->written[other] ||
      (range->is_written && range->first < reach->all[other])) {
    return false;
  }
  reach->all[mine] = max(reach->all[mine], range->end);
  if (range->is_written) reach->written[mine] = max(reach->written[mine], range->end);
  return true;
}

struct check {
  xnn_runtime_t runtime;
  const struct petrel_lanes* lanes;
  const struct petrel_part* parts;
  const struct xnn_value_allocation_tracker* tracker;
  struct range* ranges;
  size_t count;
};

/* False where it is not one range. */
static bool add_value(struct check* c, uint32_t id, uint8_t lane, bool is_written) {
  if (id >= c->runtime->num_values) return true;
  const struct xnn_value* value = &c->runtime->values[id];
  if (value->allocation_type != xnn_allocation_type_workspace || value->size == 0) return true;
  if (c->parts != NULL && c->parts[id].stride != 0) return false;
  const size_t first = c->tracker->usage[id].alloc_offset;
  size_t bytes = value->size;
  if (value->datatype == xnn_datatype_qdint8) {
    bytes =
        xnn_tensor_get_rounded_size(value) + xnn_tensor_get_rounded_dynamic_quant_param_size(value);
  }
  c->ranges[c->count++] = (struct range){first, first + bytes, lane, is_written};
  return true;
}

static bool add_operator(struct check* c, uint32_t index) {
  const struct xnn_operator_data* op = &c->runtime->opdata[index];
  const uint8_t lane = c->lanes->of_operator[index];
  if (op->operator_objects[0] == NULL) return true;
  for (size_t i = 0; i < op->num_inputs; i++) {
    if (!add_value(c, op->inputs[i], lane, false)) return false;
  }
  for (size_t i = 0; i < op->num_outputs; i++) {
    if (!add_value(c, op->outputs[i], lane, true)) return false;
  }
  if (op->workspace_size != 0) {
    const size_t first = c->tracker->usage[c->runtime->num_values + index].alloc_offset;
    c->ranges[c->count++] = (struct range){first, first + op->workspace_size, lane, true};
  }
  return true;
}

static bool stretch_holds(struct check* c, const struct petrel_stretch* stretch) {
  c->count = 0;
  for (uint32_t i = stretch->first; i < stretch->end; i++) {
    if (!add_operator(c, i)) return false;
  }
  qsort(c->ranges, c->count, sizeof(struct range), compare_ranges);
  struct reach reach = {{0, 0}, {0, 0}};
  for (size_t i = 0; i < c->count; i++) {
    if (!is_free_of_other(&reach, &c->ranges[i])) return false;
  }
  return true;
}

bool petrel_lanes_hold(xnn_runtime_t runtime, const struct petrel_lanes* lanes,
                       const struct petrel_part* parts,
                       const struct xnn_value_allocation_tracker* tracker) {
  if (lanes == NULL) return true;
  size_t most = 1;
  for (size_t i = 0; i < runtime->num_ops; i++) {
    most += runtime->opdata[i].num_inputs + runtime->opdata[i].num_outputs + 1;
  }
  struct check check = {runtime, lanes, parts, tracker, NULL, 0};
  check.ranges = xnn_allocate_memory(most * sizeof(struct range));
  bool holds = check.ranges != NULL;
  for (size_t i = 0; holds && i < lanes->num_stretches; i++) {
    holds = stretch_holds(&check, &lanes->stretches[i]);
  }
  xnn_release_memory(check.ranges);
  return holds;
}
