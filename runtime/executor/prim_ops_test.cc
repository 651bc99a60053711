// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/prim_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "runtime/core/log.h"

namespace petrel::runtime {
namespace {

class PrimOpsTest : public ::testing::Test {
 protected:
  PrimOpsTest() {
    previous_ = set_log_hook({[](void* said, LogLevel, const char* text) {
                                *static_cast<std::string*>(said) += std::string(text) + "\n";
                              },
                              &said_});
  }
  ~PrimOpsTest() override { set_log_hook(previous_); }

  // Calls an operator; the last value is its result.
  static Error call(const std::string& name, std::vector<EValue>* values) {
    std::vector<EValue*> pointers;
    for (EValue& value : *values) pointers.push_back(&value);
    for (const Kernel& kernel : prim_kernels()) {
      if (name != kernel.name) continue;
      KernelRuntimeContext context(nullptr, nullptr, kernel.name);
      kernel.fn(context, pointers);
      return context.failure_state();
    }
    ADD_FAILURE() << "no operator " << name;
    return Error::OperatorMissing;
  }

  // The result of an operator on numbers; None if it failed.
  static EValue compute(const std::string& name, std::vector<EValue> values) {
    values.emplace_back();
    if (call("executorch_prim::" + name, &values) != Error::Ok) return EValue();
    return values.back();
  }

  static EValue integer(int64_t value) { return EValue(value); }

