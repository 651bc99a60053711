// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/start.h"

#include <petrel/cap.h>

#include "backends/xnnpack/runtime/four_bit_product.h"
#include "backends/xnnpack/runtime/paid_call.h"
#include "runtime/core/log.h"
#include "runtime/platform/isa_level.h"

namespace petrel::backends::xnnpack {
namespace {

// What the level allows, in XNNPACK's bits.
uint32_t cap_of(uint32_t features) {
  static constexpr struct {
    uint32_t feature, cap;
  } kCaps[] = {
#if defined(__x86_64__)
    {runtime::kSsse3, XNN_CAP_SSSE3},
    {runtime::kSse41, XNN_CAP_SSE4_1},
    {runtime::kAvx, XNN_CAP_AVX},
    {runtime::kF16c, XNN_CAP_F16C},
    {runtime::kFma3, XNN_CAP_FMA3},
    {runtime::kAvx2, XNN_CAP_AVX2},
    {runtime::kAvxVnni, XNN_CAP_AVXVNNI},
    {runtime::kAvx512f, XNN_CAP_AVX512F},
    {runtime::kAvx512skx, XNN_CAP_AVX512SKX},
    {runtime::kAvx512vbmi, XNN_CAP_AVX512VBMI},
    {runtime::kAvx512vnni, XNN_CAP_AVX512VNNI},
    {runtime::kGfni, XNN_CAP_GFNI},
    {runtime::kAmxInt8, XNN_CAP_AMX},
#elif defined(__aarch64__)
    {runtime::kFp16, XNN_CAP_FP16},
    {runtime::kDotProduct, XNN_CAP_DOT},
    {runtime::kI8mm, XNN_CAP_I8MM},
#else
    {0, 0},
#endif
  };
  uint32_t cap = 0;
  for (const auto& row : kCaps) cap |= (features & row.feature) != 0 ? row.cap : 0u;
  return cap;
}

bool set_cap() {
  const runtime::IsaLevel& level = runtime::isa_level();
  if (xnn_set_cap(cap_of(level.features), level.processor)) return true;
  PETREL_LOG(Error, "XNNPACK has no kernels for processor '%s'", level.processor);
  return false;
}

// Before anybody makes an operator.
xnn_status start_once() {
  if (!set_cap()) return xnn_status_unsupported_hardware;
  const xnn_status status = xnn_initialize(paying_allocator());
  if (status == xnn_status_success) use_four_bit_products();
  return status;
}

}  // namespace

xnn_status start_xnnpack() {
  static const xnn_status status = start_once();
  return status;
}

}  // namespace petrel::backends::xnnpack
