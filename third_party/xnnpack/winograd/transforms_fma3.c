/* SPDX-License-Identifier: Apache-2.0 */
#define LANES 8
#define NAME winograd_transforms_fma3
#include "third_party/xnnpack/winograd/transforms_body.h"