  std::string said_;
  LogHook previous_;
};

TEST_F(PrimOpsTest, HasAllTwentyEight) { EXPECT_EQ(prim_kernels().size(), 28u); }

TEST_F(PrimOpsTest, ComputesIntegersExactly) {
  EXPECT_EQ(compute("add.Scalar", {integer(2), integer(3)}).toInt(), 5);
  EXPECT_EQ(compute("sub.Scalar", {integer(2), integer(3)}).toInt(), -1);
  EXPECT_EQ(compute("mul.Scalar", {integer(INT64_MAX), integer(1)}).toInt(), INT64_MAX);
  EXPECT_EQ(compute("sym_max.Scalar", {integer(2), integer(3)}).toInt(), 3);
  EXPECT_EQ(compute("sym_min.Scalar", {integer(2), integer(3)}).toInt(), 2);
  EXPECT_EQ(compute("neg.Scalar", {integer(2)}).toInt(), -2);
}

TEST_F(PrimOpsTest, RefusesResultsOutsideInt64) {
  EXPECT_TRUE(compute("add.Scalar", {integer(INT64_MAX), integer(1)}).isNone());
  EXPECT_TRUE(compute("sub.Scalar", {integer(INT64_MIN), integer(1)}).isNone());
  EXPECT_TRUE(compute("mul.Scalar", {integer(INT64_MAX), integer(2)}).isNone());
  EXPECT_TRUE(compute("neg.Scalar", {integer(INT64_MIN)}).isNone());
  EXPECT_TRUE(compute("floordiv.int", {integer(INT64_MIN), integer(-1)}).isNone());
  EXPECT_TRUE(compute("sym_int.Scalar", {EValue(1e19)}).isNone());
  EXPECT_TRUE(compute("ceil.Scalar", {EValue(std::nan(""))}).isNone());
}

TEST_F(PrimOpsTest, DividesLikePython) {
  const struct {
    int64_t a, b, quotient, remainder;
  } rows[] = {{7, 2, 3, 1}, {-7, 2, -4, 1}, {7, -2, -4, -1}, {-7, -2, 3, -1}, {6, 3, 2, 0}};
  for (const auto& row : rows) {
    EXPECT_EQ(compute("floordiv.int", {integer(row.a), integer(row.b)}).toInt(), row.quotient);
    EXPECT_EQ(compute("mod.int", {integer(row.a), integer(row.b)}).toInt(), row.remainder);
  }
  EXPECT_EQ(compute("mod.Scalar", {integer(INT64_MIN), integer(-1)}).toInt(), 0);
  EXPECT_EQ(compute("floordiv.Scalar", {EValue(-7.5), integer(2)}).toDouble(), -4.0);
  EXPECT_EQ(compute("mod.Scalar", {EValue(-7.5), integer(2)}).toDouble(), 0.5);
  EXPECT_EQ(compute("truediv.Scalar", {integer(7), integer(2)}).toDouble(), 3.5);
}

TEST_F(PrimOpsTest, RefusesDivisionByZero) {
  for (const char* name :
       {"floordiv.Scalar", "mod.Scalar", "truediv.Scalar", "floordiv.int", "mod.int"}) {
    EXPECT_TRUE(compute(name, {integer(1), integer(0)}).isNone()) << name;
    EXPECT_TRUE(compute(name, {EValue(1.0), EValue(0.0)}).isNone()) << name;
  }
}

TEST_F(PrimOpsTest, Compares) {
  EXPECT_TRUE(compute("eq.Scalar", {integer(2), integer(2)}).toBool());
  EXPECT_FALSE(compute("lt.Scalar", {integer(2), integer(2)}).toBool());
  EXPECT_TRUE(compute("le.Scalar", {integer(2), integer(2)}).toBool());
  EXPECT_FALSE(compute("gt.Scalar", {integer(2), EValue(2.5)}).toBool());
  EXPECT_TRUE(compute("ge.Scalar", {EValue(2.5), integer(2)}).toBool());
  // As doubles these would be equal.
  EXPECT_TRUE(compute("lt.Scalar", {integer(INT64_MAX - 1), integer(INT64_MAX)}).toBool());
}

TEST_F(PrimOpsTest, Rounds) {
  EXPECT_EQ(compute("round.Scalar", {EValue(2.5)}).toInt(), 2);
  EXPECT_EQ(compute("round.Scalar", {EValue(3.5)}).toInt(), 4);
  EXPECT_EQ(compute("round.Scalar", {EValue(-2.5)}).toInt(), -2);
  EXPECT_EQ(compute("round.Scalar", {EValue(2.4)}).toInt(), 2);
  EXPECT_EQ(compute("ceil.Scalar", {EValue(2.1)}).toInt(), 3);
  EXPECT_EQ(compute("trunc.Scalar", {EValue(-2.9)}).toInt(), -2);
  EXPECT_EQ(compute("sym_int.Scalar", {EValue(2.9)}).toInt(), 2);
  EXPECT_EQ(compute("sym_float.Scalar", {integer(2)}).toDouble(), 2.0);
  EXPECT_EQ(compute("ceil.Scalar", {integer(INT64_MAX)}).toInt(), INT64_MAX);
}

TEST_F(PrimOpsTest, Chooses) {
  EXPECT_EQ(compute("sym_ite.Scalar", {EValue(true), integer(1), EValue(2.5)}).toInt(), 1);
  EXPECT_EQ(compute("sym_ite.Scalar", {EValue(false), integer(1), EValue(2.5)}).toDouble(), 2.5);
  EXPECT_TRUE(compute("sym_not.Scalar", {EValue(false)}).toBool());
}

TEST_F(PrimOpsTest, RefusesWrongArguments) {
  int32_t sizes[] = {1};
  TensorImpl impl(ScalarType::Float, 1, sizes);
  EXPECT_TRUE(compute("add.Scalar", {EValue(Tensor(&impl)), integer(1)}).isNone());
  EXPECT_TRUE(compute("add.Scalar", {integer(1)}).isNone());
  EXPECT_TRUE(compute("neg.Scalar", {}).isNone());
  // A tensor or list never becomes a number.
  std::vector<EValue> values = {integer(1), integer(2), EValue(Tensor(&impl))};
  EXPECT_EQ(call("executorch_prim::add.Scalar", &values), Error::InvalidProgram);
  EXPECT_TRUE(values[2].isTensor());
}

TEST_F(PrimOpsTest, TellsShapes) {
  int32_t sizes[] = {4, 5};
  TensorImpl impl(ScalarType::Float, 2, sizes);
  for (const auto& [dim, size] : {std::pair<int64_t, int64_t>{0, 4}, {1, 5}, {-1, 5}, {-2, 4}}) {
    std::vector<EValue> values = {EValue(Tensor(&impl)), integer(dim), EValue()};
    EXPECT_EQ(call("aten::sym_size.int", &values), Error::Ok);
    EXPECT_EQ(values[2].toInt(), size);
  }
  for (const int64_t dim : {int64_t{2}, int64_t{-3}, INT64_MIN, INT64_MAX}) {
    std::vector<EValue> values = {EValue(Tensor(&impl)), integer(dim), EValue()};
    EXPECT_EQ(call("aten::sym_size.int", &values), Error::InvalidProgram) << dim;
  }
  std::vector<EValue> values = {EValue(Tensor(&impl)), EValue()};
  EXPECT_EQ(call("aten::sym_numel", &values), Error::Ok);
  EXPECT_EQ(values[1].toInt(), 20);
}

TEST_F(PrimOpsTest, ReadsOneElement) {
  int64_t number = -5;
  TensorImpl impl(ScalarType::Long, 0, nullptr, &number);
  std::vector<EValue> values = {EValue(Tensor(&impl)), EValue()};
  EXPECT_EQ(call("aten::_local_scalar_dense", &values), Error::Ok);
  EXPECT_EQ(values[1].toInt(), -5);
  int32_t sizes[] = {2};
  float two[2] = {};
  TensorImpl pair(ScalarType::Float, 1, sizes, two);
  values = {EValue(Tensor(&pair)), EValue()};
  EXPECT_EQ(call("aten::_local_scalar_dense", &values), Error::InvalidProgram);
}

class ViewTest : public PrimOpsTest {
 protected:
  ViewTest()
      : from_(ScalarType::Float, 2, from_sizes_, data_),
        to_(ScalarType::Float, 1, to_sizes_, nullptr, nullptr, nullptr,
            TensorShapeDynamism::DYNAMIC_BOUND) {}

