// SPDX-License-Identifier: Apache-2.0

// Lanes against one thread, which has none: the same bits.
#include "third_party/xnnpack/lanes/lanes.h"

#include <gtest/gtest.h>
#include <pthreadpool.h>
#include <xnnpack.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace petrel::third_party::xnnpack {
namespace {

using Pool = std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)>;

void check(xnn_status status) { EXPECT_EQ(status, xnn_status_success); }

// A graph of one input, [rows, kWidth], and some outputs; most values have the input's size.
class Net {
 public:
  static constexpr size_t kWidth = 96;

  Net() {
    check(xnn_create_subgraph(kMostEnds, 0, &graph_));
    input = value({1, kWidth}, nullptr, 0, XNN_VALUE_FLAG_EXTERNAL_INPUT);
  }
  ~Net() {
    xnn_delete_runtime(runtime_);
    xnn_delete_subgraph(graph_);
  }

  uint32_t value(const std::vector<size_t>& dims, const void* data = nullptr,
                 uint32_t external_id = XNN_INVALID_VALUE_ID, uint32_t flags = 0) {
    uint32_t id = 0;
    check(xnn_define_tensor_value(graph_, xnn_datatype_fp32, dims.size(), dims.data(), data,
                                  external_id, flags, &id));
    return id;
  }
  uint32_t inner() { return value({1, kWidth}); }
  uint32_t output(size_t width = kWidth) {
    widths_.push_back(width);
    const auto id = static_cast<uint32_t>(widths_.size());
    return value({1, width}, nullptr, id, XNN_VALUE_FLAG_EXTERNAL_OUTPUT);
  }

  uint32_t product(uint32_t x) {
    std::vector<float>& filter = weights_.emplace_back(kWidth * kWidth);
    for (size_t i = 0; i < filter.size(); ++i) {
      filter[i] = std::sin(static_cast<float>(i + weights_.size())) / 8;
    }
    const uint32_t w = value({kWidth, kWidth}, filter.data()), y = inner();
    check(
        xnn_define_fully_connected(graph_, -INFINITY, INFINITY, x, w, XNN_INVALID_VALUE_ID, y, 0));
    return y;
  }
  uint32_t unary(xnn_unary_operator kind, uint32_t x, uint32_t y) {
    check(xnn_define_unary(graph_, kind, nullptr, x, y, 0));
    return y;
  }
  uint32_t binary(xnn_binary_operator kind, uint32_t a, uint32_t b, uint32_t y) {
    check(xnn_define_binary(graph_, kind, nullptr, a, b, y, 0));
    return y;
  }
  uint32_t join(uint32_t a, uint32_t b, uint32_t y) {
    check(xnn_define_concatenate2(graph_, 1, a, b, y, 0));
    return y;
  }
  // One half of the columns of what was joined.
  uint32_t half(uint32_t joined, size_t which) {
    const size_t offsets[] = {0, which * kWidth}, sizes[] = {0, kWidth};
    const uint32_t y = inner();
    check(xnn_define_static_slice(graph_, 2, offsets, sizes, joined, y, 0));
    return y;
  }
  // A step of a recurrent network: state * sigmoid(g) + tanh(g), g = state w + x.
  uint32_t cell(uint32_t state, uint32_t x) {
    const uint32_t g = binary(xnn_binary_add, product(state), x, inner());
    const uint32_t kept =
        binary(xnn_binary_multiply, state, unary(xnn_unary_sigmoid, g, inner()), inner());
    return binary(xnn_binary_add, kept, unary(xnn_unary_tanh, g, inner()), inner());
  }
  uint32_t cells(uint32_t x, size_t count) {
    uint32_t state = product(x);
    for (size_t i = 0; i < count; ++i) state = cell(state, x);
    return state;
  }

