// SPDX-License-Identifier: Apache-2.0
//
// Work of the shipped kernels, both sets: what is beyond one pass over the
// arguments is paid for before it is done, and shapes without elements whose
// other sizes are huge end at once.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "extension/module/module.h"
#include "runtime/kernels/portable/kernels.h"
#include "test/faults/attack.h"
#include "test/faults/test_kernels.h"

namespace petrel::faults {
namespace {

using extension::Module;
using runtime::KernelLibrary;
using runtime::Registry;

constexpr int32_t kHuge = INT32_MAX;

// A program of one call, whose values lie one behind the other.
class OneCall {
 public:
  OneCall() {
    plan(recipe).values.clear();
    plan(recipe).inputs.clear();
    plan(recipe).outputs.clear();
    plan(recipe).operators.clear();
    plan(recipe).chains = {{}};
    plan(recipe).arenas[1] = 1 << 16;
  }

  int32_t add(ValueRecipe value) {
    add_value(recipe, std::move(value));
    return static_cast<int32_t>(plan(recipe).values.size() - 1);
  }
  int32_t tensor(std::vector<int32_t> sizes, fb::ScalarType type = fb::ScalarType::FLOAT) {
    uint64_t numel = 1;
    for (const int32_t size : sizes) numel *= static_cast<uint64_t>(size);
    ValueRecipe value = planned_tensor(std::move(sizes), next_);
    value.scalar_type = static_cast<int8_t>(type);
    next_ += (numel * 8 + 63) / 64 * 64;
    return add(std::move(value));
  }
  int32_t longs(std::vector<int32_t> sizes) {
    return tensor(std::move(sizes), fb::ScalarType::LONG);
  }
  int32_t integer(int64_t number) {
    return add(number_value(Types::Int, static_cast<double>(number)));
  }
  int32_t tensors(const std::vector<int64_t>& values) {
    return add(list_value(Types::OptionalTensorList, values));
  }
  int32_t boolean(bool value) { return add(number_value(Types::Bool, value ? 1 : 0)); }
  int32_t real(double value) { return add(number_value(Types::Double, value)); }
  int32_t none() { return add(number_value(Types::Null, 0)); }
  int32_t integers(const std::vector<int64_t>& numbers) {
    std::vector<int64_t> items;
    for (const int64_t number : numbers) items.push_back(integer(number));
    return add(list_value(Types::IntList, items));
  }

  Recipe recipe;

