// SPDX-License-Identifier: Apache-2.0
#include "extension/compiled/compiled_module.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "extension/module/error_text.h"
#include "extension/tensor/filled.h"

namespace petrel::extension {
namespace {

using runtime::Error;
using runtime::Result;
using runtime::Tensor;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kCounter[] = "extension/compiled/libcounter.so";
constexpr char kDigits[] = "extension/compiled/libdigits.so";
constexpr char kRows[] = "extension/compiled/librows.so";

std::unique_ptr<CompiledModule> opened(const std::string& path) {
  auto module = CompiledModule::open(path);
  EXPECT_TRUE(module.ok());
  return module.ok() ? std::move(*module) : nullptr;
}

std::vector<float> floats(const Tensor& tensor) {
  const float* data = tensor.const_data_ptr<float>();
  return {data, data + tensor.numel()};
}

std::vector<int> sizes(const Tensor& tensor) {
  return {tensor.sizes().begin(), tensor.sizes().end()};
}

void write(const std::vector<float>& values, const Tensor& tensor) {
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<float>());
}

TEST(CompiledModule, TellsItsMethodsAndTensors) {
  const auto module = opened(kDigits);
  EXPECT_THAT(module->method_names(), ElementsAre("forward"));
  EXPECT_STREQ(module->metadata().name, "digits");
  CompiledMethod& forward = **module->method("forward");
  EXPECT_EQ(forward.num_inputs(), 1u);
  EXPECT_EQ(forward.num_outputs(), 1u);
  EXPECT_EQ(*forward.input_index("image"), 0u);
  EXPECT_EQ(*forward.output_index("linear"), 0u);
  const Tensor image = *forward.get_input(0);
  EXPECT_EQ(image.scalar_type(), runtime::ScalarType::Float);
  EXPECT_THAT(std::vector<int>(image.sizes().begin(), image.sizes().end()),
              ElementsAre(1, 1, 8, 8));
}

TEST(CompiledModule, WrongNamesAreAnsweredWithThoseThatThereAre) {
  const auto module = opened(kDigits);
  const ErrorText said;
  EXPECT_EQ(module->method("backward").error(), Error::NotFound);
  CompiledMethod& forward = **module->method("forward");
  EXPECT_EQ(forward.input_index("picture").error(), Error::NotFound);
  EXPECT_EQ(forward.get_output("scores").error(), Error::NotFound);
  EXPECT_EQ(forward.get_input(1).error(), Error::InvalidArgument);
  EXPECT_STREQ(said.text(),
               "model 'digits' has no method 'backward', it has: forward\n"
               "method 'forward' has no input 'picture', it has: image\n"
               "method 'forward' has no output 'scores', it has: linear\n"
               "method 'forward' has no input 1, it has 1");
}

TEST(CompiledModule, MethodsComputeInMemoryOfTheModuleAndShareState) {
  const auto module = opened(kCounter);
  CompiledMethod& add = **module->method("add");
  CompiledMethod& read = **module->method("read");
  const Tensor x = *add.get_input("x");
  const void* const in = x.const_data_ptr();
  const void* const out = (*add.get_output(0)).const_data_ptr();
  write({1, 1, 1, 0.5f}, x);
  ASSERT_EQ(add.run(), Error::Ok);
  EXPECT_THAT(floats(*add.get_output(0)), ElementsAre(2, 3, 4, 4.5f));
  ASSERT_EQ(read.run(), Error::Ok);
  EXPECT_THAT(floats(*read.get_output(0)), ElementsAre(20, 30, 40, 45));
  ASSERT_EQ(module->reset_state(), Error::Ok);
  ASSERT_EQ(read.run(), Error::Ok);
  EXPECT_THAT(floats(*read.get_output(0)), ElementsAre(10, 20, 30, 40));
  // Where they always are.
  EXPECT_EQ((*add.get_input(0)).const_data_ptr(), in);
  EXPECT_EQ((*add.get_output(0)).const_data_ptr(), out);
}

TEST(CompiledModule, MemoryOfTheCallerStaysUntilItIsReplaced) {
  const auto module = opened(kCounter);
  CompiledMethod& add = **module->method("add");
  const TensorPtr ones = make_tensor_ptr({4}, std::vector<float>{1, 1, 1, 1});
  const TensorPtr result = zeros({4});
  ASSERT_EQ(add.set_input("x", *ones), Error::Ok);
  ASSERT_EQ(add.set_output(0, *result), Error::Ok);
  ASSERT_EQ(add.run(), Error::Ok);
  ASSERT_EQ(add.run(), Error::Ok);
  EXPECT_THAT(floats(*result), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(floats(*ones), ElementsAre(1, 1, 1, 1));
  EXPECT_EQ((*add.get_output(0)).const_data_ptr(), result->const_data_ptr());
  write({10, 10, 10, 10}, *add.get_input("x"));
  ASSERT_EQ(add.run(), Error::Ok);
  EXPECT_THAT(floats(*result), ElementsAre(13, 14, 15, 16));
}

TEST(CompiledModule, TensorsThatDoNotFitAreRefused) {
  const auto module = opened(kDigits);
  CompiledMethod& forward = **module->method("forward");
  const ErrorText said;
  EXPECT_EQ(forward.set_input(0, *zeros({1, 1, 8, 9})), Error::InvalidArgument);
  EXPECT_EQ(forward.set_input(0, *zeros({1, 1, 8, 8}, runtime::ScalarType::Int)),
            Error::InvalidArgument);
  EXPECT_EQ(forward.set_output("linear", *zeros({10})), Error::InvalidArgument);
  EXPECT_THAT(said.text(), HasSubstr("method 'forward': input 0 'image' is float32[1,1,8,8], a "
                                     "tensor of float32[1,1,8,9] is given"));
}

TEST(CompiledModule, SizesThatVaryAreThoseOfTheInput) {
  const auto module = opened(kRows);
  CompiledMethod& forward = **module->method("forward");
  ASSERT_EQ(forward.run(), Error::Ok);
  EXPECT_THAT(sizes(*forward.get_output(0)), ElementsAre(16, 4));
  const TensorPtr whole = make_tensor_ptr({16, 8}, std::vector<float>(128, 0.5f));
  ASSERT_EQ(forward.set_input(0, *whole), Error::Ok);
  ASSERT_EQ(forward.run(), Error::Ok);
  const std::vector<float> rows = floats(*forward.get_output(0));
  const TensorPtr part = make_tensor_ptr({3, 8}, std::vector<float>(24, 0.5f));
  ASSERT_EQ(forward.set_input(0, *part), Error::Ok);
  ASSERT_EQ(forward.run(), Error::Ok);
  EXPECT_THAT(sizes(*forward.get_output(0)), ElementsAre(3, 4));
  EXPECT_EQ(floats(*forward.get_output(0)), std::vector<float>(rows.begin(), rows.begin() + 12));
  // Where it lies in the module, nothing is copied.
  const std::array<int32_t, 2> two = {2, 8};
  write(std::vector<float>(24, 0.5f), *forward.get_input(0));
  ASSERT_EQ(forward.resize_input(0, two), Error::Ok);
  ASSERT_EQ(forward.run(), Error::Ok);
  EXPECT_THAT(sizes(*forward.get_output(0)), ElementsAre(2, 4));
  EXPECT_EQ(floats(*forward.get_output(0)), std::vector<float>(rows.begin(), rows.begin() + 8));
  // Memory of the caller has room for the largest.
  const TensorPtr result = zeros({16, 4});
  ASSERT_EQ(forward.set_output(0, *result), Error::Ok);
  ASSERT_EQ(forward.set_input(0, *part), Error::Ok);
  ASSERT_EQ(forward.run(), Error::Ok);
  EXPECT_EQ(floats(*result)[11], rows[11]);
  EXPECT_EQ(floats(*result)[12], 0.0f);
}

TEST(CompiledModule, SizesBeyondThoseOfTheModelAreRefused) {
  const auto module = opened(kRows);
  CompiledMethod& forward = **module->method("forward");
  const ErrorText said;
  EXPECT_EQ(forward.set_input(0, *zeros({17, 8})), Error::InvalidArgument);
  EXPECT_EQ(forward.set_input(0, *zeros({3, 7})), Error::InvalidArgument);
  EXPECT_EQ(forward.set_output(0, *zeros({3, 4})), Error::InvalidArgument);
  const std::array<int32_t, 1> flat = {8};
  EXPECT_EQ(forward.resize_input(0, flat), Error::InvalidArgument);
  EXPECT_THAT(said.text(), HasSubstr("method 'forward': input 0 'input' is float32[0..16,8], a "
                                     "tensor of float32[17,8] is given"));
}

TEST(CompiledModule, SeveralAtOnceHaveMemoryOfTheirOwn) {
  constexpr size_t kModules = 4;
  std::vector<std::unique_ptr<CompiledModule>> modules;
  for (size_t i = 0; i < kModules; ++i) modules.push_back(opened(kCounter));
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(kModules);
  for (size_t i = 0; i < kModules; ++i) {
    threads.emplace_back([&, i] {
      CompiledMethod& add = **modules[i]->method("add");
      const float step = static_cast<float>(i);
      const TensorPtr x = make_tensor_ptr({4}, std::vector<float>(4, step));
      bool ok = add.set_input(0, *x) == Error::Ok;
      for (int run = 0; run < 1000; ++run) ok = ok && add.run() == Error::Ok;
      if (ok) results[i] = floats(*add.get_output(0));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < kModules; ++i) {
    const float sum = 1000 * static_cast<float>(i);
    EXPECT_THAT(results[i], ElementsAre(1 + sum, 2 + sum, 3 + sum, 4 + sum));
  }
}

TEST(CompiledModule, ModelsOfOtherNamesLiveSideBySide) {
  const auto digits = opened(kDigits);
  const auto counter = opened(kCounter);
  EXPECT_STREQ(digits->metadata().name, "digits");
  EXPECT_STREQ(counter->metadata().name, "counter");
}

TEST(CompiledModule, PathWhoseFileWasReplacedIsNotTakenForTheNewOne) {
  const std::string path = testing::TempDir() + "/replaced.so";
  const auto put = [&](const char* from) {
    std::remove(path.c_str());
    std::ifstream in(from, std::ios::binary);
    std::ofstream(path, std::ios::binary) << in.rdbuf();
  };
  put(kDigits);
  auto digits = opened(path);
  put(kCounter);
  {
    const ErrorText said;
    EXPECT_EQ(CompiledModule::open(path).error(), Error::InvalidState);
    EXPECT_THAT(said.text(), HasSubstr("close that first"));
  }
  digits.reset();
  EXPECT_STREQ(opened(path)->metadata().name, "counter");
}

TEST(CompiledModule, CodeOfForeignLibrariesIsNotRun) {
  const ErrorText said;
  EXPECT_EQ(CompiledModule::open("no.so").error(), Error::NotFound);
  Dl_info libc = {};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&std::fopen), &libc), 0);
  EXPECT_EQ(CompiledModule::open(libc.dli_fname).error(), Error::InvalidProgram);
  EXPECT_THAT(said.text(), HasSubstr("has no section .petrel"));
}

TEST(CompiledModule, RunsAreTimed) {
  const auto module = opened(kCounter);
  TimePlan plan;
  plan.number = 100;
  plan.repeat = 3;
  const auto seconds = (**module->method("read")).time_evaluator(plan);
  ASSERT_TRUE(seconds.ok());
  EXPECT_THAT(*seconds, testing::SizeIs(3));
  EXPECT_THAT(*seconds, testing::Each(testing::Gt(0.0)));
}

}  // namespace
}  // namespace petrel::extension
