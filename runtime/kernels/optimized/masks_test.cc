// SPDX-License-Identifier: Apache-2.0
//
// A mask as an index stands for the places where it is true. Of both sets of kernels; what is
// expected is what eager PyTorch gives.
#include <cstdint>
#include <vector>

#include "runtime/kernels/optimized/edges.h"

namespace petrel::runtime {
namespace {

using Floats = std::vector<float>;
using Longs = std::vector<int64_t>;

class Masks : public Edges {
 protected:
  // 0 1 2, 3 4 5
  Held& numbers() { return tensor({2, 3}).set(Floats{0, 1, 2, 3, 4, 5}); }
  Held& mask(std::vector<int32_t> sizes, const std::vector<uint8_t>& elements,
             ScalarType type = ScalarType::Bool) {
    return tensor(std::move(sizes), type).set(elements);
  }
  Held& longs(const Longs& elements) {
    return tensor({static_cast<int32_t>(elements.size())}, ScalarType::Long).set(elements);
  }
  // self[indices] in a tensor of `sizes`.
  Floats found(EValue self, std::vector<EValue> indices, std::vector<int32_t> sizes) {
    Held& out = tensor(std::move(sizes));
    EXPECT_EQ(call("aten::index.Tensor_out", {self, optional_list(std::move(indices)), out}),
              Error::Ok);
    return out.get<float>();
  }
};

TEST_P(Masks, ChooseElements) {
  Held& all = mask({2, 3}, {0, 1, 1, 1, 0, 0});
  EXPECT_EQ(found(numbers(), {all}, {3}), Floats({1, 2, 3}));
  EXPECT_EQ(found(numbers(), {mask({2}, {0, 2})}, {1, 3}), Floats({3, 4, 5}));
  EXPECT_EQ(found(numbers(), {EValue(), mask({3}, {1, 0, 1})}, {2, 2}), Floats({0, 2, 3, 5}));
  EXPECT_EQ(found(numbers(), {mask({2}, {0, 0}, ScalarType::Byte)}, {0, 3}), Floats());
  Held& turned_mask = turned({2, 3}, ScalarType::Bool).set<uint8_t>({0, 1, 1, 0, 1, 0});
  EXPECT_EQ(found(numbers(), {turned_mask}, {3}), Floats({1, 2, 3}));
  Held& other = turned({2, 3}).set(Floats{0, 3, 1, 4, 2, 5});
  EXPECT_EQ(found(other, {all}, {3}), Floats({1, 2, 3}));
}

TEST_P(Masks, MeetOtherIndices) {
  // One place for each of two indices, and one index for each of two places.
  EXPECT_EQ(found(numbers(), {mask({2}, {0, 1}), longs({2, 0})}, {2}), Floats({5, 3}));
  EXPECT_EQ(found(numbers(), {longs({1}), mask({3}, {1, 0, 1})}, {2}), Floats({3, 5}));
  // Two rows of places, which are gone through twice.
  Held& rows = tensor({2, 1}, ScalarType::Long).set(Longs{1, 0});
  EXPECT_EQ(found(numbers(), {rows, mask({3}, {1, 0, 1})}, {2, 2}), Floats({3, 5, 0, 2}));
  // Not next to each other: their dim comes first.
  Held& cube = tensor({2, 2, 2}).set(Floats{0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(found(cube, {mask({2}, {1, 1}), EValue(), longs({0, 1})}, {2, 2}),
            Floats({0, 2, 5, 7}));
  refuses("aten::index.Tensor_out",
          {numbers(), optional_list({mask({2}, {1, 1}), longs({0, 1, 2})}), tensor({2})});
}

TEST_P(Masks, SayWhereElementsGo) {
  const EValue no(false), yes(true);
  Held& put = tensor({2, 3});
  Held& all = mask({2, 3}, {0, 1, 1, 1, 0, 0});
  Held& values = tensor({3}).set(Floats{10, 20, 30});
  EXPECT_EQ(call("aten::index_put.out", {numbers(), optional_list({all}), values, no, put}),
            Error::Ok);
  EXPECT_EQ(put.get<float>(), Floats({0, 10, 20, 30, 4, 5}));
  EXPECT_EQ(call("aten::index_put.out", {numbers(), optional_list({all}), values, yes, put}),
            Error::Ok);
  EXPECT_EQ(put.get<float>(), Floats({0, 11, 22, 33, 4, 5}));
  Held& one = tensor({1}).set(Floats{7});
  EXPECT_EQ(call("aten::index_put_", {put, optional_list({mask({2}, {0, 1})}), one, no}),
            Error::Ok);
  EXPECT_EQ(put.get<float>(), Floats({0, 11, 22, 7, 7, 7}));
  refuses("aten::index_put.out",
          {numbers(), optional_list({all}), tensor({2}).fill(1), no, tensor({2, 3})});
}

TEST_P(Masks, AreOfTheSizesOfTheirDims) {
  for (const std::vector<int32_t>& sizes : {std::vector<int32_t>{3}, {2, 2}, {2, 3, 1}, {}}) {
    size_t count = 1;
    for (const int32_t size : sizes) count *= static_cast<size_t>(size);
    refuses("aten::index.Tensor_out",
            {numbers(), optional_list({mask(sizes, std::vector<uint8_t>(count, 1))}), tensor({2})});
  }
  refuses("aten::index.Tensor_out",
          {numbers(), optional_list({mask({2, 3}, {0, 1, 1, 1, 0, 0}), longs({0})}), tensor({3})});
}

// In outputs that what is left of the call would fill.
TEST_P(Masks, AndOtherIndicesFitTheTensor) {
  const auto refuses_to_find = [this](std::vector<EValue> indices, std::vector<int32_t> sizes) {
    refuses("aten::index.Tensor_out",
            {numbers(), optional_list(std::move(indices)), tensor(std::move(sizes))});
  };
  refuses_to_find({mask({3}, {1, 1, 0})}, {2, 3});
  refuses_to_find({longs({1, 0}), mask({3}, {1, 1, 1})}, {2});
  refuses_to_find({longs({0}), longs({0}), longs({0})}, {1});
  refuses_to_find({longs({0}), longs({0}), EValue()}, {1});
  refuses_to_find({mask({2, 3}, {1, 0, 0, 0, 0, 0}), EValue()}, {1});
  refuses_to_find({EValue(), EValue()}, {2, 3});
  refuses_to_find({tensor({2}, ScalarType::Short)}, {2, 3});
  refuses_to_find({longs({2})}, {1, 3});
  refuses_to_find({longs({-3})}, {1, 3});
  const std::vector<int32_t> ones(kTensorDimensionLimit, 1);
  refuses_to_find({tensor(ones, ScalarType::Long)}, ones);
}

// Methods are not made whose masks may; a kernel does not rely on it.
TEST_P(Masks, EndTheCallWhenTheyChange) {
  Held& self = tensor({3, 2}, ScalarType::Byte).set<uint8_t>({1, 1, 1, 1, 1, 1});
  Held& mask = tensor({3}, ScalarType::Byte);
  void* const memory = EValue(self).toTensor().mutable_data_ptr();
  ASSERT_EQ(EValue(mask).toTensor().impl()->set_data(memory, 3), Error::Ok);
  // The second element that is written is the mask's third.
  refuses("aten::index_put_",
          {self, optional_list({mask, longs({0})}), tensor({1}, ScalarType::Byte), EValue(false)});
  EXPECT_EQ(self.get<uint8_t>(), std::vector<uint8_t>({0, 1, 0, 1, 1, 1}));
}

TEST_P(Masks, ArePaidForEachTime) {
  Held& rows = tensor({1000, 1}, ScalarType::Long);
  Held& few = tensor({1000}, ScalarType::Bool);
  const std::vector<EValue> arguments = {tensor({1, 1000}), optional_list({rows, few}),
                                         tensor({1000, 0})};
  EXPECT_EQ(call("aten::index.Tensor_out", arguments, 1'000'000), Error::Ok);
  EXPECT_NE(call("aten::index.Tensor_out", arguments, 999'999), Error::Ok);
}

TEST_P(Masks, PlacesThatAreNotZeroGoWhereStridesSay) {
  const Longs rows = {0, 1, 1, 2}, columns = {0, 1, 1, 2};
  Held& self = tensor({2, 3}).set(Floats{0, 1, 0, 0, 0, -1});
  Held& plain = tensor({2, 2}, ScalarType::Long);
  EXPECT_EQ(call("aten::nonzero.out", {self, plain}), Error::Ok);
  EXPECT_EQ(plain.get<int64_t>(), rows);
  Held& by_column = turned({2, 2}, ScalarType::Long);
  EXPECT_EQ(call("aten::nonzero.out", {self, by_column}), Error::Ok);
  EXPECT_EQ(by_column.get<int64_t>(), columns);
}

PETREL_FOR_BOTH_SETS(Masks);

}  // namespace
}  // namespace petrel::runtime
