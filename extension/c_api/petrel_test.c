// SPDX-License-Identifier: Apache-2.0
//
// The C interface, used from C.
#define _POSIX_C_SOURCE 200809L

#include "extension/c_api/petrel.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "extension/c_api/test_helpers.h"

static const char kInline[] = "extension/c_api/inline.pte";
static const char kLevels[] = "test/quantized/programs/rows.border.pte";
static const char kExternal[] = "extension/c_api/external.pte";
static const char kWeights[] = "extension/c_api/external.ptd";
static const char kTwo[] = "extension/c_api/kernels_two.pte";
static const char kTwoWeights[] = "extension/c_api/kernels_two.ptd";
static const char kDigits[] = "examples/quickstart/digits.bin";

enum { kPixels = 64, kImage = kPixels + 1, kImages = 50 };

static petrel_value image(float* pixels) {
  static const int64_t sizes[] = {1, 1, 8, 8};
  return petrel_tensor(PETREL_FLOAT32, 4, sizes, pixels, kPixels * sizeof(float));
}

static petrel_value empty_value(void) {
  petrel_value value;
  PETREL_VALUE_INIT(&value);
  return value;
}

// How many of the first images `method` gets right; -1 on an error.
static int count_right(petrel_module* module, const char* method) {
  size_t size, i, p, c;
  unsigned char* digits = read_file(kDigits, 0, &size);
  int right = 0;
  for (i = 0; i < kImages && right >= 0; ++i) {
    float pixels[kPixels];
    petrel_value in = image(pixels);
    petrel_value out = empty_value();
    for (p = 0; p < kPixels; ++p) pixels[p] = digits[i * kImage + p] / 16.0f;
    if (petrel_module_set_input(module, method, 0, &in) != PETREL_OK ||
        petrel_module_run(module, method) != PETREL_OK ||
        petrel_module_get_output(module, method, 0, &out) != PETREL_OK) {
      right = -1;
    } else {
      const float* scores = out.data;
      size_t best = 0;
      for (c = 1; c < 10; ++c) best = scores[c] > scores[best] ? c : best;
      right += best == digits[i * kImage + kPixels];
    }
  }
  free(digits);
  return right;
}

static void classifies_from_every_source(void) {
  petrel_module* module = NULL;
  size_t size;
  unsigned char* bytes;
  int fd;

  CHECK(petrel_module_load_path(kInline, NULL, &module) == PETREL_OK);
  CHECK(count_right(module, "forward") >= 45);
  petrel_module_destroy(module);

  bytes = read_file(kInline, 0, &size);
  CHECK(petrel_module_load_buffer(bytes, size, PETREL_BORROW, NULL, &module) == PETREL_OK);
  CHECK(count_right(module, "forward") >= 45);
  petrel_module_destroy(module);

  // A copy needs the caller's bytes no more.
  CHECK(petrel_module_load_buffer(bytes, size, PETREL_COPY, NULL, &module) == PETREL_OK);
  memset(bytes, 0xff, size);
  free(bytes);
  CHECK(count_right(module, "forward") >= 45);
  petrel_module_destroy(module);

  fd = open(kInline, O_RDONLY);
  CHECK(petrel_module_load_fd(fd, 0, size, NULL, &module) == PETREL_OK);
  close(fd);  // the module has its own
  CHECK(count_right(module, "forward") >= 45);
  petrel_module_destroy(module);
}

// An asset: program and weights inside one file, with other bytes around.
static void reads_assets_of_a_package(void) {
  char path[4096];
  petrel_options* with = options();
  petrel_module* module = NULL;
  size_t program_size, weights_size;
  unsigned char* program = read_file(kExternal, 0, &program_size);
  unsigned char* weights = read_file(kWeights, 0, &weights_size);
  const char* folder = getenv("TEST_TMPDIR");
  int fd;
  snprintf(path, sizeof(path), "%s/packageXXXXXX", folder != NULL ? folder : ".");
  fd = mkstemp(path);
  CHECK(write(fd, "package", 7) == 7);
  CHECK(write(fd, program, program_size) == (ssize_t)program_size);
  CHECK(write(fd, "--", 2) == 2);
  CHECK(write(fd, weights, weights_size) == (ssize_t)weights_size);
  CHECK(petrel_options_add_data_fd(with, fd, 9 + program_size, weights_size) == PETREL_OK);
  CHECK(petrel_module_load_fd(fd, 7, program_size, with, &module) == PETREL_OK);
  close(fd);
  petrel_options_destroy(with);
  CHECK(count_right(module, "forward") >= 45);
  petrel_module_destroy(module);
  free(program);
  free(weights);
}

