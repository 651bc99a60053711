/* SPDX-License-Identifier: Apache-2.0
 *
 * A main program that needs no host: where the board reaches files (an emulator), it runs one
 * method on input_0.bin, ... and writes output_0.bin, ... and report.bin; elsewhere it runs the
 * self-test and says through the stream of the board how that went.
 *
 *   input_N.bin    the elements as they lie in memory, little-endian
 *   input_N.sizes  an int32 for each dim, where the sizes of an input vary
 *   report.bin     struct report
 *
 * The stack is painted before and looked at afterwards. */
#include "firmware.h"
#include "places.h"
#include "say.h"

#define PAINT 0xa5u

struct report {
  uint32_t magic;
  int32_t status; /* of the model */
  int32_t timer;  /* PETREL_BOARD_OK, or what the timer says */
  uint32_t hz;
  uint32_t ticks_low;
  uint32_t ticks_high;
  uint32_t stack_used; /* at most, since the start; 0: not known */
  uint32_t stack_bytes;
};

#define REPORT_MAGIC 0x54525050u

/* "input_12.bin". */
static void name_file(char *path, const char *role, uint32_t index, const char *ending) {
  char digits[10];
  size_t count = 0;
  do {
    digits[count++] = (char)('0' + index % 10u);
    index /= 10u;
  } while (index != 0u);
  while (*role != '\0') *path++ = *role++;
  while (count > 0) *path++ = digits[--count];
  while (*ending != '\0') *path++ = *ending++;
  *path = '\0';
}

/* Everything below what is in use now. */
static void paint_stack(const struct petrel_board *board) {
  volatile unsigned char here = 0;
  unsigned char *byte = board->stack_low;
  if (byte == NULL) return;
  while ((uintptr_t)byte + 128u < (uintptr_t)&here) *byte++ = PAINT;
}

static uint32_t used_stack(const struct petrel_board *board) {
  const unsigned char *byte = board->stack_low;
  if (byte == NULL) return 0;
  while (byte < board->stack_high && *byte == PAINT) ++byte;
  return (uint32_t)(board->stack_high - byte);
}

#ifdef PETREL_APP_VARIES
static size_t count_bytes(const struct petrel_tensor_info *tensor, const int32_t *sizes) {
  size_t bytes = tensor->bytes;
  uint32_t d;
  /* The element is what is left of the largest tensor. */
  for (d = 0; d < tensor->rank; ++d) bytes /= tensor->sizes[d] > 0 ? (size_t)tensor->sizes[d] : 1u;
  for (d = 0; d < tensor->rank; ++d) bytes *= (size_t)sizes[d];
  return bytes;
}

/* Takes the sizes of all inputs that vary. */
static int32_t read_sizes(const struct petrel_board *board, const struct petrel_app *app,
                          const struct petrel_method_info *method) {
  static int32_t sizes[PETREL_APP_MAX_TENSORS][PETREL_APP_MAX_RANK];
  const int32_t *all[PETREL_APP_MAX_TENSORS];
  char path[32];
  uint32_t i;
  for (i = 0; i < method->num_inputs; ++i) {
    all[i] = NULL;
    if (method->inputs[i].least_sizes == NULL) continue;
    name_file(path, "input_", i, ".sizes");
    if (board->bulk.read(board->user, path, 0, sizes[i], 4u * method->inputs[i].rank) != 0) {
      return PETREL_MODEL_E_NOT_FOUND;
    }
    all[i] = sizes[i];
  }
  return method->set_sizes == NULL ? PETREL_MODEL_OK : method->set_sizes(app->context, all);
}
#endif

/* The bytes of an input or output of this call. */
static size_t bytes_of(const struct petrel_app *app, const struct petrel_tensor_info *tensor) {
#ifdef PETREL_APP_VARIES
  int32_t sizes[PETREL_APP_MAX_RANK];
  if (tensor->actual_sizes != NULL) {
    tensor->actual_sizes(app->context, sizes);
    return count_bytes(tensor, sizes);
  }
#endif
  (void)app;
  return tensor->bytes;
}

