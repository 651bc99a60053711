/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_driver.h"

#include <stdint.h>
#include <string.h>

#include "petrel_delegate.h"

#define MAGIC 0x3155504eu
#define HEADER_WORDS 5u

/* What init leaves in the room of the delegate; 24 or 32 bytes. */
struct work {
  const struct petrel_delegate *delegate;
  struct null_npu_device *device;
  uint32_t commands_at; /* byte of the payload */
  uint32_t elements;
};

static uint32_t word_at(const struct petrel_delegate *delegate, size_t byte) {
  uint32_t word = 0;
  memcpy(&word, (const unsigned char *)delegate->payload + byte, sizeof word);
  return word;
}

static uint32_t header(const struct petrel_delegate *delegate, size_t index) {
  return word_at(delegate, index * sizeof(uint32_t));
}

/* The blob whose key lies at *byte of the payload, which is set behind it. */
static const float *next_blob(const struct petrel_delegate *delegate, size_t *byte) {
  const uint32_t length = word_at(delegate, *byte);
  const char *key = (const char *)delegate->payload + *byte + sizeof length;
  *byte += sizeof length + (length + 3u) / 4u * 4u;
  for (uint32_t i = 0; i < delegate->num_blobs; ++i) {
    const struct petrel_blob *blob = &delegate->blobs[i];
    if (strlen(blob->key) == length && memcmp(blob->key, key, length) == 0) {
      return (const float *)blob->data;
    }
  }
  return NULL;
}

int32_t null_npu_init(const struct petrel_delegate *delegate, void *device, void *room,
                      void **handle) {
  struct work *work = (struct work *)room;
  size_t byte = HEADER_WORDS * sizeof(uint32_t);
  if (device == NULL || delegate->room_bytes < sizeof *work || header(delegate, 0) != MAGIC) {
    return PETREL_DELEGATE_E_DEVICE;
  }
  for (uint32_t i = 0; i < header(delegate, 2); ++i) {
    if (next_blob(delegate, &byte) == NULL) return PETREL_DELEGATE_E_DEVICE;
  }
  work->delegate = delegate;
  work->device = (struct null_npu_device *)device;
  work->commands_at = (uint32_t)byte;
  work->elements = (uint32_t)(delegate->output_bytes[0] / sizeof(float));
  if (header(delegate, 1) + header(delegate, 2) + header(delegate, 3) > work->device->sram_floats) {
    return PETREL_DELEGATE_E_DEVICE; /* the partition has more values than the device */
  }
  *handle = work;
  return PETREL_DELEGATE_OK;
}

/* Where the device sees what the processor has at `data`. Constants it reads where they lie. */
static unsigned char *seen(const struct null_npu_device *device, const void *data) {
  return device->seen + ((const unsigned char *)data - device->shared);
}

static const float *seen_or_constant(const struct null_npu_device *device, const void *data) {
  const unsigned char *bytes = (const unsigned char *)data;
  const int is_shared = bytes >= device->shared && bytes < device->shared + device->shared_bytes;
  return is_shared ? (const float *)(const void *)seen(device, data) : (const float *)data;
}

/* The device: one element of all values at a time. */
static void run_element(const struct work *work, const void *const *inputs, void *const *outputs,
                        uint32_t element) {
  const struct petrel_delegate *delegate = work->delegate;
  float *values = work->device->sram;
  uint32_t count = 0;
  size_t byte = HEADER_WORDS * sizeof(uint32_t);
  for (uint32_t i = 0; i < header(delegate, 1); ++i) {
    values[count++] = seen_or_constant(work->device, inputs[i])[element];
  }
  for (uint32_t i = 0; i < header(delegate, 2); ++i) {
    values[count++] = next_blob(delegate, &byte)[element];
  }
  for (uint32_t i = 0; i < header(delegate, 3); ++i, byte += 3u * sizeof(uint32_t)) {
    const float a = values[word_at(delegate, byte + 4u)];
    const float b = values[word_at(delegate, byte + 8u)];
    const uint32_t op = word_at(delegate, byte);
    values[count++] = op == 0u ? a + b : op == 1u ? a * b : a <= 0.0f ? 0.0f : a;
  }
  for (uint32_t i = 0; i < header(delegate, 4); ++i, byte += sizeof(uint32_t)) {
    float *output = (float *)(void *)seen(work->device, outputs[i]);
    output[element] = values[word_at(delegate, byte)];
  }
}

int32_t null_npu_execute(void *handle, const void *const *inputs, void *const *outputs) {
  const struct work *work = (const struct work *)handle;
  for (uint32_t i = 0; i < work->elements; ++i) run_element(work, inputs, outputs, i);
  ++work->device->runs;
  return PETREL_DELEGATE_OK;
}

void null_npu_destroy(void *handle) { ((struct work *)handle)->device = NULL; }
