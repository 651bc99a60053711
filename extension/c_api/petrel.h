// SPDX-License-Identifier: Apache-2.0
//
// Petrel for C, and for every language that can call C: loads programs, runs
// their methods, tells what went wrong. Only this header is needed; C99.
//
//   petrel_module* module = NULL;
//   if (petrel_module_load_path("model.pte", NULL, &module) != PETREL_OK) {
//     fprintf(stderr, "%s\n", petrel_error_text());
//     return 1;
//   }
//   petrel_value image = petrel_tensor(PETREL_FLOAT32, 4, sizes, pixels, sizeof pixels);
//   petrel_value scores;
//   PETREL_VALUE_INIT(&scores);
//   if (petrel_module_set_input(module, "forward", 0, &image) != PETREL_OK ||
//       petrel_module_run(module, "forward") != PETREL_OK ||
//       petrel_module_get_output(module, "forward", 0, &scores) != PETREL_OK) ...
//   petrel_module_destroy(module);
//
// Rules that hold for every function:
//   - It returns a petrel_status, or has nothing to fail at. It never throws,
//     and never ends the process on account of its arguments or of a file.
//   - A null pointer where one is not allowed, or a number out of range, gives
//     PETREL_INVALID_ARGUMENT. What an `out` points to is written only when
//     PETREL_OK is returned. A handle that was destroyed, or never made, cannot
//     be recognised.
//   - What was wrong stands in petrel_error_text() of the calling thread.
//   - Handles belong to the caller, who gives them back with the destroy
//     function of their kind; destroying NULL does nothing. Strings that come
//     out belong to the library, and live as long as each function says.
//   - One thread at a time may use a handle. Different handles are independent.
//
// The interface only grows: functions and numbers keep their meaning, and
// structs that may grow begin with their own size (struct_size).
#ifndef PETREL_EXTENSION_C_API_PETREL_H_
#define PETREL_EXTENSION_C_API_PETREL_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(PETREL_EXPORT)
// Who builds the library for Windows says how functions are exported.
#elif defined(__GNUC__)
#define PETREL_EXPORT __attribute__((visibility("default")))
#else
#define PETREL_EXPORT
#endif

// ---------------------------------------------------------------- versions

// Of this header. Raised when something is added.
#define PETREL_API_VERSION 6

// Of the library: at least the header's when everything in the header is there.
PETREL_EXPORT uint32_t petrel_api_version(void);
// "1.0.0"; lives as long as the library.
PETREL_EXPORT const char* petrel_version(void);

// ------------------------------------------------------------------ errors

// The numbers are those of ExecuTorch.
typedef int32_t petrel_status;
enum {
  PETREL_OK = 0x00,
  PETREL_INTERNAL = 0x01,
  PETREL_INVALID_STATE = 0x02,  // not now: an input is not set, say
  PETREL_NOT_SUPPORTED = 0x10,  // meaningful, but nothing here can do it
  PETREL_NOT_IMPLEMENTED = 0x11,
  PETREL_INVALID_ARGUMENT = 0x12,  // the caller's mistake
  PETREL_INVALID_TYPE = 0x13,      // a value of another kind
  PETREL_OPERATOR_MISSING = 0x14,  // the program needs a kernel that is not here
  PETREL_NOT_FOUND = 0x20,         // no such file, method, backend or key
  PETREL_OUT_OF_MEMORY = 0x21,
  PETREL_ACCESS_FAILED = 0x22,     // reading a file failed
  PETREL_INVALID_PROGRAM = 0x23,   // the .pte is damaged
  PETREL_INVALID_DATA = 0x24,      // a .ptd is damaged, or does not fit
  PETREL_OUT_OF_RESOURCES = 0x25,  // a limit was reached
  PETREL_DELEGATE_INCOMPATIBLE = 0x30,
  PETREL_DELEGATE_OUT_OF_MEMORY = 0x31,
  PETREL_DELEGATE_INVALID_HANDLE = 0x32
};

// "InvalidProgram"; "unknown error" for other numbers. Lives as long as the
// library.
PETREL_EXPORT const char* petrel_status_name(petrel_status status);

// What the last function of this interface that failed on the calling thread
// had to say, "" if none has. Lines are separated by '\n', the most specific
// one first. Valid until the next function of this interface fails on the
// calling thread, or the thread ends.
PETREL_EXPORT const char* petrel_error_text(void);

