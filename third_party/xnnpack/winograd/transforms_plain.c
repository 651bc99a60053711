/* SPDX-License-Identifier: Apache-2.0 */
#define LANES 4
#define NAME winograd_transforms_plain
#include "third_party/xnnpack/winograd/transforms_body.h"