 private:
  uint64_t next_ = 0;
};

struct Row {
  const char* name;
  const char* op;
  const char* overload;
  std::vector<int32_t> (*args)(OneCall&);
  // Beyond one pass.
  uint64_t units;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

const Row kRows[] = {
    {"Mm", "aten::mm", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({4, 8}), c.tensor({8, 16}), c.tensor({4, 16})};
     },
     4 * 8 * 16},
    {"MmOfDoubles", "aten::mm", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({4, 8}, fb::ScalarType::DOUBLE), c.tensor({8, 16}, fb::ScalarType::DOUBLE),
               c.tensor({4, 16}, fb::ScalarType::DOUBLE)};
     },
     4 * 8 * 16},
    {"Bmm", "aten::bmm", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({3, 4, 8}), c.tensor({3, 8, 16}), c.tensor({3, 4, 16})};
     },
     3 * 4 * 8 * 16},
    {"Addmm", "aten::addmm", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({16}), c.tensor({4, 8}), c.tensor({8, 16}),
               c.integer(1),   c.integer(1),     c.tensor({4, 16})};
     },
     4 * 8 * 16},
    {"Linear", "aten::linear", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({2, 4, 8}), c.tensor({16, 8}), c.none(), c.tensor({2, 4, 16})};
     },
     2 * 4 * 8 * 16},
    {"Attention", "petrel::attention", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({1, 2, 4, 8}), c.tensor({1, 2, 5, 8}),
               c.tensor({1, 2, 5, 8}), c.none(),
               c.boolean(false),       c.real(1),
               c.tensor({1, 2, 4, 8})};
     },
     2 * 4 * 5 * (8 + 8)},
    {"Cdist", "aten::_cdist_forward", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({6, 8}), c.tensor({7, 8}), c.real(2), c.none(), c.tensor({6, 7})};
     },
     6 * 7 * 8},
    {"Topk", "aten::topk", "values",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({5, 9}), c.integer(4),     c.integer(1),   c.boolean(true),
               c.boolean(true),  c.tensor({5, 4}), c.longs({5, 4})};
     },
     5 * 9 * 3},
    {"MaxPool", "aten::max_pool2d_with_indices", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       const int32_t three = c.integers({3}), one = c.integers({1});
       return {c.tensor({2, 8, 8}),
               three,
               one,
               c.integers({0}),
               one,
               c.boolean(false),
               c.tensor({2, 6, 6}),
               c.longs({2, 6, 6})};
     },
     2 * 6 * 6 * 9},
    {"AvgPool", "aten::avg_pool2d", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({2, 8, 8}), c.integers({3}),  c.integers({1}), c.integers({0}),
               c.boolean(false),    c.boolean(false), c.none(),        c.tensor({2, 6, 6})};
     },
     2 * 6 * 6 * 9},
    {"MaskedSelect", "aten::masked_select", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       const int32_t self = c.tensor({1, 60}), mask = c.tensor({50, 1}, fb::ScalarType::BOOL);
       const int32_t out = c.tensor({10});
       plan(c.recipe).values.back().dynamism = 1;
       return {self, mask, out};
     },
     60 * 50},
    {"IndexPut", "aten::index_put", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       const int32_t self = c.tensor({4, 5}),
                     indices = c.tensors({c.longs({40, 1}), c.longs({30})});
       return {self, indices, c.tensor({1}), c.boolean(false), c.tensor({4, 5})};
     },
     40 * 30},
    {"IndexPutOfBools", "aten::index_put", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       const auto type = fb::ScalarType::BOOL;
       const int32_t self = c.tensor({4, 5, 2}, type),
                     indices = c.tensors({c.longs({40, 1}), c.longs({30})});
       return {self, indices, c.tensor({1}, type), c.boolean(false), c.tensor({4, 5, 2}, type)};
     },
     40 * 30 * 2},
    {"TransposedConvolution", "aten::convolution", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       const int32_t seven = c.integers({7, 7}), zero = c.integers({0, 0}),
                     one = c.integers({1, 1});
       return {c.tensor({1, 2, 1, 1}),
               c.tensor({2, 3, 6, 6}),
               c.none(),
               one,
               zero,
               seven,
               c.boolean(true),
               zero,
               c.integer(1),
               c.tensor({1, 3, 36, 36})};
     },
     3 * 36 * 36 * 36},
    {"Convolution", "aten::convolution", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       const int32_t one = c.integers({1}), zero = c.integers({0});
       return {c.tensor({1, 3, 6, 6}),
               c.tensor({5, 3, 3, 3}),
               c.none(),
               one,
               zero,
               one,
               c.boolean(false),
               zero,
               c.integer(1),
               c.tensor({1, 5, 4, 4})};
     },
     5 * 4 * 4 * 3 * 9},
};

class WorkTest : public ::testing::TestWithParam<std::tuple<Row, bool>> {
 protected:
  Error run_within(uint64_t limit) {
    static constexpr KernelLibrary kPortable[] = {&runtime::portable_kernels};
    static const Registry reference(kPortable, {});
    const Row& row = std::get<0>(GetParam());
    OneCall call;
    std::vector<int32_t> args = row.args(call);
    args.push_back(args.back());
    add_kernel_call(call.recipe, row.op, row.overload, args);
    const std::vector<uint8_t> bytes = build(call.recipe);
    Module::Options options;
    options.registry = std::get<1>(GetParam()) ? &reference : &test_registry();
    options.limits.max_element_operations = limit;
    said_.clear();
    runtime::set_log_hook({[](void* to, runtime::LogLevel, const char* message) {
                             *static_cast<std::string*>(to) += std::string(message) + "\n";
                           },
                           &said_});
    auto module = Module::load(bytes.data(), bytes.size(), options);
    if (!module.ok()) return module.error();
    return (*module)->execute("forward", {}).error();
  }

  // One, the elements of all tensors, the last one twice, and the entries of lists.
  static uint64_t passes() {
    OneCall call;
    const std::vector<int32_t> args = std::get<0>(GetParam()).args(call);
    uint64_t sum = 1;
    const auto add = [&](const auto& add, int32_t value) -> void {
      const ValueRecipe& recipe = plan(call.recipe).values[static_cast<size_t>(value)];
      sum += recipe.items.size();
      if (recipe.type == Types::OptionalTensorList) {
        for (const int64_t item : recipe.items) add(add, static_cast<int32_t>(item));
      }
      if (recipe.type != Types::Tensor) return;
      uint64_t numel = 1;
      for (const int32_t size : recipe.sizes) numel *= static_cast<uint64_t>(size);
      sum += numel;
    };
    for (const int32_t arg : args) add(add, arg);
    add(add, args.back());
    return sum;
  }

  QuietLog quiet_;
  std::string said_;
};

