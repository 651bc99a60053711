// SPDX-License-Identifier: Apache-2.0
//
// Tensors in the habits of ExecuTorch's TensorPtr: what they are is printed.
//
//   tensor_app
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "sdk.h"

// One by one, as apps do.
using executorch::aten::Device;
using executorch::aten::DeviceType;
using executorch::aten::ScalarType;
using executorch::extension::clone_tensor_ptr;
using executorch::extension::for_blob;
using executorch::extension::from_blob;
using executorch::extension::full;
using executorch::extension::full_strided;
using executorch::extension::make_tensor_ptr;
using executorch::extension::ones;
using executorch::extension::ones_like;
using executorch::extension::rand;
using executorch::extension::randint;
using executorch::extension::randn_like;
using executorch::extension::resize_tensor_ptr;
using executorch::extension::scalar_tensor;
using executorch::extension::TensorPtr;
using executorch::extension::zeros;
using executorch::runtime::Error;
using executorch::runtime::EValue;

namespace {

double number(const TensorPtr& tensor, size_t i) {
  switch (tensor->scalar_type()) {
    case ScalarType::Float:
      return static_cast<double>(tensor->const_data_ptr<float>()[i]);
    case ScalarType::Double:
      return tensor->const_data_ptr<double>()[i];
    case ScalarType::Int:
      return tensor->const_data_ptr<int32_t>()[i];
    case ScalarType::Long:
      return static_cast<double>(tensor->const_data_ptr<int64_t>()[i]);
    case ScalarType::Byte:
      return tensor->const_data_ptr<uint8_t>()[i];
    case ScalarType::Char:
      return tensor->const_data_ptr<int8_t>()[i];
    default:
      return -1;
  }
}

void print(const char* what, const TensorPtr& tensor) {
  std::printf("%s: type %d, sizes", what, static_cast<int>(tensor->scalar_type()));
  for (const auto size : tensor->sizes()) std::printf(" %d", static_cast<int>(size));
  std::printf(", strides");
  for (const auto stride : tensor->strides()) std::printf(" %d", static_cast<int>(stride));
  std::printf(", order");
  for (const auto dim : tensor->dim_order()) std::printf(" %d", static_cast<int>(dim));
  std::printf(", %zu bytes:", static_cast<size_t>(tensor->nbytes()));
  for (size_t i = 0; i < static_cast<size_t>(tensor->numel()); ++i) {
    std::printf(" %g", number(tensor, i));
  }
  std::printf("\n");
}

void print_views(float* floats) {
  const auto whole = from_blob(floats, {2, 3}, ScalarType::Float, Device(DeviceType::CPU));
  const auto view = make_tensor_ptr(whole, {3, 2});
  print("view", view);
  print("part", make_tensor_ptr(*whole, {2, 2}));
  print("same", make_tensor_ptr(
                    from_blob(floats, {2, 3}, {1, 2}, ScalarType::Float, Device(DeviceType::CPU))));
  view->mutable_data_ptr<float>()[0] = 9;
  std::printf("shared: %g\n", static_cast<double>(whole->data_ptr<float>()[0]));
  const TensorPtr made = for_blob(floats, {6}).device(Device(DeviceType::CPU));
  print("made", made);
  int count = 0;
  {
    const auto owned = from_blob(floats, {6}, ScalarType::Float, Device(DeviceType::CPU),
                                 [&count](void* /*data*/) { ++count; });
    const auto kept = make_tensor_ptr(owned);
  }
  std::printf("deleted: %d\n", count);
  print("bytes",
        make_tensor_ptr({2}, std::vector<uint8_t>{1, 0, 0, 0, 0, 1, 0, 0}, ScalarType::Int));
  print("strided", full_strided({2, 3}, {1, 2}, 3));
  print("like", ones_like(whole, ScalarType::Long));
}

// Within their bounds, and not all alike.
void print_random() {
  const auto uniform = rand({64});
  const auto integers = randint(-2, 3, {2, 32}, ScalarType::Long);
  const auto normal = randn_like(uniform, ScalarType::Double);
  bool is_within = true, is_alike = true;
  double sum = 0;
  for (size_t i = 0; i < 64; ++i) {
    is_within = is_within && number(uniform, i) >= 0 && number(uniform, i) < 1 &&
                number(integers, i) >= -2 && number(integers, i) <= 2;
    is_alike = is_alike && number(uniform, i) == number(uniform, 0);
    sum += number(normal, i) * number(normal, i);
  }
  std::printf("random: %d %d %d\n", is_within, is_alike, sum > 16 && sum < 256);
}

}  // namespace

int main() {
  executorch::runtime::runtime_init();
  float floats[] = {1, 2, 3, 4, 5, 6};
  print("blob", from_blob(floats, {2, 3}));
  print("strides", from_blob(floats, {2, 3}, {1, 2}));
  int64_t longs[] = {7, 8};
  print("longs", from_blob(longs, {2}, ScalarType::Long));
  int count = 0;
  {
    auto owned = for_blob(floats, {6}).deleter([&count](void*) { ++count; }).make_tensor_ptr();
    print("deleter", owned);
  }
  std::printf("deleted: %d\n", count);

  std::vector<float> numbers = {0.5f, 1.5f, -2.5f, 3.5f};
  print("vector", make_tensor_ptr({2, 2}, numbers));
  print("moved", make_tensor_ptr({2, 2}, std::move(numbers)));
  print("list", make_tensor_ptr({2, 2}, {1.0f, 2.0f, 3.0f, 4.0f}));
  print("ints", make_tensor_ptr({1, 2, 3}));
  print("flat", make_tensor_ptr(std::vector<double>{1.25, 2.25}));
  print("number", make_tensor_ptr(int64_t{42}));
  print("converted",
        make_tensor_ptr({3}, std::vector<int32_t>{1, 2, 3}, {}, {}, ScalarType::Float));
  print("ordered", make_tensor_ptr({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}, {1, 0}, {}));
  print("pointer", make_tensor_ptr({3}, static_cast<void*>(floats)));
  print("zeros", zeros({2}));
  print("ones", ones({2}, ScalarType::Char));
  print("full", full({2}, 7, ScalarType::Byte));
  print("scalar", scalar_tensor(2.5, ScalarType::Double));

  const auto from = make_tensor_ptr({2}, {1.75f, -1.75f});
  print("clone", clone_tensor_ptr(from));
  print("cast", clone_tensor_ptr(from, ScalarType::Double));
  auto sized = make_tensor_ptr({4, 2}, std::vector<float>(8, 1.0f));
  std::printf("resized: %d\n", static_cast<int>(resize_tensor_ptr(sized, {2, 2})));
  print("smaller", sized);
  std::printf("too large: %d\n", resize_tensor_ptr(sized, {8, 2}) == Error::Ok);

  print_views(floats);
  print_random();

  const EValue value(from);
  std::printf("value: %d %d %g\n", value.isTensor(), value.isInt(),
              static_cast<double>(value.toTensor().const_data_ptr<float>()[0]));
  std::printf("numbers: %d %g %d\n", static_cast<int>(EValue(int64_t{3}).toInt()),
              EValue(0.5).toDouble(), EValue(true).toBool());
  std::printf("scalar: %g %d\n", EValue(2.5).toScalar().to<double>(),
              EValue(2.5).toScalar().isFloatingPoint());
  std::printf("wrong type: %d\n", EValue(int64_t{3}).tryToTensor().ok());
  return 0;
}