static void takes_external_data_from_every_source(void) {
  petrel_module* module = NULL;
  petrel_options* with = options();
  size_t size;
  unsigned char* bytes;
  CHECK(petrel_module_load_path(kExternal, NULL, &module) == PETREL_OK);
  CHECK(petrel_module_load_method(module, "forward") == PETREL_NOT_FOUND);
  CHECK(strlen(petrel_error_text()) > 0);
  petrel_module_destroy(module);

  CHECK(petrel_options_add_data_path(with, kWeights) == PETREL_OK);
  CHECK(petrel_options_set_load_mode(with, PETREL_LOAD_MMAP) == PETREL_OK);
  CHECK(petrel_module_load_path(kExternal, with, &module) == PETREL_OK);
  CHECK(count_right(module, "forward") >= 45);
  petrel_module_destroy(module);

  // A second file with equal keys and equal bytes is fine.
  bytes = read_file(kWeights, 16, &size);
  CHECK(petrel_options_add_data_buffer(with, bytes + 16, size, PETREL_COPY) == PETREL_OK);
  free(bytes);
  CHECK(petrel_module_load_path(kExternal, with, &module) == PETREL_OK);
  // The options may go before the module.
  petrel_options_destroy(with);
  CHECK(count_right(module, "forward") >= 45);
  petrel_module_destroy(module);
}

static void takes_safetensors_files(void) {
  static const char kNoTensors[] = "\002\0\0\0\0\0\0\0{}";
  static const char kNoIndex[] = "\002\0\0\0\0\0\0\0[]";
  petrel_module* module = NULL;
  petrel_options* with = options();
  petrel_options* damaged = options();
  CHECK(petrel_options_add_data_buffer(with, kNoTensors, 10, PETREL_BORROW) == PETREL_OK);
  CHECK(petrel_module_load_path(kInline, with, &module) == PETREL_OK);
  petrel_options_destroy(with);
  CHECK(count_right(module, "forward") >= 45);
  petrel_module_destroy(module);

  CHECK(petrel_options_add_data_buffer(damaged, kNoIndex, 10, PETREL_BORROW) == PETREL_OK);
  CHECK(petrel_module_load_path(kInline, damaged, &module) == PETREL_INVALID_DATA);
  CHECK(strstr(petrel_error_text(), "safetensors index of 2 bytes is damaged") != NULL);
  petrel_options_destroy(damaged);
}

static void runs_several_methods(void) {
  petrel_module* module = NULL;
  petrel_options* with = options();
  const char* name = NULL;
  size_t count = 0;
  CHECK(petrel_options_add_data_path(with, kTwoWeights) == PETREL_OK);
  CHECK(petrel_options_set_num_threads(with, 2) == PETREL_OK);
  CHECK(petrel_options_set_share_memory(with, 1) == PETREL_OK);
  CHECK(petrel_options_set_writable_inputs(with, 1) == PETREL_OK);
  CHECK(petrel_module_load_path(kTwo, with, &module) == PETREL_OK);
  petrel_options_destroy(with);
  CHECK(petrel_module_num_methods(module, &count) == PETREL_OK && count == 2);
  CHECK(petrel_module_method_name(module, 0, &name) == PETREL_OK && strcmp(name, "classify") == 0);
  CHECK(petrel_module_method_name(module, 1, &name) == PETREL_OK && strcmp(name, "forward") == 0);
  CHECK(petrel_module_method_name(module, 2, &name) == PETREL_INVALID_ARGUMENT);
  CHECK(strcmp(petrel_error_text(), "index is 2, must be less than 2") == 0);
  CHECK(count_right(module, "classify") >= 45);
  CHECK(count_right(module, "forward") >= 45);
  CHECK(petrel_module_unload_method(module, "classify") == PETREL_OK);
  CHECK(count_right(module, "classify") >= 45);
  petrel_module_destroy(module);
}

