/* SPDX-License-Identifier: Apache-2.0
 *
 * What a generated package tells about itself, the same for all models, and how to run
 * one without knowing its names: code that handles many of them needs no other header.
 *
 *   const struct petrel_model_metadata *model = kws_get_model_metadata();
 *   const struct petrel_method_info *forward = petrel_find_method(model, "forward");
 *   model->init(context, pools, pool_bytes);   model->context_bytes, model->pools[i].bytes
 *   float *image = forward->inputs[0].place(context);
 *   const void *inputs[] = {image};
 *   forward->run(context, inputs, outputs);
 *
 * Everything is const and lives as long as the program. Functions that can fail return 0,
 * or a PETREL_MODEL_E_..., of the numbers of each package's own. All functions that compute or
 * change a context are NULL in packages that are made with --interface direct.
 */
#ifndef PETREL_MODEL_H
#define PETREL_MODEL_H

#include <stddef.h>
#include <stdint.h>

#define PETREL_MODEL_MAGIC 0x4c44504du
#define PETREL_MODEL_ABI_VERSION 5u

/* Types of elements, in the numbering of PyTorch's files. C has no half and no bfloat16: their
 * elements are uint16_t, which hold the bits. */
#define PETREL_DTYPE_UINT8 0
#define PETREL_DTYPE_INT8 1
#define PETREL_DTYPE_INT16 2
#define PETREL_DTYPE_INT32 3
#define PETREL_DTYPE_INT64 4
#define PETREL_DTYPE_HALF 5
#define PETREL_DTYPE_FLOAT 6
#define PETREL_DTYPE_DOUBLE 7
#define PETREL_DTYPE_BOOL 11
#define PETREL_DTYPE_BFLOAT16 15

#define PETREL_MODEL_OK 0
#define PETREL_MODEL_E_NULL (-1)
#define PETREL_MODEL_E_ALIGN (-2)
#define PETREL_MODEL_E_SIZE (-3)
#define PETREL_MODEL_E_NOT_FOUND (-4)
#define PETREL_MODEL_E_DATA (-5)
#define PETREL_MODEL_E_SELFTEST (-6)
#define PETREL_MODEL_E_ALIAS (-7)
#define PETREL_MODEL_E_SHAPE (-8)
#define PETREL_MODEL_E_DEVICE (-9)

struct petrel_tensor_info {
  const char *name;   /* the user's */
  const char *c_name; /* the member of the struct of inputs or outputs */
  int32_t dtype;      /* PETREL_DTYPE_..., or a later number */
  uint32_t rank;
  const int32_t *sizes;
  const uint8_t *dim_order; /* outermost dim first */
  size_t bytes;
  /* Where sizes vary from call to call, `sizes` are the largest, these are the smallest, and the
   * function tells those that the context has taken last; else NULL. */
  const int32_t *least_sizes;
  void (*actual_sizes)(const void *context, int32_t *sizes);
  /* Where it lies in the memory of a context: what is there already is not copied. NULL for
   * packages whose inputs and outputs lie with the caller only. */
  void *(*place)(const void *context);
  /* Where its elements are levels: a number is scale * (level - zero_point); else scale is 0. */
  double scale;
  int32_t zero_point;
};

/* Memory that the caller gives. */
struct petrel_pool_info {
  const char *name; /* the member of the struct of pools */
  size_t bytes;     /* at least */
  size_t align;
  uint32_t is_kept; /* 1 where it holds state between calls */
};

/* Where the bytes of a parameter are. */
#define PETREL_PARAM_LINKED 0   /* a symbol where the compiler has put it */
#define PETREL_PARAM_POOLED 1   /* a symbol in a pool */
#define PETREL_PARAM_LOADED 2   /* a hook gives it before its first use */
#define PETREL_PARAM_EXTERNAL 3 /* the application says where it is */
#define PETREL_PARAM_DELEGATE 4 /* a symbol that a driver reads: a payload or a named blob */

struct petrel_param_info {
  const char *name;
  uint32_t id;   /* for NAME_lookup_linked_param() and NAME_set_param() */
  int32_t kind;  /* PETREL_PARAM_... */
  int32_t dtype; /* PETREL_DTYPE_..., or a later number */
  uint32_t rank;
  const int32_t *sizes;
  const void *data; /* NULL where the bytes are not linked */
  size_t bytes;
  const char *sha256;  /* of the bytes, 64 hexadecimal digits */
  const char *pool;    /* NULL where it is in none */
  const char *targets; /* who reads it: "c", "c,npu" */
  /* Where its elements are levels: a number is scale * (level - zero_point). With one scale for
   * each index of `axis` those are parameter number `scales`, and `scale` is 0; else that is -1. */
  double scale;
  int32_t zero_point;
  int32_t scales;
  int32_t axis;
};