  void make(pthreadpool_t pool, uint32_t flags = 0) {
    check(xnn_create_runtime_v2(graph_, pool, flags, &runtime_));
  }
  // All outputs, one behind the other.
  std::vector<float> run(size_t rows, float scale = 1) {
    std::vector<float> x(rows * kWidth + XNN_EXTRA_BYTES);
    for (size_t i = 0; i < rows * kWidth; ++i) x[i] = scale * std::cos(static_cast<float>(i));
    size_t total = 0;
    for (const size_t width : widths_) total += width * rows;
    std::vector<float> out(total, 7);
    const size_t dims[] = {rows, kWidth};
    check(xnn_reshape_external_value(runtime_, 0, 2, dims));
    check(xnn_reshape_runtime(runtime_));
    std::vector<xnn_external_value> ends = {{0, x.data()}};
    size_t at = 0;
    for (const size_t width : widths_) {
      ends.push_back({static_cast<uint32_t>(ends.size()), out.data() + at});
      at += width * rows;
    }
    check(xnn_setup_runtime_v2(runtime_, ends.size(), ends.data()));
    check(xnn_invoke_runtime(runtime_));
    return out;
  }
  size_t num_stretches() const { return petrel_num_stretches(runtime_); }

  uint32_t input = 0;

 private:
  static constexpr uint32_t kMostEnds = 16;
  xnn_subgraph_t graph_ = nullptr;
  xnn_runtime_t runtime_ = nullptr;
  std::vector<size_t> widths_;
  std::deque<std::vector<float>> weights_;
};

// Both directions of `layers` layers.
void both_ways(Net& net, size_t layers) {
  uint32_t forwards = net.input, backwards = net.input;
  for (size_t i = 0; i < layers; ++i) {
    const uint32_t a = net.cells(forwards, 60), b = net.cells(backwards, 60);
    const bool is_last = i + 1 == layers;
    const uint32_t joined =
        net.join(a, b, is_last ? net.output(2 * Net::kWidth) : net.value({1, 2 * Net::kWidth}));
    if (is_last) break;
    forwards = net.half(joined, 0);
    backwards = net.half(joined, 1);
  }
}

class LanesTest : public ::testing::Test {
 protected:
  LanesTest() { check(xnn_initialize(nullptr)); }

  // How many stretches two threads have.
  size_t expect_bits_of_one_thread(const std::function<void(Net&)>& build) {
    Net alone, two, three, lanes_alone;
    for (Net* net : {&alone, &two, &three, &lanes_alone}) build(*net);
    alone.make(nullptr);
    two.make(two_.get());
    three.make(three_.get());
    lanes_alone.make(two_.get(), PETREL_FLAG_SHARE_LANES_ALONE);
    size_t stretches = 0;
    for (const size_t rows : {1, 3, 1, 5}) {
      const std::vector<float> expected = alone.run(rows);
      EXPECT_EQ(alone.num_stretches(), 0u);
      for (Net* net : {&two, &three, &lanes_alone}) {
        for (int i = 0; i < 3; ++i) {
          const std::vector<float> out = net->run(rows);
          EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)), 0)
              << rows << " rows";
        }
      }
      if (rows == 1) stretches = two.num_stretches();
    }
    return stretches;
  }

  const Pool two_{pthreadpool_create(2), &pthreadpool_destroy};
  const Pool three_{pthreadpool_create(3), &pthreadpool_destroy};
};

TEST_F(LanesTest, BothDirectionsOfEachLayer) {
  EXPECT_EQ(expect_bits_of_one_thread([](Net& net) { both_ways(net, 1); }), 1u);
  EXPECT_EQ(expect_bits_of_one_thread([](Net& net) { both_ways(net, 3); }), 3u);
}

TEST_F(LanesTest, StatesThatAreJoinedAndReadAlone) {
  const auto build = [](Net& net) {
    const uint32_t shared = net.unary(xnn_unary_gelu, net.input, net.inner());
    const uint32_t a = net.cells(shared, 60), b = net.cells(shared, 60);
    const uint32_t joined = net.join(a, b, net.output(2 * Net::kWidth));
    net.binary(xnn_binary_add, a, shared, net.output());
    net.binary(xnn_binary_add, net.half(joined, 1), b, net.output());
  };
  EXPECT_EQ(expect_bits_of_one_thread(build), 1u);
}

