/* SPDX-License-Identifier: Apache-2.0 */
#define LANES 16
#define NAME winograd_transforms_avx512f
#include "third_party/xnnpack/winograd/transforms_body.h"