// --------------------------------------------------------------------- log

enum { PETREL_LOG_DEBUG = 0, PETREL_LOG_INFO = 1, PETREL_LOG_WARNING = 2, PETREL_LOG_ERROR = 3 };

// `message` lives until the function returns. May be called by several threads
// at once, and must not call back into this interface but for petrel_error_text
// and petrel_status_name.
typedef void (*petrel_log_fn)(void* context, int32_t level, const char* message);

// Sends all messages of the process to `log`; NULL, as at the start, drops
// them. A call of the function before may still be under way on another thread.
PETREL_EXPORT petrel_status petrel_set_log(petrel_log_fn log, void* context);

// --------------------------------------------------------------- processor

// Up to which instruction set the process uses the processor, for all kernels
// and backends: "sse2", "avx2", "avx512skx" ... ; "neon", "dotprod" ... on arm64;
// "zen" and other processors for kernels as there; "native", as at the start, for
// all that this machine has. To be called before the first module is loaded:
// PETREL_INVALID_STATE when another level is in use, PETREL_INVALID_ARGUMENT for a
// level that this machine lacks; petrel_error_text() names those it has.
PETREL_EXPORT petrel_status petrel_set_isa_level(const char* level);

// ------------------------------------------------------------ what there is

// The backends that programs may use, by the names that programs have for them, such as
// "XnnpackBackend". Names live as long as the library.
PETREL_EXPORT petrel_status petrel_num_backends(size_t* out);
PETREL_EXPORT petrel_status petrel_backend_name(size_t index, const char** out);

// The kernels that programs may call, such as "aten::add.out". Of several with one name
// the first counts.
PETREL_EXPORT petrel_status petrel_num_kernels(size_t* out);
PETREL_EXPORT petrel_status petrel_kernel_name(size_t index, const char** out);

// ------------------------------------------------------------------ values

// Numbers of element types, those of PyTorch.
enum {
  PETREL_UINT8 = 0,
  PETREL_INT8 = 1,
  PETREL_INT16 = 2,
  PETREL_INT32 = 3,
  PETREL_INT64 = 4,
  PETREL_FLOAT16 = 5,
  PETREL_FLOAT32 = 6,
  PETREL_FLOAT64 = 7,
  PETREL_BOOL = 11,
  PETREL_BFLOAT16 = 15,
  PETREL_UINT16 = 27,
  PETREL_UINT32 = 28,
  PETREL_UINT64 = 29
};
// Bytes of one element; 0 for a number that is not an element type.
PETREL_EXPORT size_t petrel_dtype_size(int32_t dtype);

enum {
  PETREL_KIND_NONE = 0,
  PETREL_KIND_TENSOR = 1,
  PETREL_KIND_STRING = 2,
  PETREL_KIND_DOUBLE = 3,
  PETREL_KIND_INT = 4,
  PETREL_KIND_BOOL = 5,
  PETREL_KIND_OTHER = 6  // a list; only ever an output
};

#define PETREL_MAX_RANK 16

// A value or, without data, what is known of one.
typedef struct petrel_value {
  size_t struct_size;  // sizeof(petrel_value), set by the caller
  int32_t kind;
  // Of tensors:
  int32_t dtype;
  uint32_t rank;
  int32_t is_dynamic;  // sizes are upper bounds (of metadata only)
  int64_t sizes[PETREL_MAX_RANK];
  // Dimensions from the outermost to the innermost in memory; 0, 1, 2, ... for
  // a contiguous tensor.
  uint8_t dim_order[PETREL_MAX_RANK];
  // Elements, dense in dim_order. Inputs are only read.
  void* data;
  size_t nbytes;
  // Of the other kinds:
  int64_t int_value;  // also of PETREL_KIND_BOOL: 0 or 1
  double double_value;
  // string_size bytes, no NUL behind them.
  const char* string;
  size_t string_size;
} petrel_value;

#define PETREL_VALUE_INIT(value)                 \
  do {                                           \
    memset((value), 0, sizeof(petrel_value));    \
    (value)->struct_size = sizeof(petrel_value); \
  } while (0)

