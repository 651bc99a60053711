/* SPDX-License-Identifier: Apache-2.0
 *
 * Partitions of a model that a device runs, as its driver sees them in generated C: three
 * functions, called by what the backend is called, here my_npu. The application links them.
 *
 *   int32_t my_npu_init(const struct petrel_delegate *delegate, void *device, void *room,
 *                       void **handle) {
 *     if (device == NULL) return PETREL_DELEGATE_E_DEVICE;
 *     ...read delegate->payload, petrel_find_blob(delegate, "key")...
 *   }
 *   int32_t my_npu_execute(void *handle, const void *const *inputs, void *const *outputs);
 *   void my_npu_destroy(void *handle);
 *
 * `device` is what the application has given for it, `room` memory of the context that is this
 * delegate's until destroy. A driver that needs no more puts its handle there. `inputs` and
 * `outputs` of execute are in the order of the partition's, of the bytes that are said here, and
 * nothing else is written. A driver that fails returns a status; it never aborts.
 *
 * Everything here is const and lives as long as the program.
 */
#ifndef PETREL_DELEGATE_H
#define PETREL_DELEGATE_H

#include <stddef.h>
#include <stdint.h>

#define PETREL_DELEGATE_OK 0
/* The device is not there, or refuses the payload or the work. */
#define PETREL_DELEGATE_E_DEVICE (-9)

/* Data that partitions share, by its key, which payloads know. */
struct petrel_blob {
  const char *key;
  const void *data;
  size_t bytes;
};

struct petrel_delegate_option {
  const char *key;
  const char *value;
};

struct petrel_delegate {
  const char *name; /* "forward, partition 0" */
  const void *payload;
  size_t payload_bytes;
  const struct petrel_blob *blobs; /* of the model, in byte order of their keys */
  uint32_t num_blobs;
  const struct petrel_delegate_option *options; /* compile specs */
  uint32_t num_options;
  const size_t *input_bytes; /* of each */
  uint32_t num_inputs;
  const size_t *output_bytes;
  uint32_t num_outputs;
  size_t room_bytes; /* that the room has, aligned as uint64_t is */
};

/* NULL when there is none of that key. */
static inline const struct petrel_blob *petrel_find_blob(const struct petrel_delegate *delegate,
                                                         const char *key) {
  uint32_t i;
  for (i = 0; i < delegate->num_blobs; ++i) {
    const char *a = delegate->blobs[i].key;
    const char *b = key;
    while (*a != '\0' && *a == *b) {
      ++a;
      ++b;
    }
    if (*a == *b) {
      return &delegate->blobs[i];
    }
  }
  return NULL;
}

#endif /* PETREL_DELEGATE_H */
