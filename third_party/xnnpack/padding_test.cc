// SPDX-License-Identifier: Apache-2.0

// Packers write all that kernels read, whatever the memory held before. Depths
// are not a multiple of a group, windows are smaller than a tile; the channels fill
// whole tiles, since what lies behind the last channel is computed and dropped.
#include <gtest/gtest.h>
#include <xnnpack.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "xnnpack/operator.h"
#include "xnnpack/pack.h"
#include "xnnpack/packw.h"

namespace petrel::third_party::xnnpack {
namespace {

constexpr size_t kGroups = 2;
constexpr size_t kBlocks = 2;  // of channels
constexpr size_t kDepth = 5;
constexpr size_t kWindow = 3;
constexpr size_t kCapacity = 1 << 17;

// Weights, biases and scales: any bytes will do.
const uint8_t* source() {
  static const auto* const bytes = [] {
    auto* made = new std::array<uint8_t, kCapacity>;
    for (size_t i = 0; i < made->size(); ++i) (*made)[i] = static_cast<uint8_t>(i % 61 + 1);
    return made;
  }();
  return bytes->data();
}

template <typename T>
const T* weights() {
  return reinterpret_cast<const T*>(source());
}

// Zero points that are not zero show what padding is.
template <typename P>
const P* parameters() {
  static const P params = [] {
    P p = {};
    std::memset(&p, 7, sizeof(p));
    return p;
  }();
  return &params;
}
template <>
const void* parameters<void>() {
  return nullptr;
}
template <>
const xnn_qs8_qc4w_packing_params* parameters<xnn_qs8_qc4w_packing_params>() {
  static const xnn_qs8_qc4w_packing_params params = {1, 8};  // others are refused
  return &params;
}

struct Tile {
  size_t nr, kr, sr;
  std::string name() const {
    return std::to_string(nr) + "c" + std::to_string(kr) + "s" + std::to_string(sr);
  }
};
// Those that kernels for fp32, fp16 and eight bits have.
const Tile kTiles[] = {{16, 1, 4}, {8, 1, 4}, {2, 4, 1}, {8, 8, 1}, {16, 4, 1}, {16, 1, 1}};

struct Case {
  std::string name;
  std::function<void(void* packed, bool has_bias)> pack;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// The families of packers, by their parameters.
#define TILED template <typename K, typename B, typename S, typename W, typename P>
TILED using Goi = void(*)(size_t, size_t, size_t, size_t, size_t, size_t, const K*, const B*,
                          const S*, W*, size_t, const P*);
TILED using GioOrGoki = void(*)(size_t, size_t, size_t, size_t, size_t, size_t, size_t, const K*,
                                const B*, const S*, W*, size_t, const P*);
TILED using Deconv =
    void(*)(size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t,
            const K*, const B*, const S*, W*, size_t, subconvolution_params*, const P*);
TILED using Depthwise = void(*)(size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t,
                                size_t, const K*, const B*, const S*, W*, size_t, size_t, const P*);

TILED Case goi(const std::string& name, Tile t, Goi<K, B, S, W, P> f) {
  return {name + "_" + t.name(), [=](void* packed, bool has_bias) {
            f(kGroups, kBlocks * t.nr, kDepth, t.nr, t.kr, t.sr, weights<K>(),
              has_bias ? weights<B>() : nullptr, nullptr, static_cast<W*>(packed), 0,
              parameters<P>());
          }};
}

TILED Case gio(const std::string& name, Tile t, GioOrGoki<K, B, S, W, P> f) {
  return {name + "_" + t.name(), [=](void* packed, bool has_bias) {
            const size_t channels = kBlocks * t.nr;
            f(kGroups, channels, kDepth, t.nr, t.kr, t.sr, channels, weights<K>(),
              has_bias ? weights<B>() : nullptr, nullptr, static_cast<W*>(packed), 0,
              parameters<P>());
          }};
}

TILED Case goki(const std::string& name, Tile t, GioOrGoki<K, B, S, W, P> f) {
  return {name + "_" + t.name(), [=](void* packed, bool has_bias) {
            f(kGroups, kBlocks * t.nr, kWindow, kDepth, t.nr, t.kr, t.sr, weights<K>(),
              has_bias ? weights<B>() : nullptr, nullptr, static_cast<W*>(packed), 0,
              parameters<P>());
          }};
}

// One input channel a group.
TILED Case kgo(const std::string& name, Tile t, Goi<K, B, S, W, P> f) {
  return {name + "_" + t.name(), [=](void* packed, bool has_bias) {
            f(kGroups, kBlocks * t.nr, kWindow, t.nr, t.kr, t.sr, weights<K>(),
              has_bias ? weights<B>() : nullptr, nullptr, static_cast<W*>(packed), 0,
              parameters<P>());
          }};
}

TILED Case deconv(const std::string& name, Tile t, Deconv<K, B, S, W, P> f) {
  return {name + "_" + t.name(), [=](void* packed, bool has_bias) {
            subconvolution_params parts[4] = {};
            f(kGroups, kBlocks * t.nr, kWindow, kWindow, kDepth, 2, 2, t.nr, t.kr, t.sr,
              weights<K>(), has_bias ? weights<B>() : nullptr, nullptr, static_cast<W*>(packed), 0,
              parts, parameters<P>());
          }};
}

struct Taps {
  size_t first, middle, last, window;
};
// In one pass, and in several with a last one that is not full.
const Taps kTaps[] = {{9, 0, 0, 2}, {5, 5, 5, 4}};

TILED Case depthwise(const std::string& name, Taps taps, Depthwise<K, B, S, W, P> f) {
  return {name + "_" + std::to_string(taps.first) + "_taps", [=](void* packed, bool has_bias) {
            constexpr size_t kTile = 8;
            f(taps.first, taps.middle, taps.last, taps.window, taps.window, kBlocks * kTile, kTile,
              kTile, 1, weights<K>(), has_bias ? weights<B>() : nullptr, nullptr,
              static_cast<W*>(packed), 0, 0, parameters<P>());
          }};
}

#define ADD(family, tile, function) cases.push_back(family(#function, tile, function))

std::vector<Case> reference_cases() {
  std::vector<Case> cases;
  for (const Tile& t : kTiles) {
    ADD(goi, t, xnn_pack_f32_gemm_goi_w);
    ADD(goi, t, xnn_pack_f16_gemm_goi_w);
    ADD(goi, t, xnn_pack_f32_to_f16_gemm_goi_w);
    ADD(goi, t, xnn_pack_qu8_gemm_goi_w);
    ADD(goi, t, xnn_pack_qs8_gemm_goi_w);
    ADD(goi, t, xnn_pack_qs8_to_qu8_gemm_goi_w);
    ADD(goi, t, xnn_pack_qs8_qc4w_gemm_goi_w);
    ADD(goi, t, xnn_pack_qs8_qc4uw_gemm_goi_w);
    ADD(goi, t, xnn_pack_f32_qs8w_gemm_goi_w);
    ADD(goi, t, xnn_pack_f32_qc4w_gemm_goi_w);
    ADD(gio, t, xnn_pack_f32_gemm_gio_w);
    ADD(gio, t, xnn_pack_f16_gemm_gio_w);
    ADD(gio, t, xnn_pack_f32_to_f16_gemm_gio_w);
    ADD(gio, t, xnn_pack_qu8_gemm_gio_w);
    ADD(gio, t, xnn_pack_qs8_gemm_gio_w);
    ADD(gio, t, xnn_pack_qs8_to_qu8_gemm_gio_w);
    ADD(gio, t, xnn_pack_qs8_qc4w_gemm_gio_w);
    ADD(gio, t, xnn_pack_qs8_qc4uw_gemm_gio_w);
    ADD(gio, t, xnn_pack_f32_qs8w_gemm_gio_w);
    ADD(goki, t, xnn_pack_f32_conv_goki_w);
    ADD(goki, t, xnn_pack_f16_conv_goki_w);
    ADD(goki, t, xnn_pack_f32_to_f16_conv_goki_w);
    ADD(goki, t, xnn_pack_qu8_conv_goki_w);
    ADD(goki, t, xnn_pack_qs8_conv_goki_w);
    ADD(goki, t, xnn_pack_qs8_to_qu8_conv_goki_w);
    ADD(kgo, t, xnn_pack_f32_conv_kgo_w);
    ADD(kgo, t, xnn_pack_f16_conv_kgo_w);
    ADD(kgo, t, xnn_pack_f32_to_f16_conv_kgo_w);
    ADD(kgo, t, xnn_pack_qu8_conv_kgo_w);
    ADD(kgo, t, xnn_pack_qs8_conv_kgo_w);
    ADD(kgo, t, xnn_pack_qs8_to_qu8_conv_kgo_w);
    ADD(deconv, t, xnn_pack_f32_deconv_goki_w);
    ADD(deconv, t, xnn_pack_f16_deconv_goki_w);
    ADD(deconv, t, xnn_pack_f32_to_f16_deconv_goki_w);
    ADD(deconv, t, xnn_pack_qs8_deconv_goki_w);
    ADD(deconv, t, xnn_pack_qs8_to_qu8_deconv_goki_w);
    ADD(deconv, t, xnn_pack_qu8_deconv_goki_w);
  }
  return cases;
}

std::vector<Case> depthwise_cases() {
  std::vector<Case> cases;
  for (const Taps& t : kTaps) {
    ADD(depthwise, t, xnn_pack_f32_dwconv_ghw_w);
    ADD(depthwise, t, xnn_pack_f16_dwconv_ghw_w);
    ADD(depthwise, t, xnn_pack_f32_to_f16_dwconv_ghw_w);
    ADD(depthwise, t, xnn_pack_qs8_dwconv_ghw_w);
    ADD(depthwise, t, xnn_pack_qu8_dwconv_ghw_w);
    ADD(depthwise, t, xnn_pack_f32_dwconv_hwg_w);
    ADD(depthwise, t, xnn_pack_f16_dwconv_hwg_w);
    ADD(depthwise, t, xnn_pack_f32_to_f16_dwconv_hwg_w);
    ADD(depthwise, t, xnn_pack_qs8_dwconv_hwg_w);
    ADD(depthwise, t, xnn_pack_qu8_dwconv_hwg_w);
  }
  return cases;
}

// The ones that are in use beside the reference, as far as every machine has them.
std::vector<Case> vector_cases() {
  std::vector<Case> cases;
  ADD(goi, (Tile{16, 8, 1}), xnn_qs8_packw_gemm_goi_ukernel_x16c8__scalar);
  ADD(goi, (Tile{64, 4, 1}), xnn_qs8_packw_gemm_goi_ukernel_x64c4__scalar);
  ADD(goi, (Tile{16, 8, 1}), xnn_qs8_to_qu8_packw_gemm_goi_ukernel_x16c8__scalar);
#if XNN_ARCH_X86_64
  ADD(goi, (Tile{8, 1, 1}), xnn_x32_packw_gemm_goi_ukernel_x8__sse2_u4);
  ADD(goi, (Tile{2, 4, 1}), xnn_x32_packw_gemm_goi_ukernel_x2c4__sse2_u4);
#else
  ADD(goi, (Tile{8, 1, 1}), xnn_x32_packw_gemm_goi_ukernel_x8__neon_ld4lane_u4_prfm);
  ADD(goi, (Tile{8, 1, 4}), xnn_x32_packw_gemm_goi_ukernel_x8s4__neon_ld4lane_u4_prfm);
#endif
  return cases;
}

// Blocks of 32 depths with a scale each; the bias is added later.
TILED Case blocks(const std::string& name, Tile t,
                  void (*f)(size_t, size_t, size_t, size_t, size_t, size_t, size_t, const K*,
                            const B*, const S*, W*, size_t, size_t, const P*)) {
  return {name, [=](void* packed, bool) {
            f(1, kBlocks * t.nr, 27, t.nr, t.kr, t.sr, 32, weights<K>(), nullptr, weights<S>(),
              static_cast<W*>(packed), 0, 0, parameters<P>());
          }};
}

std::vector<Case> block_cases() {
  std::vector<Case> cases;
  ADD(blocks, (Tile{8, 8, 1}), xnn_pack_qs8_qb4w_gemm_goi_w);
  return cases;
}

class PaddingTest : public ::testing::TestWithParam<Case> {};

TEST_P(PaddingTest, DoesNotDependOnWhatTheMemoryHeld) {
  for (const bool has_bias : {true, false}) {
    std::vector<uint8_t> packed[2];
    const int fills[] = {0xFF, 0x5A};
    for (size_t i = 0; i < 2; ++i) {
      packed[i].assign(kCapacity, static_cast<uint8_t>(fills[i]));
      GetParam().pack(packed[i].data(), has_bias);
    }
    // Nobody writes behind the last byte that is the same.
    size_t end = kCapacity;
    while (end > 0 && packed[0][end - 1] != packed[1][end - 1]) --end;
    ASSERT_GT(end, 0u);
    ASSERT_LT(end, kCapacity);
    size_t skipped = 0;
    for (size_t i = 0; i < end; ++i) skipped += packed[0][i] != packed[1][i] ? 1 : 0;
    EXPECT_EQ(skipped, 0u) << "of " << end << " bytes" << (has_bias ? "" : ", without a bias");
  }
}

const auto name_of = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Reference, PaddingTest, ::testing::ValuesIn(reference_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Depthwise, PaddingTest, ::testing::ValuesIn(depthwise_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Vector, PaddingTest, ::testing::ValuesIn(vector_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Blocks, PaddingTest, ::testing::ValuesIn(block_cases()), name_of);

}  // namespace
}  // namespace petrel::third_party::xnnpack