  Error view(std::vector<int64_t> sizes) {
    std::vector<EValue> numbers(sizes.begin(), sizes.end());
    std::vector<EValue*> items;
    for (EValue& number : numbers) items.push_back(&number);
    std::vector<int64_t> room(sizes.size());
    BoxedIntList box = {items, room.data()};
    std::vector<EValue> values = {EValue(Tensor(&from_)), EValue(&box), EValue(Tensor(&to_))};
    return call("executorch_prim::et_view.default", &values);
  }

  int32_t from_sizes_[2] = {2, 3};
  int32_t to_sizes_[1] = {100};
  float data_[6] = {};
  TensorImpl from_;
  TensorImpl to_;
};

TEST_F(ViewTest, SharesMemory) {
  EXPECT_EQ(view({6}), Error::Ok);
  EXPECT_EQ(to_.data(), data_);
  EXPECT_EQ(to_.size(0), 6);
  EXPECT_EQ(view({-1}), Error::Ok);
  EXPECT_EQ(to_.size(0), 6);
}

// The view was made for 100 elements, its memory has 6.
TEST_F(ViewTest, CannotGrowBeyondItsMemory) {
  ASSERT_EQ(view({6}), Error::Ok);
  const int32_t seven[] = {7};
  EXPECT_EQ(to_.resize(seven), Error::NotSupported);
  const int32_t five[] = {5};
  EXPECT_EQ(to_.resize(five), Error::Ok);
}

// Nothing is viewed, so there is nothing to write to.
TEST_F(ViewTest, OfNothingCannotGrow) {
  from_sizes_[0] = 0;
  TensorImpl nothing(ScalarType::Float, 2, from_sizes_);
  from_ = nothing;
  ASSERT_EQ(view({0}), Error::Ok);
  EXPECT_EQ(to_.data(), nullptr);
  float number = 1;
  TensorImpl row(ScalarType::Float, 0, nullptr, &number);
  std::vector<EValue> values = {EValue(Tensor(&to_)), EValue(Tensor(&row)), integer(50)};
  EXPECT_EQ(call("executorch_prim::et_copy_index.tensor", &values), Error::NotSupported);
}

TEST_F(ViewTest, KeepsConstantsConstant) {
  from_.set_constant(true);
  ASSERT_EQ(view({6}), Error::Ok);
  EXPECT_TRUE(to_.is_constant());
}

TEST_F(ViewTest, RefusesOtherSizes) {
  EXPECT_NE(view({5}), Error::Ok);
  EXPECT_NE(view({7}), Error::Ok);
  EXPECT_NE(view({-2}), Error::Ok);
  EXPECT_NE(view({2, 3}), Error::Ok);
  EXPECT_NE(view({}), Error::Ok);
  EXPECT_NE(view({INT64_MAX}), Error::Ok);
  EXPECT_NE(view({int64_t{1} << 33}), Error::Ok);
}

// Of numbers that one of them would make fit.
TEST_F(ViewTest, TellsWhichSizesThereAreNot) {
  from_sizes_[0] = 0;
  TensorImpl nothing(ScalarType::Float, 2, from_sizes_);
  const int64_t most = int64_t{1} << 16;  // four of them are 2^64
  const std::vector<int64_t> ones(17, 1);
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
           {0, -2}, {-1, -1}, {0, int64_t{1} << 31}, {most, most, most, most}, {0, -1}, {2, 3}}) {
    from_ = nothing;
    said_.clear();
    EXPECT_EQ(view(sizes), Error::InvalidProgram);
    EXPECT_EQ(said_,
              "executorch_prim::et_view.default: a tensor of 0 elements has no view of the sizes "
              "asked for\n");
  }
  float number = 1;
  from_ = TensorImpl(ScalarType::Float, 0, nullptr, &number);
  said_.clear();
  EXPECT_EQ(view(ones), Error::InvalidProgram);
  EXPECT_EQ(said_,
            "executorch_prim::et_view.default: a tensor of 1 elements has no view of the sizes "
            "asked for\n");
}