// An operator between them that has nothing to do with either.
TEST_F(LanesTest, TakeWhatIsConnectedWithNeither) {
  const auto build = [](Net& net) {
    const uint32_t a = net.cells(net.input, 60);
    net.unary(xnn_unary_sigmoid, net.unary(xnn_unary_gelu, net.input, net.inner()), net.output());
    const uint32_t b = net.cells(net.input, 70);
    net.join(a, b, net.output(2 * Net::kWidth));
  };
  EXPECT_EQ(expect_bits_of_one_thread(build), 1u);
}

TEST_F(LanesTest, AreNotThereWhereOneNeedsTheOther) {
  const auto build = [](Net& net) {
    const uint32_t a = net.cells(net.input, 60), b = net.cells(a, 60);
    net.join(a, b, net.output(2 * Net::kWidth));
  };
  EXPECT_EQ(expect_bits_of_one_thread(build), 0u);
}

TEST_F(LanesTest, AreNotThereWhereAnotherOperatorJoinsThem) {
  const auto build = [](Net& net) {
    const uint32_t a = net.cells(net.input, 60), b = net.cells(net.input, 60);
    net.binary(xnn_binary_multiply, a, b, net.output());
    net.join(a, b, net.output(2 * Net::kWidth));
  };
  EXPECT_EQ(expect_bits_of_one_thread(build), 0u);
}

TEST_F(LanesTest, AreNotThereWhereTheyAreTooShort) {
  const auto build = [](Net& net) {
    const uint32_t a = net.cells(net.input, 3), b = net.cells(net.input, 60);
    net.join(a, b, net.output(2 * Net::kWidth));
  };
  EXPECT_EQ(expect_bits_of_one_thread(build), 0u);
}

// Two walks of random operators over values of each side, and a few that both have from before.
TEST_F(LanesTest, RandomHalves) {
  // Of the i-th of 400: turns of one, all of one side before the other, and one side around the
  // other, so that either lane has the first and the last operator.
  const auto side_of = [](uint32_t seed, int i) -> size_t {
    const bool is_outside = i < 100 || i >= 300;
    const size_t sides[] = {static_cast<size_t>(i % 2), static_cast<size_t>(i / 200),
                            static_cast<size_t>(is_outside), static_cast<size_t>(!is_outside)};
    return sides[seed % 4];
  };
  size_t stretches = 0;
  for (uint32_t seed = 0; seed < 80; ++seed) {
    const auto build = [seed, side_of](Net& net) {
      std::mt19937 random(seed);
      std::vector<uint32_t> before = {net.input, net.product(net.input)};
      std::vector<uint32_t> sides[2] = {before, before};
      uint32_t last[2] = {before[1], before[1]};
      for (int i = 0; i < 400; ++i) {
        const size_t side = side_of(seed, i);
        std::vector<uint32_t>& values = sides[side];
        const auto any = [&] { return values[random() % values.size()]; };
        const size_t kind = random() % 4;
        if (kind == 0) last[side] = net.product(last[side]);
        if (kind == 1) last[side] = net.unary(xnn_unary_tanh, last[side], net.inner());
        if (kind == 2) {
          last[side] = net.binary(xnn_binary_subtract, last[side], any(), net.inner());
        }
        if (kind == 3) {
          const uint32_t both = net.join(last[side], any(), net.value({1, 2 * Net::kWidth}));
          last[side] = net.half(both, random() % 2);
        }
        values.push_back(last[side]);
      }
      net.join(last[0], last[1], net.output(2 * Net::kWidth));
    };
    SCOPED_TRACE(seed);
    stretches += expect_bits_of_one_thread(build);
  }
  EXPECT_GE(stretches, 40u);
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
