// SPDX-License-Identifier: Apache-2.0
//
// The data of programs through the C interface.
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "extension/c_api/petrel.h"
#include "extension/c_api/test_helpers.h"

static const char kBound[] = "extension/c_api/bound.pte";
static const char kBoundWeights[] = "extension/c_api/bound.ptd";
static const char kSwap[] = "extension/c_api/swap.pte";
static const char kSwapWeights[] = "extension/c_api/swap.ptd";
static const char kTwo[] = "extension/c_api/kernels_two.pte";
static const char kTwoWeights[] = "extension/c_api/kernels_two.ptd";

// Ways in: a path that is read and one that is mapped, a buffer and a descriptor.
enum { kWays = 4, kClasses = 10, kFeatures = 64 };

static void add_data(petrel_options* to, int way, const unsigned char* bytes, size_t size) {
  // Another file each time: what is open cannot be replaced on every system.
  static int count = 0;
  char path[512];
  FILE* file;
  snprintf(path, sizeof path, "%s/given%d", getenv("TEST_TMPDIR"), count++);
  file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(bytes, 1, size, file) == size);
  fclose(file);
  if (way < 2) {
    CHECK(petrel_options_set_load_mode(to, way) == PETREL_OK);
    CHECK(petrel_options_add_data_path(to, path) == PETREL_OK);
  } else if (way == 2) {
    CHECK(petrel_options_add_data_buffer(to, bytes, size, PETREL_COPY) == PETREL_OK);
  } else {
    const int fd = open(path, O_RDONLY);
    CHECK(petrel_options_add_data_fd(to, fd, 0, size) == PETREL_OK);
    close(fd);
  }
}

static petrel_module* load(const char* program, const char* data, int way, int is_other) {
  petrel_module* module = NULL;
  petrel_options* with = options();
  size_t size;
  unsigned char* bytes = read_file(data, 16, &size);
  bytes[16 + size - 1] ^= (unsigned char)is_other;
  add_data(with, way, bytes + 16, size);
  free(bytes);
  CHECK(petrel_module_load_path(program, with, &module) == PETREL_OK);
  petrel_options_destroy(with);
  return module;
}

static void holds_data_to_what_the_program_is_bound_to(void) {
  int way, is_other;
  for (way = 0; way < kWays; ++way) {
    for (is_other = 0; is_other < 2; ++is_other) {
      petrel_module* module = load(kBound, kBoundWeights, way, is_other);
      CHECK((petrel_module_load_method(module, "forward") == PETREL_OK) == !is_other);
      CHECK(!is_other || strstr(petrel_error_text(), "the program is bound to") != NULL);
      petrel_module_destroy(module);
    }
  }
}

// A .safetensors file with the last layer: weights of 0, and `classes` biases.
static petrel_options* last_layer(int way, int classes, float bias) {
  petrel_options* made = options();
  static unsigned char bytes[8 + 256 + 4 * (kFeatures + 1) * kClasses];
  char* const header = (char*)bytes + 8;
  const int weights = 4 * kFeatures * kClasses;
  float* const data = (float*)(void*)(header + 248);
  size_t i;
  memset(bytes, 0, sizeof bytes);
  memset(header, ' ', 248);
  bytes[0] = 248;
  i = (size_t)sprintf(header,
                      "{\"score.weight\":{\"dtype\":\"F32\",\"shape\":[%d,%d],"
                      "\"data_offsets\":[0,%d]},\"score.bias\":{\"dtype\":\"F32\","
                      "\"shape\":[%d],\"data_offsets\":[%d,%d]}}",
                      kClasses, kFeatures, weights, classes, weights, weights + 4 * classes);
  header[i] = ' ';
  for (i = 0; i < (size_t)classes; ++i) data[kFeatures * kClasses + i] = bias;
  add_data(made, way, bytes, 8 + 248 + (size_t)(weights + 4 * classes));
  return made;
}