TEST_F(PrimOpsTest, ToldOnceThatADivisorIsNoNumber) {
  for (const char* const name : {"floordiv.Scalar", "mod.Scalar", "truediv.Scalar"}) {
    said_.clear();
    EXPECT_TRUE(compute(name, {integer(1), EValue()}).isNone());
    EXPECT_EQ(said_, "executorch_prim::" + std::string(name) +
                         ": argument 1 is None, must be Int, Double or Bool\n");
  }
}

TEST_F(PrimOpsTest, StacksRows) {
  int32_t stack_sizes[] = {4, 2};
  int64_t strides[2];
  float stack_data[8] = {};
  TensorImpl stack(ScalarType::Float, 2, stack_sizes, stack_data, nullptr, strides,
                   TensorShapeDynamism::DYNAMIC_BOUND);
  int32_t row_sizes[] = {2};
  float row_data[2] = {1, 2};
  TensorImpl row(ScalarType::Float, 1, row_sizes, row_data);
  const auto copy = [&](int64_t index) {
    std::vector<EValue> values = {EValue(Tensor(&stack)), EValue(Tensor(&row)), integer(index)};
    return call("executorch_prim::et_copy_index.tensor", &values);
  };
  EXPECT_EQ(copy(0), Error::Ok);
  EXPECT_EQ(stack.size(0), 1);
  row_data[0] = 3;
  EXPECT_EQ(copy(1), Error::Ok);
  EXPECT_EQ(stack.size(0), 2);
  EXPECT_EQ(stack_data[0], 1);
  EXPECT_EQ(stack_data[2], 3);
  EXPECT_EQ(copy(4), Error::NotSupported);
  EXPECT_EQ(copy(-1), Error::InvalidProgram);
  EXPECT_EQ(copy(INT64_MAX), Error::InvalidProgram);
  row_sizes[0] = 1;
  TensorImpl narrow(ScalarType::Float, 1, row_sizes, row_data);
  std::vector<EValue> values = {EValue(Tensor(&stack)), EValue(Tensor(&narrow)), integer(0)};
  EXPECT_EQ(call("executorch_prim::et_copy_index.tensor", &values), Error::InvalidProgram);
}

}  // namespace
}  // namespace petrel::runtime
