/* SPDX-License-Identifier: Apache-2.0
 *
 * A net of which an NPU runs what it can, and the processor the rest. Both reach the pool
 * `shared`, which the processor sees through a cache, and only the processor reaches `tcm`; the
 * constants of the NPU lie in `flash`.
 *
 *   petrel gen-c net.pt2 -o net_c --name net --backend null_npu --partition supported \
 *     --pool name=tcm,targets=c --pool name=shared,targets=c,npu,cached=yes,align=64 \
 *     --pool name=flash,kind=ro,align=64 --link-param '*npu*=flash' --pin x=tcm
 *   cc -std=c99 -O3 -ffp-contract=off -Wall -Wextra -Werror -Inet_c app.c npu_driver.c \
 *     net_c/net.c net_c/net_params.c -lm -o app
 *   ./app < input
 */
#include <stdio.h>
#include <string.h>

#include "net.h"
#include "npu_driver.h"

static struct net_pool_tcm tcm;
static struct net_pool_shared shared;
static struct net_pool_shared seen; /* by the NPU */

/* The cache of the processor holds all of the pool, until it is told to give it back. */
void net_on_flush(const void *data, size_t bytes) {
  memcpy(seen.bytes + ((const unsigned char *)data - shared.bytes), data, bytes);
}

void net_on_prefetch(void *data, size_t bytes) {
  memcpy(data, seen.bytes + ((unsigned char *)data - shared.bytes), bytes);
}

int main(void) {
  static float x[NET_INPUT_X_ELEMENTS];
  static float y[NET_OUTPUT_MUL_1_ELEMENTS];
  static float sram[64];
  struct null_npu_device npu = {shared.bytes, seen.bytes, sizeof seen.bytes, sram, 64u, 0u};
  struct net_devices devices = {NULL};
  struct net_pools pools;
  struct net_context context;
  struct net_inputs inputs;
  struct net_outputs outputs;
  pools.tcm = &tcm;
  pools.tcm_bytes = sizeof tcm;
  pools.shared = &shared;
  pools.shared_bytes = sizeof shared;
  inputs.x = x;
  outputs.mul_1 = y;
  if (fread(x, 1, sizeof x, stdin) != sizeof x) return 1;
  if (net_init(&context, &pools) != NET_OK) return 2;
  /* A device that is not there, or was not opened, is an error and nothing worse. */
  if (net_open(&context, &devices) != NET_E_DEVICE) return 3;
  if (net_run(&context, &inputs, &outputs) != NET_E_DEVICE) return 4;
  devices.null_npu = &npu;
  if (net_open(&context, &devices) != NET_OK) return 5;
  if (net_run(&context, &inputs, &outputs) != NET_OK) return 6;
  for (size_t i = 0; i < NET_OUTPUT_MUL_1_ELEMENTS; ++i) printf("%.9g\n", (double)y[i]);
  net_close(&context);
  return npu.runs == 2u ? 0 : 7;
}
