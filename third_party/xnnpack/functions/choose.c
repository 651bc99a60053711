/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/functions/functions.h"
#include "xnnpack/common.h"
#include "xnnpack/hardware-config.h"

const struct xnn_unary_elementwise_config* petrel_f32_function(enum petrel_function function) {
#if XNN_ARCH_X86 || XNN_ARCH_X86_64
  const struct xnn_hardware_config* hardware = xnn_init_hardware_config();
  if (hardware != NULL && hardware->use_x86_avx512f) return petrel_f32_function_avx512f(function);
  if (hardware != NULL && hardware->use_x86_avx2 && hardware->use_x86_fma3) {
    return petrel_f32_function_avx2(function);
  }
#endif
  return petrel_f32_function_baseline(function);
}
