// SPDX-License-Identifier: Apache-2.0

// Operators give the same bits with every tile that may be chosen. XNNPACK has one tile in a
// process, so each one computes in a child.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xnnpack.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "third_party/xnnpack/tile_choice/candidates.h"
#include "third_party/xnnpack/tile_choice/trial.h"
#include "xnnpack/config.h"

namespace petrel::third_party::xnnpack {
namespace {

// Random floats with a fixed seed, and what kernels may read behind them.
std::vector<float> floats(size_t count, unsigned seed) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> result(count + XNN_EXTRA_BYTES / sizeof(float));
  for (float& f : result) f = uniform(bits);
  return result;
}

void* aligned(float* room) {
  return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(room) + 63) & ~uintptr_t{63});
}

void require(bool is_right, int line) {
  if (!is_right) _exit(line % 250 + 1);
}
#define REQUIRE(condition) require(condition, __LINE__)

using Outputs = std::vector<float>;

void run(xnn_operator_t op, const std::vector<float>& output, size_t count, Outputs* outputs) {
  REQUIRE(xnn_run_operator(op, nullptr) == xnn_status_success);
  REQUIRE(xnn_delete_operator(op) == xnn_status_success);
  outputs->insert(outputs->end(), output.begin(), output.begin() + static_cast<ptrdiff_t>(count));
}

void connect(size_t rows, size_t columns, Outputs* outputs) {
  constexpr size_t kDepth = 37;
  const auto input = floats(rows * kDepth, 1), filter = floats(columns * kDepth, 2);
  const auto bias = floats(columns, 3);
  std::vector<float> output = floats(rows * columns, 4);
  xnn_operator_t op = nullptr;
  REQUIRE(xnn_create_fully_connected_nc_f32(kDepth, columns, kDepth, columns, filter.data(),
                                            bias.data(), -2, 2, 0, nullptr, nullptr,
                                            &op) == xnn_status_success);
  REQUIRE(xnn_reshape_fully_connected_nc_f32(op, rows, nullptr) == xnn_status_success);
  REQUIRE(xnn_setup_fully_connected_nc_f32(op, input.data(), output.data()) == xnn_status_success);
  run(op, output, rows * columns, outputs);
}

void convolve(uint32_t window, uint32_t groups, size_t outputs_of_group, size_t side,
              Outputs* outputs) {
  constexpr size_t kChannels = 5;  // of a group
  const size_t in = groups * kChannels, out = groups * outputs_of_group;
  const auto input = floats(side * side * in, 1);
  const auto filter = floats(out * window * window * kChannels, 2), bias = floats(out, 3);
  std::vector<float> output = floats(side * side * out, 4);
  const uint32_t padding = window / 2;
  xnn_operator_t op = nullptr;
  REQUIRE(xnn_create_convolution2d_nhwc_f32(padding, padding, padding, padding, window, window, 1,
                                            1, 1, 1, groups, kChannels, outputs_of_group, in, out,
                                            filter.data(), bias.data(), -INFINITY, INFINITY, 0,
                                            nullptr, nullptr, &op) == xnn_status_success);
  size_t workspace = 0, alignment = 0, height = 0, width = 0;
  REQUIRE(xnn_reshape_convolution2d_nhwc_f32(op, 1, side, side, &workspace, &alignment, &height,
                                             &width, nullptr) == xnn_status_success);
  std::vector<float> room(workspace / sizeof(float) + 32);
  void* const at = aligned(room.data());
  REQUIRE(xnn_setup_convolution2d_nhwc_f32(op, at, input.data(), output.data()) ==
          xnn_status_success);
  run(op, output, side * side * out, outputs);
}