static void tells_what_a_method_takes_and_gives(void) {
  petrel_module* module = NULL;
  petrel_value info = empty_value();
  size_t count = 0;
  CHECK(petrel_module_load_path(kInline, NULL, &module) == PETREL_OK);
  CHECK(petrel_module_num_inputs(module, "forward", &count) == PETREL_OK && count == 1);
  CHECK(petrel_module_num_outputs(module, "forward", &count) == PETREL_OK && count == 1);
  CHECK(petrel_module_input_info(module, "forward", 0, &info) == PETREL_OK);
  CHECK(info.kind == PETREL_KIND_TENSOR && info.dtype == PETREL_FLOAT32 && info.rank == 4);
  CHECK(info.sizes[0] == 1 && info.sizes[1] == 1 && info.sizes[2] == 8 && info.sizes[3] == 8);
  CHECK(info.dim_order[3] == 3 && info.is_dynamic == 0 && info.nbytes == 256);
  CHECK(info.data == NULL && info.struct_size == sizeof(info));
  CHECK(petrel_module_output_info(module, "forward", 0, &info) == PETREL_OK);
  CHECK(info.rank == 2 && info.sizes[0] == 1 && info.sizes[1] == 10);
  CHECK(petrel_module_output_info(module, "forward", 1, &info) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_module_input_info(module, "backward", 0, &info) == PETREL_NOT_FOUND);
  CHECK(strstr(petrel_error_text(), "backward") != NULL);
  info.struct_size = 8;
  CHECK(petrel_module_input_info(module, "forward", 0, &info) == PETREL_INVALID_ARGUMENT);
  CHECK(strstr(petrel_error_text(), "out->struct_size is 8") != NULL);
  petrel_module_destroy(module);
}

static void refuses_inputs_that_do_not_fit(void) {
  petrel_module* module = NULL;
  float pixels[kPixels] = {0};
  petrel_value good = image(pixels);
  petrel_value out = empty_value();
  petrel_value bad;
  CHECK(petrel_module_load_path(kInline, NULL, &module) == PETREL_OK);
  CHECK(petrel_module_get_output(module, "forward", 0, &out) == PETREL_INVALID_STATE);
  CHECK(petrel_module_run(module, "forward") == PETREL_INVALID_STATE);
  CHECK(strcmp(petrel_error_text(), "input 0 of method 'forward' has not been set") == 0);
#define REFUSES(change, said)                                                            \
  bad = good;                                                                            \
  change;                                                                                \
  CHECK(petrel_module_set_input(module, "forward", 0, &bad) == PETREL_INVALID_ARGUMENT); \
  CHECK(strcmp(petrel_error_text(), said) == 0)
  REFUSES(bad.dtype = 99, "input 0: dtype is 99, which is not an element type");
  REFUSES(bad.dtype = 262, "input 0: dtype is 262, which is not an element type");
  REFUSES(bad.rank = 17, "input 0: rank is 17, must be at most 16");
  REFUSES(bad.sizes[2] = -4, "input 0: dim 2 is -4, must be in [0, 2^31)");
  REFUSES(bad.sizes[2] = INT64_C(2147483648), "input 0: dim 2 is 2147483648, must be in [0, 2^31)");
  REFUSES((bad.sizes[0] = bad.sizes[1] = bad.sizes[2] = INT32_MAX),
          "input 0: its sizes need more bytes than there are addresses");
  REFUSES(bad.dim_order[1] = 0, "input 0: dim_order is not a permutation of 4 dimensions");
  REFUSES(bad.dim_order[1] = 200, "input 0: dim_order is not a permutation of 4 dimensions");
  REFUSES(bad.nbytes = 255, "input 0: nbytes is 255, its sizes need 256");
  REFUSES(bad.data = NULL, "input 0: data is NULL, must not be");
  REFUSES(bad.kind = 6, "input 0: kind is 6, must be in [0, 5]");
  REFUSES(bad.kind = -1, "input 0: kind is -1, must be in [0, 5]");
  REFUSES((bad.kind = PETREL_KIND_BOOL, bad.int_value = 2),
          "input 0: int_value of a bool is 2, must be 0 or 1");
  REFUSES((bad.kind = PETREL_KIND_STRING, bad.string_size = 3),
          "value->string is NULL, must not be");
  CHECK(petrel_module_set_input(module, "forward", 1, &good) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_module_set_input(module, "forward", (size_t)-1, &good) == PETREL_INVALID_ARGUMENT);

  // Well-formed, but not what the program takes: the run says so.
  bad = good;
  bad.sizes[2] = 16, bad.sizes[3] = 4;
  CHECK(petrel_module_set_input(module, "forward", 0, &bad) == PETREL_OK);
  CHECK(petrel_module_run(module, "forward") != PETREL_OK);
  CHECK(petrel_module_get_output(module, "forward", 0, &out) == PETREL_INVALID_STATE);
  bad = good;
  bad.kind = PETREL_KIND_DOUBLE;
  CHECK(petrel_module_set_input(module, "forward", 0, &bad) == PETREL_OK);
  CHECK(petrel_module_run(module, "forward") == PETREL_INVALID_ARGUMENT);
  CHECK(strcmp(petrel_error_text(), "input 0 is Double, must be Tensor") == 0);

  // A failed run forgets its inputs, and harms nothing.
  CHECK(petrel_module_run(module, "forward") == PETREL_INVALID_STATE);
  CHECK(count_right(module, "forward") >= 45);
  petrel_module_destroy(module);
}

