/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "pthreadpool.h"
#include "third_party/xnnpack/lanes/lanes.h"
#include "xnnpack/allocator.h"
#include "xnnpack/subgraph.h"

#define NONE UINT32_MAX

/* In multiply-adds: what any operator costs, and the least that a lane is worth, 20 us. */
#define CALL_WORK 4000
#define LEAST_WORK 1300000

/* A search takes a nanosecond or two for each. */
#define LEAST_STEPS 200000

struct search {
  xnn_runtime_t runtime;
  size_t threads;
  uint32_t* producers; /* of values */
  uint32_t* marks;     /* of operators: 4 x the number of the search + which values need it */
  uint32_t* groups;    /* of operators: another one of the same group, its own of the first */
  uint32_t number;
  size_t steps_left; /* a graph that was made for it would be walked through for each join */
};

/* Kinds whose operators write nothing but their outputs and their workspace. */
static bool may_be_in_lane(const struct xnn_operator_data* op) {
  switch (op->type) {
    case xnn_node_type_fully_connected:
    case xnn_node_type_batch_matrix_multiply:
    case xnn_node_type_unary_elementwise:
    case xnn_node_type_binary_elementwise:
    case xnn_node_type_concatenate2:
    case xnn_node_type_concatenate3:
    case xnn_node_type_concatenate4:
    case xnn_node_type_concatenate5:
    case xnn_node_type_static_slice:
    case xnn_node_type_static_reshape:
    case xnn_node_type_static_transpose:
    case xnn_node_type_copy:
    case xnn_node_type_softmax:
    case xnn_node_type_cell:
    case xnn_node_type_norm:
      return true;
    default:
      return op->operator_objects[0] == NULL; /* fused into another */
  }
}

static bool touches_persistent(const struct search* s, const struct xnn_operator_data* op) {
  for (size_t i = 0; i < op->num_inputs; i++) {
    if (op->inputs[i] < s->runtime->num_values &&
        s->runtime->values[op->inputs[i]].allocation_type == xnn_allocation_type_persistent) {
      return true;
    }
  }
  for (size_t i = 0; i < op->num_outputs; i++) {
    if (op->outputs[i] < s->runtime->num_values &&
        s->runtime->values[op->outputs[i]].allocation_type == xnn_allocation_type_persistent) {
      return true;
    }
  }
  return false;
}

static uint32_t producer_of(const struct search* s, uint32_t value) {
  return value < s->runtime->num_values ? s->producers[value] : NONE;
}

static uint32_t marks_of(const struct search* s, uint32_t op) {
  return s->marks[op] / 4 == s->number ? s->marks[op] % 4 : 0;
}

static void mark(struct search* s, uint32_t op, uint32_t marks) {
  s->marks[op] = s->number * 4 + (marks_of(s, op) | marks);
}

/* False for good once there are too few. */
static bool take_steps(struct search* s, size_t count) {
  const bool has_steps = count <= s->steps_left;
  s->steps_left = has_steps ? s->steps_left - count : 0;
  return has_steps;
}

/* Behind the last operator from `earliest` on that both `a` and `b` need, or that may not be in a
 * lane. */
static uint32_t find_first(struct search* s, uint32_t a, uint32_t b, uint32_t earliest) {
  s->number++;
  mark(s, a, 1);
  mark(s, b, 2);
  for (uint32_t i = a > b ? a : b;; i--) {
    const struct xnn_operator_data* op = &s->runtime->opdata[i];
    const uint32_t marks = marks_of(s, i);
    if (marks == 3 || !may_be_in_lane(op) || touches_persistent(s, op)) return i + 1;
    for (size_t j = 0; marks != 0 && j < op->num_inputs; j++) {
      const uint32_t needed = producer_of(s, op->inputs[j]);
      if (needed != NONE) mark(s, needed, marks);
    }
    if (i == earliest) return i;
    if (!take_steps(s, 1)) return NONE;
  }
}

static uint32_t group_of(struct search* s, uint32_t op) {
  while (s->groups[op] != op) {
    s->groups[op] = s->groups[s->groups[op]];
    op = s->groups[op];
  }
  return op;
}

static void group(struct search* s, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++) s->groups[i] = i;
  for (uint32_t i = first; i < end; i++) {
    const struct xnn_operator_data* op = &s->runtime->opdata[i];
    for (size_t j = 0; j < op->num_inputs; j++) {
      const uint32_t needed = producer_of(s, op->inputs[j]);
      if (needed != NONE && needed >= first) {
        const uint32_t mine = group_of(s, i), other = group_of(s, needed);
        /* The first one names a group. */
        s->groups[mine > other ? mine : other] = mine > other ? other : mine;
      }
    }
  }
}

static uint64_t work_of(const struct search* s, uint32_t op) {
  const struct xnn_operator_data* data = &s->runtime->opdata[op];
  return data->operator_objects[0] == NULL ? 0 : (uint64_t)data->work + CALL_WORK;
}

