// SPDX-License-Identifier: Apache-2.0
//
// Programs that the ExecuTorch wheel lowered, against eager PyTorch.
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "extension/module/module.h"
#include "extension/npy/npy.h"
#include "extension/tensor/tensor_ptr.h"

namespace petrel::test {
namespace {

using extension::Module;
using extension::NpyArray;
using runtime::EValue;

std::string path_of(const std::string& name) { return "test/xnnpack/wheel/" + name; }

NpyArray array(const std::string& name) {
  absl::StatusOr<NpyArray> result = extension::read_npy(path_of(name));
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : NpyArray();
}

void expect_near(const EValue& value, const NpyArray& expected) {
  ASSERT_TRUE(value.isTensor());
  const runtime::Tensor actual = value.toTensor();
  ASSERT_EQ(actual.dim(), static_cast<ssize_t>(expected.shape.size()));
  for (size_t i = 0; i < expected.shape.size(); ++i) {
    ASSERT_EQ(actual.size(static_cast<ssize_t>(i)), expected.shape[i]) << i;
  }
  const auto* want = reinterpret_cast<const float*>(expected.data.data());
  float largest = 0;
  for (size_t i = 0; i < actual.numel(); ++i) largest = std::max(largest, std::fabs(want[i]));
  for (size_t i = 0; i < actual.numel(); ++i) {
    ASSERT_NEAR(actual.const_data_ptr<float>()[i], want[i], 1e-5 * largest + 1e-6) << i;
  }
}

void run(Module& module, const std::string& name, size_t num_outputs) {
  NpyArray input = array(name + ".input_0.npy");
  const extension::TensorPtr tensor = extension::tensor_of_bytes(
      std::vector<extension::SizesType>(input.shape.begin(), input.shape.end()), input.data.data(),
      input.data.size(), runtime::ScalarType::Float);
  ASSERT_NE(tensor, nullptr);
  auto outputs = module.forward({EValue(*tensor)});
  ASSERT_TRUE(outputs.ok()) << runtime::to_string(outputs.error());
  ASSERT_EQ(outputs->size(), num_outputs);
  for (size_t i = 0; i < num_outputs; ++i) {
    expect_near((*outputs)[i], array(name + ".output_" + std::to_string(i) + ".npy"));
  }
}

TEST(WheelPrograms, WithNodesOfImagesRun) {
  auto module = Module::load(path_of("image.pte"));
  ASSERT_TRUE(module.ok());
  run(**module, "image", 2);
}

TEST(WheelPrograms, WithNodesOfMatricesRun) {
  auto module = Module::load(path_of("tokens.pte"));
  ASSERT_TRUE(module.ok());
  run(**module, "tokens", 2);
}

TEST(WheelPrograms, TakeAnyNumberOfRowsInAnyOrder) {
  auto module = Module::load(path_of("batch.pte"));
  ASSERT_TRUE(module.ok());
  run(**module, "batch", 1);
  run(**module, "batch.other", 1);
  run(**module, "batch", 1);
}

}  // namespace
}  // namespace petrel::test