// A contiguous tensor over `data`, which stays the caller's. Sizes are checked
// when it is used; a rank above PETREL_MAX_RANK is refused then.
static inline petrel_value petrel_tensor(int32_t dtype, uint32_t rank, const int64_t* sizes,
                                         void* data, size_t nbytes) {
  petrel_value value;
  uint32_t d;
  PETREL_VALUE_INIT(&value);
  value.kind = PETREL_KIND_TENSOR;
  value.dtype = dtype;
  value.rank = rank;
  for (d = 0; d < rank && d < PETREL_MAX_RANK; ++d) {
    value.sizes[d] = sizes[d];
    value.dim_order[d] = (uint8_t)d;
  }
  value.data = data;
  value.nbytes = nbytes;
  return value;
}

// The same over elements that nobody may write: an input of a module that is not
// loaded with writable inputs.
static inline petrel_value petrel_const_tensor(int32_t dtype, uint32_t rank, const int64_t* sizes,
                                               const void* data, size_t nbytes) {
  union {
    const void* read;
    void* any;
  } pointer;
  pointer.read = data;
  return petrel_tensor(dtype, rank, sizes, pointer.any, nbytes);
}

// ----------------------------------------------------------------- loading

// Whose bytes a buffer has: borrowed ones must stay unchanged, where they are,
// until the modules loaded from them are destroyed; copied ones may go at once.
typedef int32_t petrel_ownership;
enum { PETREL_BORROW = 0, PETREL_COPY = 1 };

typedef int32_t petrel_load_mode;
enum {
  PETREL_LOAD_FILE = 0,  // read what is needed into memory
  PETREL_LOAD_MMAP = 1   // map files, the default: weights stay in the page cache
};

typedef int32_t petrel_precedence;
enum {
  PETREL_REFUSE_DIFFERENT = 0,  // a key with two values is an error
  PETREL_EXTERNAL_FIRST = 1,
  PETREL_PROGRAM_FIRST = 2
};

// How to load. May be used for several modules, and destroyed after loading.
typedef struct petrel_options petrel_options;

PETREL_EXPORT petrel_status petrel_options_create(petrel_options** out);
PETREL_EXPORT void petrel_options_destroy(petrel_options* options);

PETREL_EXPORT petrel_status petrel_options_set_load_mode(petrel_options* options,
                                                         petrel_load_mode mode);
// Threads of kernels and backends, the caller's included; 0 is one for each
// processor. A setting of the process, made when a module is loaded; it stays
// as it is when options do not say.
PETREL_EXPORT petrel_status petrel_options_set_num_threads(petrel_options* options,
                                                           int32_t num_threads);
// Lets the methods of a module compute in one memory; outputs then hold until
// any method of it runs.
PETREL_EXPORT petrel_status petrel_options_set_share_memory(petrel_options* options, int32_t share);
// Whether a program may write the memory of inputs that it does not copy (0, the
// default, or 1). Methods that do are refused otherwise.
PETREL_EXPORT petrel_status petrel_options_set_writable_inputs(petrel_options* options,
                                                               int32_t writable);
// What a program may use at most, whatever its file asks for; beyond it loading or
// running is PETREL_OUT_OF_RESOURCES, and petrel_error_text() names the limit.
typedef int32_t petrel_limit;
enum {
  PETREL_MAX_ARENA_BYTES = 0,        // of a method's arenas, 16 GiB by default
  PETREL_MAX_DELEGATE_BYTES = 1,     // of a method's delegates beyond their weights, 16 GiB
  PETREL_MAX_INPUT_BYTES = 2,        // of outputs that the program does not plan, 16 GiB
  PETREL_MAX_INSTRUCTIONS = 3,       // of one execution, 10^7
  PETREL_MAX_ELEMENT_OPERATIONS = 4  // elements and multiply-adds of one execution, 10^14
};
PETREL_EXPORT petrel_status petrel_options_set_limit(petrel_options* options, petrel_limit limit,
                                                     uint64_t value);
// Which bytes count for a key that is in the program and in named data.
PETREL_EXPORT petrel_status petrel_options_set_data_precedence(petrel_options* options,
                                                               petrel_precedence precedence);

// External data (.ptd or .safetensors), as often as there are files. They are
// opened, and checked, by the load functions.
PETREL_EXPORT petrel_status petrel_options_add_data_path(petrel_options* options, const char* path);
PETREL_EXPORT petrel_status petrel_options_add_data_buffer(petrel_options* options,
                                                           const void* data, size_t size,
                                                           petrel_ownership ownership);