/* What the driver of a device gets from the application. */
struct petrel_device_info {
  const char *name; /* the member of the struct of devices */
};

struct petrel_step_info {
  const char *name;   /* "op3_relu"; "inputs" and "outputs" are the copies before and after */
  const char *kernel; /* of the interpreter, "aten::relu.out"; "" for what is none */
};

struct petrel_method_info {
  const char *name;
  const struct petrel_tensor_info *inputs;
  uint32_t num_inputs;
  const struct petrel_tensor_info *outputs;
  uint32_t num_outputs;
  size_t arena_bytes; /* of the pools, what this method computes in */
  size_t io_bytes;    /* of all inputs and outputs */
  /* Takes the sizes of the inputs, a pointer for each that varies, for the runs that follow; at
   * first they are the largest. PETREL_MODEL_E_SHAPE for those that the model does not take.
   * NULL where none varies. */
  int32_t (*set_sizes)(void *context, const int32_t *const *sizes);
  /* The packed convention: a pointer for each input and output, none of them NULL. */
  int32_t (*run)(void *context, const void *const *inputs, void *const *outputs);
  /* One step of a run: *next, which is 0 at first, says which, and how many are done. A branch may
   * pass over some. */
  int32_t (*run_step)(void *context, const void *const *inputs, void *const *outputs,
                      uint32_t *next);
  const struct petrel_step_info *steps;
  uint32_t num_steps;
};

struct petrel_model_metadata {
  uint32_t magic; /* PETREL_MODEL_MAGIC */
  uint32_t abi_version;
  const char *name;
  const char *sha256; /* of the files that compute, 64 hexadecimal digits */
  const struct petrel_method_info *methods;
  uint32_t num_methods;
  const struct petrel_pool_info *pools;
  uint32_t num_pools;
  size_t constant_bytes;
  size_t context_bytes; /* aligned as malloc does it */
  /* Takes a pointer and a size for each of the pools, which must outlive the context. */
  int32_t (*init)(void *context, void *const *pools, const size_t *pool_bytes);
  int32_t (*reset_state)(void *context);
  const struct petrel_param_info *params;
  uint32_t num_params;
  const struct petrel_device_info *devices;
  uint32_t num_devices;
  /* Takes a handle for each of the devices, NULL for none, after init and before the first run;
   * close before the context goes. Both are NULL where the model has no devices. */
  int32_t (*open)(void *context, void *const *devices);
  void (*close)(void *context);
};

#define PETREL_NOT_FOUND (-1)

static inline int32_t petrel_same_name(const char *a, const char *b) {
  size_t i = 0;
  while (a[i] != '\0' && a[i] == b[i]) {
    ++i;
  }
  return a[i] == b[i] ? 1 : 0;
}

/* NULL when there is none of that name. */
static inline const struct petrel_method_info *petrel_find_method(
    const struct petrel_model_metadata *model, const char *name) {
  uint32_t i;
  for (i = 0; i < model->num_methods; ++i) {
    if (petrel_same_name(model->methods[i].name, name) != 0) {
      return &model->methods[i];
    }
  }
  return NULL;
}

/* The index of the tensor that the user or C calls so, or PETREL_NOT_FOUND. */
static inline int32_t petrel_find_tensor(const struct petrel_tensor_info *tensors, uint32_t count,
                                         const char *name) {
  uint32_t i;
  for (i = 0; i < count; ++i) {
    if (petrel_same_name(tensors[i].name, name) != 0 ||
        petrel_same_name(tensors[i].c_name, name) != 0) {
      return (int32_t)i;
    }
  }
  return PETREL_NOT_FOUND;
}

static inline int32_t petrel_find_input(const struct petrel_method_info *method, const char *name) {
  return petrel_find_tensor(method->inputs, method->num_inputs, name);
}

static inline int32_t petrel_find_output(const struct petrel_method_info *method,
                                         const char *name) {
  return petrel_find_tensor(method->outputs, method->num_outputs, name);
}

/* NULL when there is none of that name. */
static inline const struct petrel_param_info *petrel_find_param(
    const struct petrel_model_metadata *model, const char *name) {
  uint32_t i;
  for (i = 0; i < model->num_params; ++i) {
    if (petrel_same_name(model->params[i].name, name) != 0) {
      return &model->params[i];
    }
  }
  return NULL;
}

#endif /* PETREL_MODEL_H */
