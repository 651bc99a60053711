/* SPDX-License-Identifier: Apache-2.0
 *
 * What a generated package tells about itself, the same for all models: code that handles
 * many of them needs no other header.
 *
 *   const struct petrel_model_metadata *model = kws_get_model_metadata();
 *   model->methods[0].inputs[0].name;   "image"
 *
 * Everything is const and lives as long as the program.
 */
#ifndef PETREL_MODEL_H
#define PETREL_MODEL_H

#include <stddef.h>
#include <stdint.h>

#define PETREL_MODEL_MAGIC 0x4c44504du
#define PETREL_MODEL_ABI_VERSION 1u

/* Types of elements, in the numbering of PyTorch's files. */
enum petrel_dtype {
  PETREL_DTYPE_UINT8 = 0,
  PETREL_DTYPE_INT8 = 1,
  PETREL_DTYPE_INT16 = 2,
  PETREL_DTYPE_INT32 = 3,
  PETREL_DTYPE_INT64 = 4,
  PETREL_DTYPE_FLOAT = 6,
  PETREL_DTYPE_DOUBLE = 7,
  PETREL_DTYPE_BOOL = 11
};

struct petrel_tensor_info {
  const char *name;   /* the user's */
  const char *c_name; /* the member of the struct of inputs or outputs */
  int32_t dtype;      /* enum petrel_dtype, or a later number */
  uint32_t rank;
  const int32_t *sizes;
  const uint8_t *dim_order; /* outermost dim first */
  size_t bytes;
};

struct petrel_method_info {
  const char *name;
  const struct petrel_tensor_info *inputs;
  uint32_t num_inputs;
  const struct petrel_tensor_info *outputs;
  uint32_t num_outputs;
  size_t arena_bytes;
};

struct petrel_model_metadata {
  uint32_t magic; /* PETREL_MODEL_MAGIC */
  uint32_t abi_version;
  const char *name;
  const struct petrel_method_info *methods;
  uint32_t num_methods;
  size_t arena_bytes; /* the largest method's */
  size_t arena_align;
  size_t state_bytes; /* 0 where state lies in the arena */
  size_t constant_bytes;
};

#endif /* PETREL_MODEL_H */
