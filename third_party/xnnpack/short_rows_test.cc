// SPDX-License-Identifier: Apache-2.0

// Operators of two operands, one of which has one row for all rows of the other: results are those
// of element by element, also in place and shared by threads, and nothing else is written.
#include <gtest/gtest.h>
#include <pthreadpool.h>
#include <xnnpack.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace petrel::third_party::xnnpack {
namespace {

constexpr float kUntouched = -12345;

struct Kind {
  xnn_binary_operator op;
  std::function<float(float, float)> compute;
};

const Kind kKinds[] = {
    {xnn_binary_subtract, [](float a, float b) { return a - b; }},
    {xnn_binary_multiply, [](float a, float b) { return a * b; }},
    {xnn_binary_prelu, [](float a, float b) { return a < 0 ? a * b : a; }},
};

struct Case {
  Kind kind;
  size_t rows;
  size_t columns;
  bool first_is_row;  // else the second is
  bool in_place;      // of the operand with rows
};

std::vector<float> draw(size_t count, uint32_t seed) {
  std::vector<float> values(count + XNN_EXTRA_BYTES / sizeof(float));
  for (float& value : values) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(seed >> 8) / (1 << 22) - 2;
  }
  return values;
}

void check(const Case& c, pthreadpool_t threads) {
  const size_t count = c.rows * c.columns;
  std::vector<float> many = draw(count, 1);
  const std::vector<float> given = many;
  const std::vector<float> row = draw(c.columns, 2);
  std::vector<float> separate(count + 16, kUntouched);
  std::vector<float>& out = c.in_place ? many : separate;
  for (size_t i = count; i < out.size(); ++i) out[i] = kUntouched;
  const size_t shape[] = {c.rows, c.columns};
  const size_t* shape_of_row = shape + 1;

  xnn_operator_t op = nullptr;
  ASSERT_EQ(xnn_create_binary_elementwise_nd(c.kind.op, xnn_datatype_fp32, nullptr, nullptr,
                                             nullptr, 0, &op),
            xnn_status_success);
  const std::unique_ptr<xnn_operator, decltype(&xnn_delete_operator)> owned(op,
                                                                            xnn_delete_operator);
  const float* a = c.first_is_row ? row.data() : many.data();
  const float* b = c.first_is_row ? many.data() : row.data();
  ASSERT_EQ(c.first_is_row
                ? xnn_reshape_binary_elementwise_nd(op, 1, shape_of_row, 2, shape, threads)
                : xnn_reshape_binary_elementwise_nd(op, 2, shape, 1, shape_of_row, threads),
            xnn_status_success);
  ASSERT_EQ(xnn_setup_binary_elementwise_nd(op, a, b, out.data()), xnn_status_success);
  ASSERT_EQ(xnn_run_operator(op, threads), xnn_status_success);

  for (size_t i = 0; i < count; ++i) {
    const float one = row[i % c.columns];
    const float expected =
        c.first_is_row ? c.kind.compute(one, given[i]) : c.kind.compute(given[i], one);
    ASSERT_EQ(out[i], expected) << c.rows << " x " << c.columns << ", element " << i;
  }
  for (size_t i = count; i < out.size(); ++i) ASSERT_EQ(out[i], kUntouched) << i;
}

TEST(ShortRows, AreComputedElementByElement) {
  ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
  const std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)> threads(pthreadpool_create(3),
                                                                             pthreadpool_destroy);
  for (const Kind& kind : kKinds) {
    for (const size_t columns : {2, 3, 5, 8, 12, 16, 31, 56, 64, 100, 255, 256, 257, 300}) {
      for (const size_t rows : {2, 15, 16, 17, 64, 333, 2049}) {
        for (const bool first_is_row : {false, true}) {
          for (const bool in_place : {false, true}) {
            const Case c = {kind, rows, columns, first_is_row, in_place};
            check(c, nullptr);
            check(c, threads.get());
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
