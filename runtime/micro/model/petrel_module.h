/* SPDX-License-Identifier: Apache-2.0
 *
 * What a compiled module, a shared library of one model, tells without being loaded: a
 * section of its file holds this header, and manifest.json behind it.
 *
 *   .petrel   | header | {"format": 1, "name": "kws", ...} |
 *
 * Numbers are little-endian. Who loads the library calls PETREL_MODULE_SYMBOL, the only
 * symbol that it exports, for its struct petrel_model_metadata:
 *
 *   const struct petrel_model_metadata *petrel_compiled_model(uint32_t most);
 *
 * The same model may be there for several levels of the processor. `most`, a
 * PETREL_MODULE_LEVEL_..., is the highest that may be taken; what the processor lacks is not.
 */
#ifndef PETREL_MODULE_H
#define PETREL_MODULE_H

#include <stdint.h>

#define PETREL_MODULE_SECTION ".petrel"
#define PETREL_MODULE_MAGIC "PETRELM"
#define PETREL_MODULE_SYMBOL "petrel_compiled_model"

#define PETREL_MODULE_LEVEL_BASE 0u   /* what every processor of its kind has */
#define PETREL_MODULE_LEVEL_AVX2 1u   /* also AVX2, FMA, F16C, BMI and BMI2 */
#define PETREL_MODULE_LEVEL_AVX512 2u /* also AVX-512 F, CD, BW, DQ and VL */
#define PETREL_MODULE_LEVEL_BEST 0xffffffffu

struct petrel_module_header {
  char magic[8];           /* PETREL_MODULE_MAGIC */
  uint32_t abi_version;    /* PETREL_MODEL_ABI_VERSION */
  uint32_t manifest_bytes; /* that follow this header */
  uint64_t file_bytes;     /* of the whole library */
  uint8_t model_sha256[32];
  uint8_t file_sha256[32]; /* of the whole library with these 32 bytes 0 */
};

#endif /* PETREL_MODULE_H */
