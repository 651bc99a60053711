/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver of an NPU that does not exist, and the NPU itself, which is one function. The
 * device has its own view of the memory that it shares with the processor: what the cache of the
 * processor has not given back it does not see.
 *
 *   struct null_npu_device npu = {shared, seen, sizeof shared, sram, 256, 0};
 *   const struct net_devices devices = {&npu};
 *   net_open(&context, &devices);
 */
#ifndef NPU_DRIVER_H
#define NPU_DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct null_npu_device {
  const unsigned char *shared; /* as the processor sees it */
  unsigned char *seen;         /* the same as the device does */
  size_t shared_bytes;
  float *sram; /* of the device: room for the values of a partition, one element each */
  uint32_t sram_floats;
  uint32_t runs; /* so many partitions it has run */
};

struct petrel_delegate;

/* What the generated C calls; petrel_delegate.h says what they do. */
int32_t null_npu_init(const struct petrel_delegate *delegate, void *device, void *room,
                      void **handle);
int32_t null_npu_execute(void *handle, const void *const *inputs, void *const *outputs);
void null_npu_destroy(void *handle);

#endif /* NPU_DRIVER_H */