static int32_t write_outputs(const struct petrel_board *board, const struct petrel_app *app,
                             const struct petrel_method_info *method, void *const *outputs) {
  char path[32];
  uint32_t i;
  int32_t status = 0;
  for (i = 0; i < method->num_outputs && status == 0; ++i) {
    const struct petrel_tensor_info *tensor = &method->outputs[i];
    name_file(path, "output_", i, ".bin");
    status = board->bulk.write(board->user, path, 0, outputs[i], bytes_of(app, tensor));
#ifdef PETREL_APP_VARIES
    if (tensor->actual_sizes != NULL && status == 0) {
      int32_t sizes[PETREL_APP_MAX_RANK];
      tensor->actual_sizes(app->context, sizes);
      name_file(path, "output_", i, ".sizes");
      status = board->bulk.write(board->user, path, 0, sizes, 4u * tensor->rank);
    }
#endif
  }
  return status;
}

/* Into their places. */
static int32_t read_inputs(const struct petrel_board *board, const struct petrel_app *app,
                           const struct petrel_method_info *method, void *const *places,
                           const void **inputs) {
  char path[32];
  uint32_t i;
  for (i = 0; i < method->num_inputs; ++i) {
    name_file(path, "input_", i, ".bin");
    if (board->bulk.read(board->user, path, 0, places[i], bytes_of(app, &method->inputs[i])) != 0) {
      return PETREL_MODEL_E_NOT_FOUND;
    }
    inputs[i] = places[i];
  }
  return PETREL_MODEL_OK;
}

/* What is measured: the run alone. */
static void run_and_measure(const struct petrel_board *board, const struct petrel_app *app,
                            const struct petrel_method_info *method, const void *const *inputs,
                            void *const *outputs, struct report *report) {
  uint64_t ticks = 0;
  const uint32_t has_timer = board->timer.hz != 0u;
  paint_stack(board);
  report->timer = has_timer ? board->timer.start(board->user) : PETREL_BOARD_E_MISSING;
  report->status = method->run(app->context, inputs, outputs);
  if (report->timer == PETREL_BOARD_OK) report->timer = board->timer.stop(board->user, &ticks);
  report->hz = board->timer.hz;
  report->ticks_low = (uint32_t)ticks;
  report->ticks_high = (uint32_t)(ticks >> 32);
  report->stack_used = used_stack(board);
  report->stack_bytes = (uint32_t)(board->stack_high - board->stack_low);
}

static int32_t run_files(const struct petrel_board *board, const struct petrel_app *app,
                         const struct petrel_method_info *method) {
  const void *inputs[PETREL_APP_MAX_TENSORS];
  void *places[PETREL_APP_MAX_TENSORS];
  void *outputs[PETREL_APP_MAX_TENSORS];
  struct report report = {REPORT_MAGIC, 0, 0, 0, 0, 0, 0, 0};
#ifdef PETREL_APP_VARIES
  report.status = read_sizes(board, app, method);
#endif
  if (report.status == 0) report.status = find_places(app, method, places, outputs);
  if (report.status == 0) report.status = read_inputs(board, app, method, places, inputs);
  if (report.status == 0) {
    run_and_measure(board, app, method, inputs, outputs, &report);
  }
  if (report.status == 0 && write_outputs(board, app, method, outputs) != 0) return 2;
  return board->bulk.write(board->user, "report.bin", 0, &report, sizeof report) == 0 ? 0 : 2;
}

int main(void) {
  const struct petrel_board *board = petrel_board_init();
  const struct petrel_app *app = petrel_app();
  const int32_t method = petrel_board_method();
  int32_t code = app->model->init(app->context, app->pools, app->pool_bytes);
  if (code == 0 && method >= 0 && board->bulk.read != NULL) {
    code = (uint32_t)method < app->model->num_methods
               ? run_files(board, app, &app->model->methods[method])
               : 3;
  } else if (code == 0) {
    code = app->selftest == NULL ? 0 : app->selftest(app->context);
    say(board, app->model->name);
    say(board, app->selftest == NULL
                   ? ": no self-test\n"
                   : (code == 0 ? ": self-test passed\n" : ": self-test FAILED\n"));
  }
  petrel_board_exit(code);
  return (int)code;
}
