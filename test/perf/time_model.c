/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a model that another generator wrote as one C function of one input and one output of
 * floats, and prints the times as `petrel bench --json` does:
 *
 *   time_model INPUT_FLOATS OUTPUT_FLOATS SECONDS IN.bin OUT.bin [WEIGHTS.bin]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

bool model_load(const char *weights);
void model(const void *in, void *out); /* arrays of several dims there, the same in registers */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  enum { MOST_RUNS = 1 << 22, LEAST_RUNS = 30 };
  if (argc < 6 || (argc > 6 && !model_load(argv[6]))) return 2;
  const size_t ins = strtoul(argv[1], NULL, 10), outs = strtoul(argv[2], NULL, 10);
  const double seconds = strtod(argv[3], NULL);
  float *in = malloc(ins * sizeof *in), *out = malloc(outs * sizeof *out);
  double *times = malloc(MOST_RUNS * sizeof *times);
  FILE *file = fopen(argv[4], "rb");
  if (!in || !out || !times || !file || fread(in, sizeof *in, ins, file) != ins) return 3;
  fclose(file);
  const double warm = now();
  for (int i = 0; i < 3 || now() - warm < seconds / 10; ++i) model(in, out);
  const double begin = now();
  size_t runs = 0;
  while (runs < LEAST_RUNS || (now() - begin < seconds && runs < MOST_RUNS)) {
    const double start = now();
    model(in, out);
    times[runs++] = now() - start;
  }
  qsort(times, runs, sizeof *times, ascending);
  file = fopen(argv[5], "wb");
  if (!file || fwrite(out, sizeof *out, outs, file) != outs || fclose(file) != 0) return 4;
  printf("{\"p50_seconds\": %.9g, \"runs\": %zu}\n", times[runs / 2], runs);
  return 0;
}
