// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel/kernel_args.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/core/budget.h"
#include "runtime/core/log.h"

namespace petrel::runtime {
namespace {

class KernelArgsTest : public ::testing::Test {
 protected:
  KernelArgsTest() : impl_(ScalarType::Float, 1, sizes_, data_) { previous_ = set_log_hook({}); }
  ~KernelArgsTest() override { set_log_hook(previous_); }

  int32_t sizes_[1] = {3};
  float data_[3] = {1, 2, 3};
  TensorImpl impl_;
  KernelRuntimeContext context_;
  LogHook previous_;
};

TEST_F(KernelArgsTest, ReadsArguments) {
  EValue tensor{Tensor(&impl_)};
  EValue number(int64_t{7});
  EValue real(0.5);
  EValue none;
  EValue* raw[] = {&tensor, &number, &real, &none, &tensor, &tensor};
  KernelArgs args(context_, raw, 5);
  EXPECT_EQ(args.tensor(0).numel(), 3u);
  EXPECT_EQ(args.integer(1), 7);
  EXPECT_EQ(args.real(1), 7.0);
  EXPECT_EQ(args.real(2), 0.5);
  EXPECT_EQ(args.scalar(2).to_double(), 0.5);
  EXPECT_FALSE(args.optional_integer(3).has_value());
  EXPECT_FALSE(args.optional_tensor(3).has_value());
  EXPECT_EQ(args.optional_scalar_type(1), ScalarType::Double);
  EXPECT_EQ(args.out(4).mutable_data_ptr(), data_);
  EXPECT_TRUE(args.ok());
}

TEST_F(KernelArgsTest, FailsWithTooFewArguments) {
  EValue number(int64_t{7});
  EValue* raw[] = {&number};
  KernelArgs args(context_, raw, 2);
  EXPECT_EQ(context_.failure_state(), Error::InvalidProgram);
  EXPECT_EQ(args.integer(1), 0);
}

TEST_F(KernelArgsTest, GivesHarmlessValuesForWrongTypes) {
  EValue number(int64_t{7});
  EValue* raw[] = {&number};
  KernelArgs args(context_, raw, 1);
  EXPECT_TRUE(args.ok());
  const Tensor tensor = args.tensor(0);
  EXPECT_FALSE(args.ok());
  EXPECT_EQ(tensor.numel(), 0u);
  EXPECT_EQ(tensor.dim(), 1);
  EXPECT_EQ(tensor.strides().size(), 1u);
  EXPECT_TRUE(args.int_list(0).empty());
  EXPECT_TRUE(args.tensor_list(0).empty());
  EXPECT_EQ(args.string(0), "");
  EXPECT_EQ(context_.failure_state(), Error::InvalidProgram);
}

TEST_F(KernelArgsTest, RefusesUnknownScalarTypes) {
  for (const int64_t number : {int64_t{-1}, int64_t{9}, int64_t{30}, int64_t{256 + 6}, INT64_MAX}) {
    KernelRuntimeContext context;
    EValue value(number);
    EValue* raw[] = {&value};
    KernelArgs args(context, raw, 1);
    EXPECT_FALSE(args.optional_scalar_type(0).has_value());
    EXPECT_FALSE(args.ok()) << number;
  }
}

TEST_F(KernelArgsTest, RefusesTensorsWithoutData) {
  TensorImpl unbound(ScalarType::Float, 1, sizes_);
  EValue tensor{Tensor(&unbound)};
  EValue* raw[] = {&tensor};
  KernelArgs args(context_, raw, 1);
  EXPECT_EQ(args.tensor(0).numel(), 0u);
  EXPECT_EQ(context_.failure_state(), Error::InvalidState);
}

TEST_F(KernelArgsTest, RefusesConstantOutputs) {
  impl_.set_constant(true);
  EValue tensor{Tensor(&impl_)};
  EValue* raw[] = {&tensor};
  KernelArgs args(context_, raw, 1);
  EXPECT_EQ(args.tensor(0).numel(), 3u);
  EXPECT_TRUE(args.ok());
  EXPECT_EQ(args.out(0).numel(), 0u);
  EXPECT_FALSE(args.ok());
}

TEST_F(KernelArgsTest, RefusesVariableOutputsThatAreInputsToo) {
  int32_t sizes[] = {3};
  TensorImpl variable(ScalarType::Float, 1, sizes, data_, nullptr, nullptr,
                      TensorShapeDynamism::DYNAMIC_BOUND);
  EValue tensor{Tensor(&variable)};
  EValue other{Tensor(&impl_)};
  EValue* items[] = {&other, &tensor};
  alignas(Tensor) unsigned char room[2 * sizeof(Tensor)];
  BoxedTensorList box = {items, reinterpret_cast<Tensor*>(room)};
  EValue list(&box);
  {
    EValue* raw[] = {&tensor, &tensor};
    KernelArgs args(context_, raw, 2);
    args.out(1);
    EXPECT_FALSE(args.ok());
  }
  {
    KernelRuntimeContext context;
    EValue* raw[] = {&list, &tensor};
    KernelArgs args(context, raw, 2);
    args.out(1);
    EXPECT_FALSE(args.ok());
  }
  {
    // The value returned once more is no other argument.
    KernelRuntimeContext context;
    EValue* raw[] = {&other, &tensor, &tensor};
    KernelArgs args(context, raw, 2);
    args.out(1);
    EXPECT_TRUE(args.ok());
  }
  {
    // Sizes that cannot change do no harm.
    KernelRuntimeContext context;
    EValue* raw[] = {&other, &other};
    KernelArgs args(context, raw, 2);
    args.out(1);
    EXPECT_TRUE(args.ok());
  }
}

// Entries are compared with each other.
TEST_F(KernelArgsTest, LongListsOfOutputsPayForTheirPairs) {
  constexpr size_t kEntries = 100;
  std::vector<EValue> entries(kEntries, EValue(Tensor(&impl_)));
  std::vector<TensorImpl> impls(kEntries, impl_);
  std::vector<EValue*> items;
  for (size_t i = 0; i < kEntries; ++i) {
    entries[i] = EValue(Tensor(&impls[i]));
    items.push_back(&entries[i]);
  }
  std::vector<Tensor> room(kEntries, Tensor(&impl_));
  BoxedTensorList box = {{items.data(), kEntries}, room.data()};
  EValue list(&box);
  EValue* raw[] = {&list};
  for (const uint64_t limit : {kEntries * 2 * kEntries - 1, kEntries * 2 * kEntries}) {
    Budget work("max_element_operations", limit);
    KernelRuntimeContext context(nullptr, nullptr, "kernel", {}, &work);
    KernelArgs args(context, raw, 1);
    EXPECT_EQ(args.out_list(0).size(), limit % 2 == 0 ? kEntries : 0);
    EXPECT_EQ(args.ok(), limit % 2 == 0);
  }
}

TEST_F(KernelArgsTest, AllocatesTemporaryMemory) {
  EXPECT_EQ(context_.allocate_temp(8).error(), Error::NotSupported);
  alignas(16) uint8_t pool[32];
  MemoryAllocator allocator(sizeof(pool), pool);
  KernelRuntimeContext context(nullptr, &allocator);
  EXPECT_TRUE(context.allocate_temp(32, 16).ok());
  EXPECT_EQ(context.allocate_temp(1, 1).error(), Error::MemoryAllocationFailed);
  EXPECT_EQ(context.failure_state(), Error::Ok);
}

}  // namespace
}  // namespace petrel::runtime