void deconvolve(size_t columns, size_t side, Outputs* outputs) {
  constexpr size_t kChannels = 6;
  const auto input = floats(side * side * kChannels, 1), filter = floats(columns * 9 * 6, 2);
  const auto bias = floats(columns, 3);
  xnn_operator_t op = nullptr;
  REQUIRE(xnn_create_deconvolution2d_nhwc_f32(1, 1, 1, 1, 3, 3, 2, 2, 1, 1, 1, kChannels, columns,
                                              kChannels, columns, filter.data(), bias.data(), -9, 9,
                                              0, nullptr, nullptr, &op) == xnn_status_success);
  size_t height = 0, width = 0;
  REQUIRE(xnn_reshape_deconvolution2d_nhwc_f32(op, 1, side, side, 0, 0, &height, &width, nullptr) ==
          xnn_status_success);
  std::vector<float> output = floats(height * width * columns, 4);
  REQUIRE(xnn_setup_deconvolution2d_nhwc_f32(op, input.data(), output.data()) ==
          xnn_status_success);
  run(op, output, height * width * columns, outputs);
}

void multiply(size_t rows, size_t columns, Outputs* outputs) {
  constexpr size_t kDepth = 19;
  const size_t batch = 2;
  const auto a = floats(batch * rows * kDepth, 1), b = floats(batch * kDepth * columns, 2);
  std::vector<float> output = floats(batch * rows * columns, 3);
  xnn_operator_t op = nullptr;
  REQUIRE(xnn_create_batch_matrix_multiply_nc_f32(0, &op) == xnn_status_success);
  size_t workspace = 0, alignment = 0;
  REQUIRE(xnn_reshape_batch_matrix_multiply_nc_f32(op, 1, &batch, &batch, rows, kDepth, columns,
                                                   &workspace, &alignment,
                                                   nullptr) == xnn_status_success);
  std::vector<float> room(workspace / sizeof(float) + 32);
  void* const at = aligned(room.data());
  REQUIRE(xnn_setup_batch_matrix_multiply_nc_f32(op, at, a.data(), b.data(), output.data()) ==
          xnn_status_success);
  run(op, output, batch * rows * columns, outputs);
}

Outputs compute() {
  Outputs outputs;
  for (const size_t columns : {1, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 31, 32, 33, 47, 70}) {
    for (const size_t rows : {1, 2, 3, 6, 7, 13, 14, 20, 45}) {
      connect(rows, columns, &outputs);
      multiply(rows, columns, &outputs);
    }
    for (const uint32_t window : {1, 3}) {
      for (const size_t side : {1, 4, 9}) {
        for (const uint32_t groups : {1, 3}) convolve(window, groups, columns, side, &outputs);
      }
    }
    for (const size_t side : {1, 5}) deconvolve(columns, side, &outputs);
  }
  return outputs;
}

// Of a child with this tile, or with the rule; empty when it failed.
Outputs outputs_of(const petrel_tile* tile) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    if (tile != nullptr) petrel_choose_tile(tile);
    const xnn_gemm_config* const config = xnn_init_f32_gemm_config();
    REQUIRE(tile == nullptr || (config->mr == tile->rows && config->nr == tile->columns));
    const Outputs outputs = compute();
    const auto* bytes = reinterpret_cast<const char*>(outputs.data());
    for (size_t left = outputs.size() * sizeof(float); left > 0;) {
      const ssize_t written = write(ends[1], bytes, left);
      REQUIRE(written > 0);
      bytes += written;
      left -= static_cast<size_t>(written);
    }
    _exit(0);
  }
  close(ends[1]);
  std::vector<char> bytes;
  char some[4096];
  for (ssize_t got = 0; (got = read(ends[0], some, sizeof(some))) > 0;) {
    bytes.insert(bytes.end(), some, some + got);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const auto* const begin = reinterpret_cast<const float*>(bytes.data());
  return Outputs(begin, begin + bytes.size() / sizeof(float));
}

TEST(OperatorsTest, GiveTheSameBitsWithEveryTile) {
  ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
  const std::vector<const petrel_tile*> tiles = possible_tiles();
  if (tiles.empty()) GTEST_SKIP() << "this processor has no candidates";
  const Outputs usual = outputs_of(nullptr);
  ASSERT_GT(usual.size(), 100'000u);
  for (const petrel_tile* tile : tiles) {
    const Outputs outputs = outputs_of(tile);
    ASSERT_EQ(outputs.size(), usual.size()) << tile->name;
    size_t others = 0;
    for (size_t i = 0; i < usual.size(); ++i) others += outputs[i] == usual[i] ? 0 : 1;
    EXPECT_EQ(others, 0u) << tile->name;
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