/* Whether lanes are worth it; says which operator is in which. */
static bool divide(struct search* s, uint32_t a, uint32_t b, uint32_t first, uint32_t end,
                   uint8_t* lanes) {
  group(s, first, end);
  const uint32_t groups[2] = {group_of(s, a), group_of(s, b)};
  if (groups[0] == groups[1]) return false;
  uint64_t work[2] = {0, 0}, alone = 0;
  for (uint32_t i = first; i < end; i++) {
    const uint32_t of = group_of(s, i);
    if (of == groups[0] || of == groups[1]) work[of == groups[1]] += work_of(s, i);
    const uint64_t threads = s->runtime->opdata[i].is_small ? 1 : s->threads;
    alone += work_of(s, i) / threads;
  }
  for (uint32_t i = first; i < end; i++) {
    const uint32_t of = group_of(s, i);
    if (of == groups[0] || of == groups[1]) {
      lanes[i] = 1 + (of == groups[1]);
    } else {
      lanes[i] = of == i ? 1 + (work[1] < work[0]) : lanes[of];
      work[lanes[i] - 1] += work_of(s, i);
    }
  }
  const uint64_t longer = work[0] > work[1] ? work[0] : work[1];
  const uint64_t shorter = work[0] + work[1] - longer;
  return shorter >= LEAST_WORK && longer <= alone / 10 * 8;
}

static void find_stretch(struct search* s, uint32_t join, struct petrel_lanes* lanes) {
  const size_t count = lanes->num_stretches;
  const uint32_t earliest = count == 0 ? 0 : lanes->stretches[count - 1].end;
  const struct xnn_operator_data* op = &s->runtime->opdata[join];
  const uint32_t a = producer_of(s, op->inputs[0]), b = producer_of(s, op->inputs[1]);
  if (a == NONE || b == NONE || a == b || a < earliest || b < earliest) return;
  if (a >= join || b >= join) return;
  const uint32_t first = find_first(s, a, b, earliest);
  if (first == NONE || first > a || first > b || !take_steps(s, join - first)) return;
  if (divide(s, a, b, first, join, lanes->of_operator)) {
    lanes->stretches[lanes->num_stretches++] = (struct petrel_stretch){first, join};
  } else {
    memset(lanes->of_operator + first, 0, join - first);
  }
}

static bool is_join(const struct xnn_operator_data* op) {
  return op->type == xnn_node_type_concatenate2;
}

static bool find_all(xnn_runtime_t runtime, struct petrel_lanes* lanes) {
  const size_t num_ops = runtime->num_ops;
  struct search s = {
      runtime,
      pthreadpool_get_threads_count(runtime->threadpool),
      xnn_allocate_memory((runtime->num_values + 1) * sizeof(uint32_t)),
      xnn_allocate_zero_memory((num_ops + 1) * sizeof(uint32_t)),
      xnn_allocate_memory((num_ops + 1) * sizeof(uint32_t)),
      0,
      LEAST_STEPS + 16 * num_ops,
  };
  const bool has_memory = s.producers != NULL && s.marks != NULL && s.groups != NULL;
  if (has_memory) {
    for (size_t i = 0; i < runtime->num_values; i++) s.producers[i] = NONE;
    for (uint32_t i = 0; i < num_ops; i++) {
      const struct xnn_operator_data* op = &runtime->opdata[i];
      for (size_t j = 0; j < op->num_outputs; j++) {
        if (op->outputs[j] < runtime->num_values) s.producers[op->outputs[j]] = i;
      }
    }
    for (uint32_t i = 0; i < num_ops && lanes->num_stretches < PETREL_MAX_STRETCHES; i++) {
      if (is_join(&runtime->opdata[i]) && s.steps_left != 0) find_stretch(&s, i, lanes);
    }
  }
  xnn_release_memory(s.producers);
  xnn_release_memory(s.marks);
  xnn_release_memory(s.groups);
  return has_memory;
}

static bool has_join(xnn_runtime_t runtime) {
  for (size_t i = 0; i < runtime->num_ops; i++) {
    if (is_join(&runtime->opdata[i])) return true;
  }
  return false;
}

bool petrel_find_lanes(xnn_runtime_t runtime, struct petrel_lanes** lanes) {
  *lanes = NULL;
  if (pthreadpool_get_threads_count(runtime->threadpool) < 2 || runtime->num_ops >= NONE / 4 ||
      !has_join(runtime)) {
    return true;
  }
  struct petrel_lanes* found = xnn_allocate_zero_memory(sizeof(struct petrel_lanes));
  if (found == NULL) return false;
  const size_t num_records = runtime->num_values + runtime->num_ops;
  found->of_operator = xnn_allocate_zero_memory(runtime->num_ops + 1);
  bool is_done = found->of_operator != NULL && find_all(runtime, found);
  if (is_done && found->num_stretches != 0) {
    found->places = xnn_allocate_memory(num_records * sizeof(struct petrel_place));
    is_done = found->places != NULL;
  }
  if (!is_done || found->num_stretches == 0) {
    petrel_delete_lanes(found);
    return is_done;
  }
  *lanes = found;
  return true;
}

void petrel_delete_lanes(struct petrel_lanes* lanes) {
  if (lanes == NULL) return;
  xnn_release_memory(lanes->of_operator);
  xnn_release_memory(lanes->places);
  xnn_release_memory(lanes);
}

size_t petrel_num_stretches(xnn_runtime_t runtime) {
  return runtime->lanes == NULL ? 0 : runtime->lanes->num_stretches;
}
