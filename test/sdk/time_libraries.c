/* SPDX-License-Identifier: Apache-2.0 */
/* time_libraries FIRST SECOND PROGRAM: how much of a processor's time method forward of a program
 * takes on ones, on one thread, with two builds of libpetrel.so in one process. They run by
 * turns, so that what else the machine does meets both alike. Prints the microseconds of each and
 * the median over all turns of how much longer the second takes: "12.50 12.75 1.020". */
#include <dlfcn.h>
#include <petrel/petrel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kTurns = 61 };
static const double kTurn = 5e-3; /* seconds */

typedef struct library {
  const char* (*error_text)(void);
  petrel_status (*method_run)(petrel_method* method);
  petrel_status (*method_set_input)(petrel_method* method, size_t index, const petrel_value* value);
  petrel_method* method;
  petrel_value* inputs;
  size_t count;
} library;

static void* symbol(void* handle, const char* name) {
  void* found = dlsym(handle, name);
  if (found == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return found;
}

#define TAKE(handle, name) *(void**)&(name) = symbol(handle, "petrel_" #name)

static void check(const library* from, petrel_status status) {
  if (status == PETREL_OK) return;
  fprintf(stderr, "%s\n", from->error_text());
  exit(1);
}

/* Ones, or what is closest to them in bytes: 1.0f, 1. */
static void fill(petrel_value* value) {
  const float one = 1;
  size_t i;
  value->data = calloc(1, value->nbytes + sizeof one);
  if (value->data == NULL) exit(1);
  if (value->dtype == PETREL_FLOAT32) {
    for (i = 0; i + sizeof one <= value->nbytes; i += sizeof one) {
      memcpy((char*)value->data + i, &one, sizeof one);
    }
  }
}

static void load(library* to, const char* path, const char* program) {
  petrel_status (*options_create)(petrel_options**);
  petrel_status (*options_set_num_threads)(petrel_options*, int32_t);
  petrel_status (*module_load_path)(const char*, const petrel_options*, petrel_module**);
  petrel_status (*module_num_inputs)(const petrel_module*, const char*, size_t*);
  petrel_status (*module_input_info)(const petrel_module*, const char*, size_t, petrel_value*);
  petrel_status (*module_method)(petrel_module*, const char*, petrel_method**);
  petrel_options* options;
  petrel_module* module;
  size_t i;
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  *(void**)&to->error_text = symbol(handle, "petrel_error_text");
  *(void**)&to->method_run = symbol(handle, "petrel_method_run");
  *(void**)&to->method_set_input = symbol(handle, "petrel_method_set_input");
  TAKE(handle, options_create);
  TAKE(handle, options_set_num_threads);
  TAKE(handle, module_load_path);
  TAKE(handle, module_num_inputs);
  TAKE(handle, module_input_info);
  TAKE(handle, module_method);
  check(to, options_create(&options));
  check(to, options_set_num_threads(options, 1));
  check(to, module_load_path(program, options, &module));
  check(to, module_method(module, "forward", &to->method));
  check(to, module_num_inputs(module, "forward", &to->count));
  to->inputs = calloc(to->count + 1, sizeof *to->inputs);
  if (to->inputs == NULL) exit(1);
  for (i = 0; i < to->count; ++i) {
    PETREL_VALUE_INIT(&to->inputs[i]);
    check(to, module_input_info(module, "forward", i, &to->inputs[i]));
    fill(&to->inputs[i]);
  }
}

/* Inputs are set for one run. */
static void run(const library* of) {
  size_t i;
  for (i = 0; i < of->count; ++i) check(of, of->method_set_input(of->method, i, &of->inputs[i]));
  check(of, of->method_run(of->method));
}

/* Of `runs` runs together. */
static double seconds(const library* of, long runs) {
  struct timespec begin, end;
  long i;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  for (i = 0; i < runs; ++i) run(of);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

static int compare(const void* first, const void* second) {
  const double a = *(const double*)first, b = *(const double*)second;
  return a < b ? -1 : a > b;
}

static double median(double* values) {
  qsort(values, kTurns, sizeof *values, &compare);
  return values[kTurns / 2];
}

int main(int argc, char** argv) {
  library first, second;
  double taken[2][kTurns], ratios[kTurns];
  long runs = 1;
  int turn;
  if (argc != 4) return 2;
  load(&first, argv[1], argv[3]);
  load(&second, argv[2], argv[3]);
  while (seconds(&first, runs) < kTurn) runs *= 2;
  seconds(&second, runs);
  for (turn = 0; turn < kTurns; ++turn) {
    /* Whoever comes first is not always the same. */
    if (turn % 2 == 0) taken[0][turn] = seconds(&first, runs);
    taken[1][turn] = seconds(&second, runs);
    if (turn % 2 != 0) taken[0][turn] = seconds(&first, runs);
    ratios[turn] = taken[1][turn] / taken[0][turn];
  }
  printf("%.2f %.2f ", 1e6 * median(taken[0]) / (double)runs,
         1e6 * median(taken[1]) / (double)runs);
  printf("%.3f\n", median(ratios));
  return 0;
}
