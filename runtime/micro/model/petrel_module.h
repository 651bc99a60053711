/* SPDX-License-Identifier: Apache-2.0
 *
 * What a compiled module, a shared library of one model, tells without being loaded: a
 * section of its file holds this header, and manifest.json behind it.
 *
 *   .petrel   | header | {"format": 1, "name": "kws", ...} |
 *
 * Numbers are little-endian. Who loads the library calls PETREL_MODULE_SYMBOL, the only
 * symbol that it exports, for its struct petrel_model_metadata.
 */
#ifndef PETREL_MODULE_H
#define PETREL_MODULE_H

#include <stdint.h>

#define PETREL_MODULE_SECTION ".petrel"
#define PETREL_MODULE_MAGIC "PETRELM"
#define PETREL_MODULE_SYMBOL "petrel_compiled_model"

struct petrel_module_header {
  char magic[8];           /* PETREL_MODULE_MAGIC */
  uint32_t abi_version;    /* PETREL_MODEL_ABI_VERSION */
  uint32_t manifest_bytes; /* that follow this header */
  uint64_t file_bytes;     /* of the whole library */
  uint8_t model_sha256[32];
  uint8_t file_sha256[32]; /* of the whole library with these 32 bytes 0 */
};

#endif /* PETREL_MODULE_H */
