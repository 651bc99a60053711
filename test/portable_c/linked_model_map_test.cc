// SPDX-License-Identifier: Apache-2.0
//
// Programs whose weights are the symbols of generated C compute what they do with their data
// files, bit for bit: kernels, which ask by name, and XNNPACK, which asks by content.
#include "extension/named_data_map/linked_model_map.h"

#include <string>
#include <vector>

#include "digits.h"
#include "digits_xnnpack.h"
#include "extension/module/module.h"
#include "extension/tensor/tensor_ptr.h"
#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::extension {
namespace {

using runtime::Error;

constexpr char kFolder[] = "test/portable_c/";

std::vector<float> scores(const std::string& program, const Module::Options& options) {
  const auto module = Module::load(kFolder + program + ".pte", options);
  if (!module.ok()) return {};
  const auto input = (*module)->method_meta("forward")->input_tensor_meta(0);
  std::vector<float> image(input->nbytes() / sizeof(float));
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 17) / 16.0f;
  const auto tensor = make_tensor_ptr({input->sizes().begin(), input->sizes().end()}, image);
  const auto outputs = (*module)->forward({*tensor});
  if (!outputs.ok()) return {};
  const runtime::Tensor result = (*outputs)[0].toTensor();
  const float* data = result.const_data_ptr<float>();
  return {data, data + result.numel()};
}

void check_same(const std::string& program, const petrel_model_metadata& model) {
  Module::Options of_file;
  of_file.data_files = {kFolder + program + ".ptd"};
  const std::vector<float> expected = scores(program, of_file);
  ASSERT_EQ(expected.size(), 10u);
  const LinkedModelMap weights(model);
  Module::Options linked;
  linked.named_data_map = &weights;
  EXPECT_EQ(scores(program, linked), expected);
}

TEST(LinkedModelMap, KernelsReadTheSymbolsOfGeneratedC) {
  check_same("digits_kernels_pte", *digits_get_model_metadata());
}

TEST(LinkedModelMap, BackendsReadTheSymbolsOfGeneratedC) {
  check_same("digits_xnnpack_pte", *digits_xnnpack_get_model_metadata());
}

TEST(LinkedModelMap, GivesTheSymbolsThemselvesByNameAndByContent) {
  const petrel_model_metadata& model = *digits_get_model_metadata();
  const LinkedModelMap weights(model);
  ASSERT_GT(model.num_params, 0u);
  for (uint32_t i = 0; i < model.num_params; ++i) {
    const petrel_param_info& param = model.params[i];
    for (const char* key : {param.name, param.sha256}) {
      const auto data = weights.get_data(key);
      ASSERT_TRUE(data.ok()) << key;
      EXPECT_EQ(data->size(), param.bytes);
      EXPECT_EQ(data->data(), param.data) << key;  // incbin aligns all of them
    }
  }
  const uint32_t keys = *weights.get_num_keys();
  for (uint32_t i = 1; i < keys; ++i) {
    EXPECT_LT(std::string(*weights.get_key(i - 1)), *weights.get_key(i));
  }
  runtime::set_log_hook(runtime::LogHook{});
  EXPECT_EQ(weights.get_key(keys).error(), Error::InvalidArgument);
  EXPECT_EQ(weights.get_data("none").error(), Error::NotFound);
}

TEST(LinkedModelMap, AlignsWhatTheCompilerHasNot) {
  alignas(16) static const unsigned char bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  petrel_param_info params[2] = {};
  params[0].name = "a";
  params[0].sha256 = "b";
  params[0].data = bytes + 1;
  params[0].bytes = 4;
  params[1].name = "external";
  params[1].sha256 = "c";
  petrel_model_metadata model = {};
  model.params = params;
  model.num_params = 2;
  const LinkedModelMap weights(model);
  EXPECT_EQ(*weights.get_num_keys(), 2u);
  const auto data = weights.get_data("a");
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data->data()) % 16, 0u);
  EXPECT_EQ(static_cast<const unsigned char*>(data->data())[3], 5);
  EXPECT_EQ(weights.get_data("external").error(), Error::NotFound);
}

}  // namespace
}  // namespace petrel::extension