// The score of class 9 for a gray image; NaN on an error.
static float last_score(petrel_module* module) {
  static const int64_t sizes[] = {1, 1, 8, 8};
  float pixels[64];
  petrel_value in = petrel_tensor(PETREL_FLOAT32, 4, sizes, pixels, sizeof pixels);
  petrel_value out;
  int i;
  PETREL_VALUE_INIT(&out);
  for (i = 0; i < 64; ++i) pixels[i] = 0.5f;
  if (petrel_module_set_input(module, "forward", 0, &in) != PETREL_OK ||
      petrel_module_run(module, "forward") != PETREL_OK ||
      petrel_module_get_output(module, "forward", 0, &out) != PETREL_OK) {
    CHECK(0);
    return 0.0f / 0.0f;
  }
  return ((const float*)out.data)[9];
}

static void replace(petrel_module* module, petrel_options* data, const char* keys,
                    petrel_status wanted, size_t wanted_changed) {
  size_t changed = 99;
  CHECK(petrel_module_replace_data(module, data, keys, &changed) == wanted);
  CHECK(changed == (wanted == PETREL_OK ? wanted_changed : 99));
  petrel_options_destroy(data);
}

static void replaces_data_of_a_loaded_module(void) {
  int way;
  for (way = 0; way < kWays; ++way) {
    petrel_module* module = load(kSwap, kSwapWeights, way, 0);
    const float before = last_score(module);
    CHECK(before == before && before != 1.5f);
    replace(module, last_layer(way, kClasses, 1.5f), NULL, PETREL_OK, 2);
    // What the last run gave may have been a view of the weights before.
    {
      petrel_value out;
      PETREL_VALUE_INIT(&out);
      CHECK(petrel_module_get_output(module, "forward", 0, &out) == PETREL_INVALID_STATE);
    }
    CHECK(last_score(module) == 1.5f);
    replace(module, last_layer(way, kClasses, 1.5f), "score.*", PETREL_OK, 0);
    replace(module, last_layer(way, kClasses, 2.5f), "*.weight", PETREL_OK, 0);
    CHECK(last_score(module) == 1.5f);
    // What does not fit leaves the module as it is.
    replace(module, last_layer(way, 5, 3.5f), "score.*", PETREL_INVALID_DATA, 0);
    CHECK(strstr(petrel_error_text(), "\"score.bias\" is float32 [5]") != NULL);
    replace(module, last_layer(way, kClasses, 3.5f), "*lora*", PETREL_NOT_FOUND, 0);
    CHECK(strstr(petrel_error_text(), "no key of the data matches \"*lora*\"") != NULL);
    CHECK(last_score(module) == 1.5f);
    CHECK(petrel_module_unload_method(module, "forward") == PETREL_OK);
    replace(module, last_layer(way, kClasses, -2), "score.bias", PETREL_OK, 1);
    CHECK(last_score(module) == -2);
    petrel_module_destroy(module);
  }
}

static void shows_weights_and_state_by_name(void) {
  petrel_module* module = load(kTwo, kTwoWeights, 1, 0);
  petrel_value value;
  PETREL_VALUE_INIT(&value);
  CHECK(petrel_module_get_attribute(module, "forward", "score.bias", &value) == PETREL_OK);
  CHECK(value.kind == PETREL_KIND_TENSOR && value.rank == 1 && value.sizes[0] == kClasses);
  CHECK(petrel_module_get_attribute(module, "forward", "none", &value) == PETREL_NOT_FOUND);
  CHECK(petrel_module_get_attribute(module, "none", "score.bias", &value) == PETREL_NOT_FOUND);
  CHECK(petrel_module_get_attribute(NULL, "forward", "none", &value) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_module_get_attribute(module, NULL, "none", &value) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_module_get_attribute(module, "forward", NULL, &value) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_module_get_attribute(module, "forward", "none", NULL) == PETREL_INVALID_ARGUMENT);
  petrel_module_destroy(module);
}

