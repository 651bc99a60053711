/* SPDX-License-Identifier: Apache-2.0 */
#define LANES 8
#include "third_party/xnnpack/functions/lanes-inl.h"

const struct xnn_unary_elementwise_config* petrel_f32_function_avx2(enum petrel_function function) {
  return config_of(function);
}