TEST_P(WorkTest, IsPaidForBeforeItIsDone) {
  const uint64_t units = std::get<0>(GetParam()).units;
  EXPECT_EQ(run_within(UINT64_MAX), Error::Ok) << said_;
  EXPECT_EQ(run_within(passes() + units - 1), Error::OutOfResources) << said_;
  const std::string words = "needs " + std::to_string(units) + " of max_element_operations";
  EXPECT_NE(said_.find(words), std::string::npos) << said_;
}

INSTANTIATE_TEST_SUITE_P(All, WorkTest,
                         ::testing::Combine(::testing::ValuesIn(kRows), ::testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) +
                                  (std::get<1>(info.param) ? "Reference" : "Optimized");
                         });

// Shapes that PyTorch takes, and loops that would run for 10^18 turns.
const Row kEmpty[] = {
    {"Bmm", "aten::bmm", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({kHuge, kHuge, 0}), c.tensor({kHuge, 0, 0}), c.tensor({kHuge, kHuge, 0})};
     },
     0},
    {"BmmOfTwoSizes", "aten::bmm", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({0, kHuge, 1}), c.tensor({0, 1, kHuge}), c.tensor({0, kHuge, kHuge})};
     },
     0},
    {"Topk", "aten::topk", "values",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({kHuge, kHuge, 0}),
               c.integer(0),
               c.integer(2),
               c.boolean(true),
               c.boolean(true),
               c.tensor({kHuge, kHuge, 0}),
               c.longs({kHuge, kHuge, 0})};
     },
     0},
    {"Gather", "aten::gather", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({kHuge, kHuge, 0}), c.integer(2), c.longs({kHuge, kHuge, 0}),
               c.boolean(false), c.tensor({kHuge, kHuge, 0})};
     },
     0},
    {"Cdist", "aten::_cdist_forward", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({kHuge, kHuge, 0}), c.tensor({kHuge, 0, 0}), c.real(2), c.none(),
               c.tensor({kHuge, kHuge, 0})};
     },
     0},
    {"GridSampler", "aten::grid_sampler_2d", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {
           c.tensor({kHuge, 0, 1, 1}), c.tensor({kHuge, kHuge, 0, 2}), c.integer(0), c.integer(0),
           c.boolean(false),           c.tensor({kHuge, 0, kHuge, 0})};
     },
     0},
    {"Attention", "petrel::attention", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({1, kHuge, kHuge, 0}),
               c.tensor({1, kHuge, 1, 0}),
               c.tensor({1, kHuge, 1, 0}),
               c.none(),
               c.boolean(false),
               c.real(1),
               c.tensor({1, kHuge, kHuge, 0})};
     },
     0},
    {"PixelUnshuffle", "aten::pixel_unshuffle", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({kHuge, 0, kHuge, 1}), c.integer(1), c.tensor({kHuge, 0, kHuge, 1})};
     },
     0},
    {"Softmax", "aten::_softmax", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({kHuge, kHuge, 0}), c.integer(2), c.boolean(false),
               c.tensor({kHuge, kHuge, 0})};
     },
     0},
    {"Cumsum", "aten::cumsum", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       return {c.tensor({kHuge, kHuge, 0}), c.integer(2), c.none(), c.tensor({kHuge, kHuge, 0})};
     },
     0},
    // A view gives a tensor of varying sizes others.
    {"View", "aten::view_copy", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       const int32_t out = c.tensor({1, 1, 0});
       plan(c.recipe).values.back().dynamism = 1;
       return {c.tensor({0}), c.integers({kHuge, kHuge, 0}), out};
     },
     0},
};

struct Ended {
  Report report;
  double seconds;
};

Ended ended(const Row& row) {
  OneCall call;
  std::vector<int32_t> args = row.args(call);
  args.push_back(args.back());
  add_kernel_call(call.recipe, row.op, row.overload, args);
  const auto start = std::chrono::steady_clock::now();
  Report report = run(call.recipe);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return {std::move(report), seconds.count()};
}

class EmptyShapeTest : public ::testing::TestWithParam<Row> {};

TEST_P(EmptyShapeTest, EndsAtOnce) {
  QuietLog quiet;
  const auto [report, seconds] = ended(GetParam());
  ASSERT_EQ(report.load, Error::Ok) << QuietLog::last();
  EXPECT_NE(report.methods[0], Error::Ok);
  EXPECT_LT(seconds, 5.0) << QuietLog::last();
}

INSTANTIATE_TEST_SUITE_P(All, EmptyShapeTest, ::testing::ValuesIn(kEmpty),
                         [](const auto& info) { return std::string(info.param.name); });