// `length` bytes from `offset` of an open file, such as an asset in an Android
// package. The descriptor is duplicated: the caller may close its own.
PETREL_EXPORT petrel_status petrel_options_add_data_fd(petrel_options* options, int fd,
                                                       uint64_t offset, uint64_t length);

// External data that functions of yours give: keys and bytes. Called while methods
// load, from several threads at once; must not call back into this interface.
typedef struct petrel_data_map {
  size_t struct_size;  // sizeof(petrel_data_map), set by the caller
  void* context;       // the first argument of each function
  size_t num_keys;
  const char* const* keys;  // copied
  // Writes where the bytes of a key are: aligned to 16, unchanged until they are freed.
  // PETREL_NOT_FOUND if there is none.
  petrel_status (*get_data)(void* context, const char* key, const void** data, size_t* size);
  // What get_data gave is not used again. May be NULL.
  void (*free_data)(void* context, const void* data, size_t size);
  // Nobody uses the map any more. May be NULL.
  void (*destroy)(void* context);
} petrel_data_map;

// The struct is copied. destroy is called once, when the options and all modules that
// were loaded with them are destroyed or have other data.
PETREL_EXPORT petrel_status petrel_options_add_data_map(petrel_options* options,
                                                        const petrel_data_map* map);

// What loading a method tells a backend, such as "XnnpackBackend".
PETREL_EXPORT petrel_status petrel_options_set_backend_bool(petrel_options* options,
                                                            const char* backend, const char* key,
                                                            int32_t value);
PETREL_EXPORT petrel_status petrel_options_set_backend_int(petrel_options* options,
                                                           const char* backend, const char* key,
                                                           int32_t value);
PETREL_EXPORT petrel_status petrel_options_set_backend_text(petrel_options* options,
                                                            const char* backend, const char* key,
                                                            const char* value);

// Which of several files of external data counts where bytes differ.
typedef int32_t petrel_data_order;
enum {
  PETREL_DATA_REFUSE_DIFFERENT = 0,  // a key with two values is an error
  PETREL_DATA_FIRST_COUNTS = 1       // the first that has the key: files, then maps
};
PETREL_EXPORT petrel_status petrel_options_set_data_order(petrel_options* options,
                                                          petrel_data_order order);

// A program and its methods.
typedef struct petrel_module petrel_module;

// `options` may be NULL. The whole structure of the files is verified; methods
// are loaded when they are first used.
PETREL_EXPORT petrel_status petrel_module_load_path(const char* path, const petrel_options* options,
                                                    petrel_module** out);
PETREL_EXPORT petrel_status petrel_module_load_buffer(const void* data, size_t size,
                                                      petrel_ownership ownership,
                                                      const petrel_options* options,
                                                      petrel_module** out);
// As petrel_options_add_data_fd.
PETREL_EXPORT petrel_status petrel_module_load_fd(int fd, uint64_t offset, uint64_t length,
                                                  const petrel_options* options,
                                                  petrel_module** out);
PETREL_EXPORT void petrel_module_destroy(petrel_module* module);

// Other data for the keys that `keys`, a pattern of file names such as "*lora*", matches;
// NULL is all. `data` has the files, buffers and descriptors; all else that options say
// is left as it was, but for the load mode and the order. In all methods, those that are
// loaded later included. All or nothing: after an error the module is as it was.
// `changed`, which may be NULL, is how many keys now have other bytes; 0 is no error.
// Where it is not 0, the outputs of the last runs are gone.
// PETREL_NOT_FOUND when no method needs any of the keys. Borrowed buffers must live as
// long as the module.
PETREL_EXPORT petrel_status petrel_module_replace_data(petrel_module* module,
                                                       const petrel_options* data, const char* keys,
                                                       size_t* changed);

// A weight or state of a method by its name in the model, to be read: `data` belongs to
// the module, until the method runs, is unloaded or gets other data. Loads the method.
// PETREL_NOT_FOUND for weights that only delegates have. Set struct_size first.
PETREL_EXPORT petrel_status petrel_module_get_attribute(petrel_module* module, const char* method,
                                                        const char* name, petrel_value* out);

// ---------------------------------------------------------------- metadata

PETREL_EXPORT petrel_status petrel_module_num_methods(const petrel_module* module, size_t* out);
// Lives as long as the module.
PETREL_EXPORT petrel_status petrel_module_method_name(const petrel_module* module, size_t index,
                                                      const char** out);
