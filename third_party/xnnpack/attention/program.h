/* SPDX-License-Identifier: Apache-2.0
 *
 * What attention computes: two products with a softmax between them, and steps of one element by
 * one before each of the three and behind the softmax.
 *
 *   queries [batch.., m, d]   multiply by 0.125
 *   scores  [batch.., m, n]   queries x keys [batch.., n, d], turned; add a mask
 *   shares                    softmax of each row; multiply by what is seen
 *   output  [batch.., m, v]   shares x values [batch.., n, v]
 *
 * An operand of a step has its dims or 1 in the place of each, behind ones that are left out.
 * Whoever makes a program owns it and all that it points to, and keeps it as long as there are
 * operators of it.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_ATTENTION_PROGRAM_H_
#define PETREL_THIRD_PARTY_XNNPACK_ATTENTION_PROGRAM_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of XNNPACK: of a value, and of a node. */
#define PETREL_ATTENTION_MAX_DIMS 6
#define PETREL_ATTENTION_MAX_INPUTS 5
#define PETREL_ATTENTION_MAX_STEPS 8

/* Ten microseconds of one core. */
#define PETREL_ATTENTION_SMALL_WORK 500000

enum petrel_attention_function {
  petrel_attention_add,
  petrel_attention_subtract,
  petrel_attention_multiply,
  petrel_attention_divide,
};

enum petrel_attention_stage {
  petrel_attention_queries,
  petrel_attention_scores,
  petrel_attention_shares,
};

struct petrel_attention_dims {
  size_t rank;
  size_t sizes[PETREL_ATTENTION_MAX_DIMS];
};

struct petrel_attention_step {
  enum petrel_attention_stage stage;
  enum petrel_attention_function function;
  bool operand_is_first; /* it is what is divided, or subtracted from */
  /* Where the operand is: a constant of so many dims, or an input. */
  const float* constant; /* null for an input */
  struct petrel_attention_dims constant_dims;
  uint32_t input;
  /* What the other operand's dims are; of rank 0: those that follow from the inputs. */
  struct petrel_attention_dims view;
  bool has_range; /* which results are kept in */
  float min, max;
};

/* Inputs are queries, keys, values and operands that are no constants. */
struct petrel_attention {
  uint32_t num_inputs;
  bool turns_keys;   /* [.., n, d]; else they are [.., d, n] */
  bool turns_values; /* [.., v, n]; else they are [.., n, v] */
  size_t num_steps;  /* in the order of stages */
  struct petrel_attention_step steps[PETREL_ATTENTION_MAX_STEPS];
  size_t block_bytes; /* of the scores that a thread computes at once, if a tile is no more */
};

/* Whether each thread computes whole matrices, so that it packs keys and values for itself: where
 * they are so many, or so small, that the last one is not waited for long. Few rows are no more
 * than one block. `work` is the
 * multiply-adds of one. */
static inline bool petrel_attention_shares_batches(size_t batches, size_t rows, size_t threads,
                                                   uint64_t work) {
  return threads <= 1 || batches >= 8 * threads || (rows <= 16 && batches >= 4 * threads) ||
         (batches % threads == 0 && work <= PETREL_ATTENTION_SMALL_WORK);
}

/* From a row of scores to the next, in floats: rows begin where vectors do, and not all in the
 * same places of a cache. */
static inline size_t petrel_attention_row(size_t columns) {
  const size_t row = (columns + 15) / 16 * 16;
  return row % 256 == 0 ? row + 16 : row;
}

#endif /* PETREL_THIRD_PARTY_XNNPACK_ATTENTION_PROGRAM_H_ */