// A billion places of no channel.
TEST(EmptyPixels, AreNotWalkedThrough) {
  for (const char* op : {"aten::pixel_shuffle", "aten::pixel_unshuffle"}) {
    QuietLog quiet;
    OneCall call;
    const std::vector<int32_t> args = {call.tensor({1, 0, 0, 0}), call.integer(32767),
                                       call.tensor({1, 0, 0, 0})};
    add_kernel_call(call.recipe, op, "out", {args[0], args[1], args[2], args[2]});
    const auto start = std::chrono::steady_clock::now();
    const Report report = run(call.recipe);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    ASSERT_EQ(report.load, Error::Ok) << QuietLog::last();
    EXPECT_EQ(report.methods[0], Error::Ok) << QuietLog::last();
    EXPECT_LT(seconds.count(), 1.0) << op;
  }
}

// Indices of 60,000 rows and as many columns pick nothing.
TEST(EmptyIndex, PicksAtOnce) {
  QuietLog quiet;
  OneCall call;
  plan(call.recipe).arenas[1] = 1 << 20;
  const std::vector<int32_t> args = {
      call.tensor({0, 10, 10}), call.tensors({-1, call.longs({60000, 1}), call.longs({60000})}),
      call.tensor({0, 60000, 60000})};
  add_kernel_call(call.recipe, "aten::index", "Tensor_out", {args[0], args[1], args[2], args[2]});
  const auto start = std::chrono::steady_clock::now();
  const Report report = run(call.recipe);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  ASSERT_EQ(report.load, Error::Ok) << QuietLog::last();
  EXPECT_EQ(report.methods[0], Error::Ok) << QuietLog::last();
  EXPECT_LT(seconds.count(), 1.0);
}

// A row of no elements in 2^16 groups, looked up 2^15 times.
TEST(EmptyRows, HaveNoGroups) {
  QuietLog quiet;
  OneCall call;
  plan(call.recipe).arenas[1] = 1 << 20;
  const std::vector<int32_t> args = {call.tensor({1, 0}, fb::ScalarType::BYTE),
                                     call.tensor({1, 1 << 16}),
                                     call.none(),
                                     call.integer(0),
                                     call.integer(255),
                                     call.longs({1 << 15}),
                                     call.tensor({1 << 15, 0})};
  std::vector<int32_t> with_result = args;
  with_result.push_back(args.back());
  add_kernel_call(call.recipe, "quantized_decomposed::embedding_byte", "out", with_result);
  const auto start = std::chrono::steady_clock::now();
  const Report report = run(call.recipe);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(report.load, Error::Ok) << QuietLog::last();
  EXPECT_EQ(report.methods[0], Error::Ok) << QuietLog::last();
  EXPECT_LT(seconds.count(), 5.0);
}

// A hundred billion planes, or rows, of no levels.
const Row kEmptyLevels[] = {
    {"Average", "petrel::int8_average", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       const auto levels = fb::ScalarType::CHAR;
       return {c.tensor({100000, 1000000, 1, 0}, levels),
               c.integers({0, 1, 1}),
               c.integers({}),
               c.integer(0),
               c.integer(1),
               c.integer(1),
               c.integer(0),
               c.integer(-128),
               c.integer(127),
               c.integer(1),
               c.tensor({100000, 1000000, 1, 0}, levels)};
     },
     0},
    {"MaxPool", "petrel::int8_max_pool", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       const auto levels = fb::ScalarType::CHAR;
       return {c.tensor({100000, 1000000, 1, 0}, levels), c.integers({0, 1, 1}), c.integers({}),
               c.tensor({100000, 1000000, 1, 0}, levels)};
     },
     0},
    {"Matmul", "petrel::int8_matmul", "out",
     [](OneCall& c) -> std::vector<int32_t> {
       const auto levels = fb::ScalarType::CHAR;
       return {c.tensor({100000, 1000000, 0}, levels),
               c.tensor({100000, 0, 0}, levels),
               c.integer(0),
               c.integer(0),
               c.integer(1),
               c.integer(1),
               c.integer(0),
               c.integer(-128),
               c.integer(127),
               c.integer(1),
               c.tensor({100000, 1000000, 0}, levels)};
     },
     0},
};

class EmptyLevelsTest : public ::testing::TestWithParam<Row> {};

TEST_P(EmptyLevelsTest, EndsAtOnce) {
  QuietLog quiet;
  const auto [report, seconds] = ended(GetParam());
  EXPECT_EQ(report.load, Error::Ok) << QuietLog::last();
  EXPECT_EQ(report.methods[0], Error::Ok) << QuietLog::last();
  EXPECT_LT(seconds, 5.0);
}

INSTANTIATE_TEST_SUITE_P(All, EmptyLevelsTest, ::testing::ValuesIn(kEmptyLevels),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace petrel::faults
