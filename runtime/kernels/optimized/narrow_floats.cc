// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/optimized/narrow_floats.h"

#include <cstdint>
#include <cstring>

#include "runtime/kernels/optimized/instruction_sets.h"
#include "runtime/kernels/narrow/narrow_float.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/narrow_floats.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "runtime/kernels/optimized/vector_math-inl.h"

// Where the machine converts halves itself, and rounds as it should.
#undef PETREL_HAVE_HALVES
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64
#define PETREL_HAVE_HALVES 1
#else
#define PETREL_HAVE_HALVES 0
#endif

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

void WidenHalves(const uint16_t* in, float* out, size_t n) {
  size_t i = 0;
#if PETREL_HAVE_HALVES
  const D d;
  const size_t lanes = hn::Lanes(d);
  const hn::Rebind<hwy::float16_t, D> halves;
  for (; i + lanes <= n; i += lanes) {
    const auto bits = hn::LoadU(hn::Rebind<uint16_t, D>(), in + i);
    hn::StoreU(hn::PromoteTo(d, hn::BitCast(halves, bits)), d, out + i);
  }
#endif
  for (; i < n; ++i) out[i] = half_value(in[i]);
}

void NarrowToHalves(const float* in, uint16_t* out, size_t n) {
  size_t i = 0;
#if PETREL_HAVE_HALVES
  const D d;
  const size_t lanes = hn::Lanes(d);
  const hn::Rebind<hwy::float16_t, D> halves;
  const hn::Rebind<uint16_t, D> bits;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::BitCast(bits, hn::DemoteTo(halves, hn::LoadU(d, in + i))), bits, out + i);
  }
#endif
  for (; i < n; ++i) out[i] = half_bits(in[i]);
}

// Plain loops, which compilers turn into vectors.
void WidenBfloats(const uint16_t* HWY_RESTRICT in, float* HWY_RESTRICT out, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const uint32_t wide = static_cast<uint32_t>(in[i]) << 16;
    std::memcpy(out + i, &wide, sizeof(wide));
  }
}

void NarrowToBfloats(const float* HWY_RESTRICT in, uint16_t* HWY_RESTRICT out, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, in + i, sizeof(bits));
    const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    out[i] = static_cast<uint16_t>(is_nan ? 0x7fc0 : rounded);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace petrel::runtime::optimized {
namespace {

PETREL_EXPORT(WidenHalves);
PETREL_EXPORT(NarrowToHalves);
PETREL_EXPORT(WidenBfloats);
PETREL_EXPORT(NarrowToBfloats);

}  // namespace

void widen(ScalarType type, const void* data, size_t first, float* out, size_t n) {
  if (n == 0) return;
  if (type == ScalarType::Float) {
    std::memcpy(out, static_cast<const float*>(data) + first, n * sizeof(float));
    return;
  }
  const uint16_t* from = static_cast<const uint16_t*>(data) + first;
  if (type == ScalarType::Half) {
    PETREL_DISPATCH(WidenHalves)(from, out, n);
  } else {
    PETREL_DISPATCH(WidenBfloats)(from, out, n);
  }
}

void narrow(const float* in, ScalarType type, void* data, size_t first, size_t n) {
  if (n == 0) return;
  if (type == ScalarType::Float) {
    std::memcpy(static_cast<float*>(data) + first, in, n * sizeof(float));
    return;
  }
  uint16_t* to = static_cast<uint16_t*>(data) + first;
  if (type == ScalarType::Half) {
    PETREL_DISPATCH(NarrowToHalves)(in, to, n);
  } else {
    PETREL_DISPATCH(NarrowToBfloats)(in, to, n);
  }
}

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