static void the_first_of_several_files_counts_if_asked(void) {
  petrel_module* module = load(kSwap, kSwapWeights, 1, 0);
  petrel_options* data = last_layer(1, kClasses, 4);
  size_t size;
  unsigned char* bytes = read_file(kSwapWeights, 16, &size);
  CHECK(petrel_options_add_data_buffer(data, bytes + 16, size, PETREL_BORROW) == PETREL_OK);
  CHECK(petrel_module_replace_data(module, data, NULL, NULL) == PETREL_INVALID_DATA);
  CHECK(petrel_options_set_data_order(data, PETREL_DATA_FIRST_COUNTS + 1) ==
        PETREL_INVALID_ARGUMENT);
  CHECK(petrel_options_set_data_order(data, PETREL_DATA_FIRST_COUNTS) == PETREL_OK);
  CHECK(petrel_module_replace_data(module, data, NULL, NULL) == PETREL_OK);
  CHECK(last_score(module) == 4);
  CHECK(petrel_module_replace_data(NULL, data, NULL, NULL) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_module_replace_data(module, NULL, NULL, NULL) == PETREL_INVALID_ARGUMENT);
  petrel_module_destroy(module);
  petrel_options_destroy(data);
  free(bytes);
}

// A map of the app over a data file of two keys.
typedef struct app_data {
  float weights[kFeatures * kClasses];
  float biases[kClasses];
  int asked, freed, destroyed;
} app_data;

static petrel_status get_data(void* context, const char* key, const void** data, size_t* size) {
  app_data* app = context;
  ++app->asked;
  if (strcmp(key, "score.weight") == 0) {
    *data = app->weights;
    *size = sizeof app->weights;
  } else if (strcmp(key, "score.bias") == 0) {
    *data = app->biases;
    *size = sizeof app->biases;
  } else {
    --app->asked;
    return strcmp(key, "broken") == 0 ? PETREL_INTERNAL : PETREL_NOT_FOUND;
  }
  return PETREL_OK;
}

static void free_data(void* context, const void* data, size_t size) {
  app_data* app = context;
  CHECK(data == (const void*)app->weights || data == (const void*)app->biases);
  CHECK(size > 0);
  ++app->freed;
}

static void destroy(void* context) { ++((app_data*)context)->destroyed; }

static void takes_data_from_functions_of_the_app(void) {
  static const char* const keys[] = {"score.weight", "score.bias"};
  static app_data app;
  petrel_module* module = load(kSwap, kSwapWeights, 1, 0);
  petrel_options* data = options();
  petrel_data_map map;
  memset(&map, 0, sizeof map);
  CHECK(petrel_options_add_data_map(data, NULL) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_options_add_data_map(data, &map) == PETREL_INVALID_ARGUMENT);
  map.struct_size = sizeof map;
  CHECK(petrel_options_add_data_map(data, &map) == PETREL_INVALID_ARGUMENT);
  map.context = &app;
  map.get_data = get_data;
  map.num_keys = 2;
  CHECK(petrel_options_add_data_map(data, &map) == PETREL_INVALID_ARGUMENT);
  map.keys = keys;
  map.free_data = free_data;
  map.destroy = destroy;
  CHECK(petrel_options_add_data_map(data, &map) == PETREL_OK);
  app.biases[9] = 6;
  CHECK(last_score(module) != 6);
  replace(module, data, NULL, PETREL_OK, 2);
  CHECK(last_score(module) == 6);
  CHECK(app.asked > 0 && app.destroyed == 0);
  replace(module, last_layer(1, kClasses, 1), NULL, PETREL_OK, 1);
  CHECK(last_score(module) == 1);
  replace(module, last_layer(1, kClasses, 2), "score.bias", PETREL_OK, 1);
  petrel_module_destroy(module);
  CHECK(app.freed == app.asked && app.destroyed == 1);
}

static void tells_backends_options(void) {
  petrel_module* module = NULL;
  petrel_options* with = options();
  char text[300];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  CHECK(petrel_options_set_backend_int(with, NULL, "a", 1) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_options_set_backend_int(with, "XnnpackBackend", NULL, 1) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_options_set_backend_int(with, "XnnpackBackend", text, 1) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_options_set_backend_text(with, "XnnpackBackend", "a", NULL) ==
        PETREL_INVALID_ARGUMENT);
  CHECK(petrel_options_set_backend_text(with, "XnnpackBackend", "a", text) ==
        PETREL_INVALID_ARGUMENT);
  CHECK(petrel_options_add_data_path(with, kSwapWeights) == PETREL_OK);
  CHECK(petrel_module_load_path(kSwap, with, &module) == PETREL_OK);
  CHECK(petrel_module_load_method(module, "forward") == PETREL_OK);
  petrel_module_destroy(module);
  // An option that the backend does not know reaches it.
  CHECK(petrel_options_set_backend_bool(with, "XnnpackBackend", "no_such_option", 1) == PETREL_OK);
  CHECK(petrel_options_set_backend_text(with, "Another", "name", "value") == PETREL_OK);
  CHECK(petrel_module_load_path(kSwap, with, &module) == PETREL_OK);
  petrel_options_destroy(with);
  CHECK(petrel_module_load_method(module, "forward") != PETREL_OK);
  CHECK(strstr(petrel_error_text(), "no_such_option") != NULL);
  petrel_module_destroy(module);
}