PETREL_EXPORT petrel_status petrel_module_num_inputs(const petrel_module* module,
                                                     const char* method, size_t* out);
PETREL_EXPORT petrel_status petrel_module_num_outputs(const petrel_module* module,
                                                      const char* method, size_t* out);
// Kind, element type, rank, sizes and dim order; no data. Set struct_size first.
PETREL_EXPORT petrel_status petrel_module_input_info(const petrel_module* module,
                                                     const char* method, size_t index,
                                                     petrel_value* out);
PETREL_EXPORT petrel_status petrel_module_output_info(const petrel_module* module,
                                                      const char* method, size_t index,
                                                      petrel_value* out);

// What the integers of an input or output stand for: number = scale * (integer -
// zero_point), of integers from quant_min to quant_max.
typedef struct petrel_levels {
  size_t struct_size;  // sizeof(petrel_levels), set by the caller
  int32_t dtype;
  int32_t zero_point;
  int32_t quant_min;
  int32_t quant_max;
  double scale;
} petrel_levels;

// PETREL_NOT_FOUND where they stand for nothing else, or the program does not tell.
PETREL_EXPORT petrel_status petrel_module_input_levels(const petrel_module* module,
                                                       const char* method, size_t index,
                                                       petrel_levels* out);
PETREL_EXPORT petrel_status petrel_module_output_levels(const petrel_module* module,
                                                        const char* method, size_t index,
                                                        petrel_levels* out);

// ----------------------------------------------------------------- running

// Loads a method ahead of its first use; does nothing the second time.
PETREL_EXPORT petrel_status petrel_module_load_method(petrel_module* module, const char* method);
// Forgets a method, its outputs and its state.
PETREL_EXPORT petrel_status petrel_module_unload_method(petrel_module* module, const char* method);

// Says what input `index` of the next run is. The value is copied, the data and
// the string that it points at are not: they must stay until the run.
PETREL_EXPORT petrel_status petrel_module_set_input(petrel_module* module, const char* method,
                                                    size_t index, const petrel_value* value);
// Runs a method on the inputs that were set, all of them, and forgets them.
// A number or string must be the one that the program was made with.
PETREL_EXPORT petrel_status petrel_module_run(petrel_module* module, const char* method);
// Lets the tensor that is output `index` of all later runs be copied to `size` bytes at
// `data`, where petrel_module_get_output then finds it: the caller's memory, which holds
// until the next run. NULL as at the start: outputs lie in the module. A run whose output
// does not fit is PETREL_INVALID_ARGUMENT.
PETREL_EXPORT petrel_status petrel_module_set_output(petrel_module* module, const char* method,
                                                     size_t index, void* data, size_t size);
// Output `index` of the last run that succeeded. Set struct_size first. Data
// and strings belong to the module, until the method runs again or is unloaded.
PETREL_EXPORT petrel_status petrel_module_get_output(const petrel_module* module,
                                                     const char* method, size_t index,
                                                     petrel_value* out);
// Whether its data stays where it is while the method runs again, which may write there,
// until it is unloaded: 1, or 0 for memory that the next run gives back. An input that a
// program returns is such a copy.
PETREL_EXPORT petrel_status petrel_module_output_stays(const petrel_module* module,
                                                       const char* method, size_t index,
                                                       int32_t* out);

// ---------------------------------------------------------------- a method

// A method of a module, by handle in place of its name. Belongs to the
// module, and goes with it; may be unloaded and run again meanwhile.
typedef struct petrel_method petrel_method;

PETREL_EXPORT petrel_status petrel_module_method(petrel_module* module, const char* method,
                                                 petrel_method** out);
// As the functions of the module of these names.
PETREL_EXPORT petrel_status petrel_method_set_input(petrel_method* method, size_t index,
                                                    const petrel_value* value);
PETREL_EXPORT petrel_status petrel_method_set_output(petrel_method* method, size_t index,
                                                     void* data, size_t size);
PETREL_EXPORT petrel_status petrel_method_run(petrel_method* method);
PETREL_EXPORT petrel_status petrel_method_get_output(const petrel_method* method, size_t index,
                                                     petrel_value* out);

#ifdef __cplusplus
}
#endif

#endif  // PETREL_EXTENSION_C_API_PETREL_H_
