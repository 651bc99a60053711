// SPDX-License-Identifier: Apache-2.0

// Transposes of a few groups in each row move every element to its place, and write nothing else.
#include <gtest/gtest.h>
#include <xnnpack.h>

#include <cstdint>
#include <vector>

namespace petrel::third_party::xnnpack {
namespace {

constexpr uint32_t kUntouched = 0xABCDABCD;

// [rows, groups, each] -> [rows, each, groups] of elements that are their own places.
void transpose(size_t rows, size_t groups, size_t each) {
  const size_t count = rows * groups * each;
  std::vector<uint32_t> in(count + XNN_EXTRA_BYTES), out(count + 16, kUntouched);
  for (size_t i = 0; i < count; ++i) in[i] = static_cast<uint32_t>(i);
  const size_t shape[] = {rows, groups, each}, order[] = {0, 2, 1};
  xnn_operator_t op = nullptr;
  ASSERT_EQ(xnn_create_transpose_nd_x32(0, &op), xnn_status_success);
  ASSERT_EQ(xnn_reshape_transpose_nd_x32(op, 3, shape, order, nullptr), xnn_status_success);
  ASSERT_EQ(xnn_setup_transpose_nd_x32(op, in.data(), out.data()), xnn_status_success);
  ASSERT_EQ(xnn_run_operator(op, nullptr), xnn_status_success);
  ASSERT_EQ(xnn_delete_operator(op), xnn_status_success);
  for (size_t i = 0; i < count; ++i) {
    const size_t row = i / (groups * each), place = i / groups % each, group = i % groups;
    ASSERT_EQ(out[i], row * groups * each + group * each + place)
        << rows << " x " << groups << " x " << each << ", element " << i;
  }
  for (size_t i = count; i < out.size(); ++i) ASSERT_EQ(out[i], kUntouched);
}

TEST(ZipRowsTest, MovesAllElements) {
  ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
  for (const size_t rows : {2, 3, 49}) {
    for (size_t groups = 2; groups <= 10; ++groups) {
      for (const size_t each : {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 29, 58, 64, 100}) {
        transpose(rows, groups, each);
      }
    }
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