static void checks_every_pointer(void) {
  petrel_module* module = NULL;
  petrel_options* with = options();
  const char* name;
  float pixels[kPixels] = {0};
  petrel_value value = image(pixels);
  size_t count;
  CHECK(petrel_module_load_path(kInline, NULL, &module) == PETREL_OK);
#define REFUSES_NULL(call, what)            \
  CHECK((call) == PETREL_INVALID_ARGUMENT); \
  CHECK(strcmp(petrel_error_text(), what " is NULL, must not be") == 0)
  REFUSES_NULL(petrel_options_create(NULL), "out");
  REFUSES_NULL(petrel_options_set_load_mode(NULL, 0), "options");
  REFUSES_NULL(petrel_options_set_num_threads(NULL, 1), "options");
  REFUSES_NULL(petrel_options_set_share_memory(NULL, 1), "options");
  REFUSES_NULL(petrel_options_set_writable_inputs(NULL, 1), "options");
  REFUSES_NULL(petrel_options_set_limit(NULL, PETREL_MAX_ARENA_BYTES, 1), "options");
  REFUSES_NULL(petrel_options_set_data_precedence(NULL, 1), "options");
  REFUSES_NULL(petrel_options_add_data_path(NULL, "x"), "options");
  REFUSES_NULL(petrel_options_add_data_path(with, NULL), "path");
  REFUSES_NULL(petrel_options_add_data_buffer(NULL, "x", 1, 0), "options");
  REFUSES_NULL(petrel_options_add_data_buffer(with, NULL, 1, 0), "data");
  REFUSES_NULL(petrel_options_add_data_fd(NULL, 0, 0, 1), "options");
  REFUSES_NULL(petrel_module_load_path(NULL, NULL, &module), "path");
  REFUSES_NULL(petrel_module_load_path(kInline, NULL, NULL), "out");
  REFUSES_NULL(petrel_module_load_buffer(NULL, 1, 0, NULL, &module), "data");
  REFUSES_NULL(petrel_module_load_buffer("x", 1, 0, NULL, NULL), "out");
  REFUSES_NULL(petrel_module_load_fd(0, 0, 1, NULL, NULL), "out");
  REFUSES_NULL(petrel_module_num_methods(NULL, &count), "module");
  REFUSES_NULL(petrel_module_num_methods(module, NULL), "out");
  REFUSES_NULL(petrel_module_method_name(NULL, 0, &name), "module");
  REFUSES_NULL(petrel_module_method_name(module, 0, NULL), "out");
  REFUSES_NULL(petrel_module_num_inputs(NULL, "forward", &count), "module");
  REFUSES_NULL(petrel_module_num_inputs(module, NULL, &count), "method");
  REFUSES_NULL(petrel_module_num_inputs(module, "forward", NULL), "out");
  REFUSES_NULL(petrel_module_num_outputs(module, NULL, &count), "method");
  REFUSES_NULL(petrel_module_num_outputs(module, "forward", NULL), "out");
  REFUSES_NULL(petrel_module_input_info(NULL, "forward", 0, &value), "module");
  REFUSES_NULL(petrel_module_input_info(module, NULL, 0, &value), "method");
  REFUSES_NULL(petrel_module_input_info(module, "forward", 0, NULL), "out");
  REFUSES_NULL(petrel_module_output_info(module, "forward", 0, NULL), "out");
  REFUSES_NULL(petrel_module_load_method(NULL, "forward"), "module");
  REFUSES_NULL(petrel_module_load_method(module, NULL), "method");
  REFUSES_NULL(petrel_module_unload_method(NULL, "forward"), "module");
  REFUSES_NULL(petrel_module_unload_method(module, NULL), "method");
  REFUSES_NULL(petrel_module_set_input(NULL, "forward", 0, &value), "module");
  REFUSES_NULL(petrel_module_set_input(module, NULL, 0, &value), "method");
  REFUSES_NULL(petrel_module_set_input(module, "forward", 0, NULL), "value");
  REFUSES_NULL(petrel_module_run(NULL, "forward"), "module");
  REFUSES_NULL(petrel_module_run(module, NULL), "method");
  REFUSES_NULL(petrel_module_get_output(NULL, "forward", 0, &value), "module");
  REFUSES_NULL(petrel_module_get_output(module, NULL, 0, &value), "method");
  REFUSES_NULL(petrel_module_get_output(module, "forward", 0, NULL), "out");
  petrel_options_destroy(NULL);
  petrel_module_destroy(NULL);
  petrel_options_destroy(with);
  petrel_module_destroy(module);
}