// Outputs in memory of the caller, over inputs that nobody may write, by a handle.
static void runs_a_method_found_once(void) {
  static const int64_t sizes[] = {1, 1, 8, 8};
  static const float pixels[64] = {0.5f, 0.25f};
  petrel_module* module = load(kSwap, kSwapWeights, 1, 0);
  petrel_method* method = NULL;
  petrel_method* same = NULL;
  petrel_value in = petrel_const_tensor(PETREL_FLOAT32, 4, sizes, pixels, sizeof pixels);
  petrel_value out;
  float scores[kClasses] = {0}, first[kClasses];
  int32_t stays = 0;
  PETREL_VALUE_INIT(&out);
  CHECK(petrel_module_method(module, "none", &method) == PETREL_NOT_FOUND);
  CHECK(petrel_module_output_stays(module, "forward", 0, &stays) == PETREL_INVALID_STATE);
  CHECK(petrel_module_method(module, "forward", &method) == PETREL_OK);
  CHECK(petrel_module_method(module, "forward", &same) == PETREL_OK && same == method);
  CHECK(petrel_method_set_input(method, 0, &in) == PETREL_OK);
  CHECK(petrel_method_run(method) == PETREL_OK);
  CHECK(petrel_method_get_output(method, 0, &out) == PETREL_OK);
  CHECK(out.data != (void*)scores && out.nbytes == sizeof scores);
  CHECK(petrel_module_output_stays(module, "forward", 0, &stays) == PETREL_OK && stays == 1);
  CHECK(petrel_module_output_stays(module, "forward", 1, &stays) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_module_output_stays(module, "forward", 0, NULL) == PETREL_INVALID_ARGUMENT);
  memcpy(first, out.data, sizeof first);

  CHECK(petrel_method_set_output(method, 0, scores, sizeof scores) == PETREL_OK);
  CHECK(petrel_method_set_output(method, 1, scores, sizeof scores) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_method_set_input(method, 0, &in) == PETREL_OK);
  CHECK(petrel_method_run(method) == PETREL_OK);
  CHECK(memcmp(scores, first, sizeof first) == 0);
  CHECK(petrel_method_get_output(method, 0, &out) == PETREL_OK && out.data == (void*)scores);
  CHECK(petrel_module_unload_method(module, "forward") == PETREL_OK);
  // It is forgotten with the method; the handle is not.
  CHECK(petrel_method_set_output(method, 0, scores, sizeof scores - 1) == PETREL_OK);
  CHECK(petrel_method_set_input(method, 0, &in) == PETREL_OK);
  CHECK(petrel_method_run(method) == PETREL_INVALID_ARGUMENT);
  CHECK(strstr(petrel_error_text(), "output 0 of method 'forward'") != NULL);
  CHECK(petrel_method_get_output(method, 0, &out) == PETREL_INVALID_STATE);
  CHECK(petrel_module_set_output(module, "forward", 0, NULL, 0) == PETREL_OK);
  CHECK(petrel_method_set_input(method, 0, &in) == PETREL_OK);
  CHECK(petrel_method_run(method) == PETREL_OK);
  CHECK(petrel_method_run(NULL) == PETREL_INVALID_ARGUMENT);
  petrel_module_destroy(module);
}

int main(void) {
  holds_data_to_what_the_program_is_bound_to();
  replaces_data_of_a_loaded_module();
  shows_weights_and_state_by_name();
  the_first_of_several_files_counts_if_asked();
  takes_data_from_functions_of_the_app();
  tells_backends_options();
  runs_a_method_found_once();
  if (failures > 0) fprintf(stderr, "%d checks failed\n", failures);
  return failures > 0;
}