static void refuses_options_and_files_that_are_wrong(void) {
  petrel_options* with = options();
  petrel_module* const untouched = (petrel_module*)&failures;
  petrel_module* module = untouched;
  int fd = open(kInline, O_RDONLY);
  CHECK(petrel_options_set_load_mode(with, 2) == PETREL_INVALID_ARGUMENT);
  CHECK(strcmp(petrel_error_text(), "mode is 2, must be in [0, 1]") == 0);
  CHECK(petrel_options_set_num_threads(with, -1) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_options_set_num_threads(with, 1025) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_options_set_share_memory(with, 2) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_options_set_writable_inputs(with, 2) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_options_set_limit(with, PETREL_MAX_ELEMENT_OPERATIONS + 1, 1) ==
        PETREL_INVALID_ARGUMENT);
  CHECK(petrel_options_set_data_precedence(with, 3) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_options_add_data_buffer(with, "x", 1, 2) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_options_add_data_fd(with, -1, 0, 1) == PETREL_ACCESS_FAILED);
  CHECK(petrel_module_load_path("no such file", NULL, &module) == PETREL_NOT_FOUND);
  CHECK(strstr(petrel_error_text(), "no such file") != NULL);
  CHECK(petrel_module_load_path(kWeights, NULL, &module) == PETREL_INVALID_PROGRAM);
  CHECK(petrel_module_load_buffer(NULL, 0, PETREL_COPY, NULL, &module) != PETREL_OK);
  CHECK(petrel_module_load_buffer("short", 5, PETREL_BORROW, NULL, &module) != PETREL_OK);
  CHECK(petrel_module_load_fd(fd, 0, UINT64_MAX, NULL, &module) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_module_load_fd(fd, UINT64_MAX, 2, NULL, &module) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_module_load_fd(-1, 0, 2, NULL, &module) != PETREL_OK);
  CHECK(petrel_options_add_data_path(with, kInline) == PETREL_OK);
  CHECK(petrel_module_load_path(kInline, with, &module) == PETREL_INVALID_DATA);
  CHECK(module == untouched);  // written only on success
  close(fd);
  petrel_options_destroy(with);
}

struct log_state {
  int messages;
  int32_t last_level;
};

static void count_message(void* context, int32_t level, const char* message) {
  struct log_state* state = context;
  ++state->messages;
  state->last_level = level;
  CHECK(strlen(message) > 0);
}

static void sends_messages_to_the_log(void) {
  struct log_state state = {0, -1};
  petrel_module* module = NULL;
  CHECK(petrel_set_log(&count_message, &state) == PETREL_OK);
  CHECK(petrel_module_load_path("no such file", NULL, &module) == PETREL_NOT_FOUND);
  CHECK(state.messages >= 1 && state.last_level == PETREL_LOG_ERROR);
  state.messages = 0;
  CHECK(petrel_set_log(NULL, NULL) == PETREL_OK);
  CHECK(petrel_module_load_path("no such file", NULL, &module) == PETREL_NOT_FOUND);
  CHECK(state.messages == 0);
}

static void* fail_on_another_thread(void* context) {
  petrel_module* module = NULL;
  const char** text = context;
  CHECK(strcmp(petrel_error_text(), "") == 0);
  CHECK(petrel_module_load_path("other thread", NULL, &module) == PETREL_NOT_FOUND);
  *text = strstr(petrel_error_text(), "other thread") != NULL ? "ok" : "wrong";
  return NULL;
}

static void keeps_the_text_of_each_thread_apart(void) {
  petrel_module* module = NULL;
  const char* text = "not run";
  pthread_t thread;
  CHECK(petrel_module_load_path("this thread", NULL, &module) == PETREL_NOT_FOUND);
  CHECK(pthread_create(&thread, NULL, &fail_on_another_thread, (void*)&text) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(strcmp(text, "ok") == 0);
  CHECK(strstr(petrel_error_text(), "this thread") != NULL);
}

static void* classify(void* context) {
  petrel_module* module = NULL;
  int* right = context;
  CHECK(petrel_module_load_path(kInline, NULL, &module) == PETREL_OK);
  *right = count_right(module, "forward");
  petrel_module_destroy(module);
  return NULL;
}

static void runs_modules_on_several_threads(void) {
  pthread_t threads[4];
  int right[4] = {0};
  size_t i;
  for (i = 0; i < 4; ++i) CHECK(pthread_create(&threads[i], NULL, &classify, &right[i]) == 0);
  for (i = 0; i < 4; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  for (i = 0; i < 4; ++i) CHECK(right[i] >= 45 && right[i] == right[0]);
}

static void tells_what_integers_stand_for(void) {
  petrel_module* module = NULL;
  petrel_levels levels;
  petrel_value info;
  memset(&levels, 0, sizeof(levels));
  PETREL_VALUE_INIT(&info);
  CHECK(petrel_module_load_path(kLevels, NULL, &module) == PETREL_OK);
  CHECK(petrel_module_input_levels(module, "forward", 0, &levels) == PETREL_INVALID_ARGUMENT);
  CHECK(strstr(petrel_error_text(), "struct_size is 0") != NULL);
  levels.struct_size = sizeof(levels);
  CHECK(petrel_module_input_levels(module, "forward", 0, &levels) == PETREL_OK);
  CHECK(levels.dtype == PETREL_INT8 && levels.quant_min == -128 && levels.quant_max == 127);
  CHECK(levels.scale > 0.01 && levels.scale < 0.1);
  CHECK(petrel_module_input_info(module, "forward", 0, &info) == PETREL_OK);
  CHECK(info.dtype == PETREL_INT8);
  CHECK(petrel_module_output_levels(module, "forward", 0, &levels) == PETREL_OK);
  CHECK(petrel_module_output_levels(module, "forward", 1, &levels) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_module_output_levels(module, "forward", 0, NULL) == PETREL_INVALID_ARGUMENT);
  petrel_module_destroy(module);
  CHECK(petrel_module_load_path(kInline, NULL, &module) == PETREL_OK);
  CHECK(petrel_module_input_levels(module, "forward", 0, &levels) == PETREL_NOT_FOUND);
  petrel_module_destroy(module);
}

// Before anything computes, which fixes the level.
static void caps_the_instruction_set(void) {
  petrel_module* module = NULL;
#if defined(__aarch64__)
  const char* lowest = "neon";
#else
  const char* lowest = "sse2";
#endif
  CHECK(petrel_set_isa_level(NULL) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_set_isa_level("avx9") == PETREL_INVALID_ARGUMENT);
  CHECK(strstr(petrel_error_text(), lowest) != NULL);
  CHECK(petrel_set_isa_level("native") == PETREL_OK);
  CHECK(petrel_set_isa_level(lowest) == PETREL_OK);
  CHECK(petrel_module_load_path(kInline, NULL, &module) == PETREL_OK);
  CHECK(count_right(module, "forward") >= 45);
  petrel_module_destroy(module);
  CHECK(petrel_set_isa_level(lowest) == PETREL_OK);
  CHECK(petrel_set_isa_level("native") == PETREL_INVALID_STATE);
}

int main(void) {
  caps_the_instruction_set();
  tells_what_integers_stand_for();
  classifies_from_every_source();
  reads_assets_of_a_package();
  takes_external_data_from_every_source();
  takes_safetensors_files();
  runs_several_methods();
  tells_what_a_method_takes_and_gives();
  refuses_inputs_that_do_not_fit();
  checks_every_pointer();
  refuses_options_and_files_that_are_wrong();
  sends_messages_to_the_log();
  keeps_the_text_of_each_thread_apart();
  runs_modules_on_several_threads();
  if (failures > 0) fprintf(stderr, "%d checks failed\n", failures);
  return failures > 0;
}
