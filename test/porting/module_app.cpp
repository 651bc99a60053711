// SPDX-License-Identifier: Apache-2.0
//
// An app in the habits of ExecuTorch's Module: classifies digits.
//
//   module_app DIGITS.bin PROGRAM.pte [DATA.ptd]
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sdk.h"

using executorch::aten::ScalarType;
using executorch::extension::from_blob;
using executorch::extension::make_tensor_ptr;
using executorch::extension::Module;
using executorch::extension::TensorPtr;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Result;

namespace {

// 64 pixels of 0 to 16 and the digit.
constexpr size_t kSample = 65;

std::vector<float> pixels_of(const std::string& samples, size_t index) {
  std::vector<float> pixels(64);
  for (size_t i = 0; i < 64; ++i) {
    pixels[i] = static_cast<float>(samples[index * kSample + i]) / 16.0f;
  }
  return pixels;
}

size_t largest(const executorch::aten::Tensor& scores) {
  const float* numbers = scores.const_data_ptr<float>();
  return static_cast<size_t>(std::max_element(numbers, numbers + scores.numel()) - numbers);
}

void describe(Module& module) {
  const auto names = module.method_names();
  std::vector<std::string> sorted(names->begin(), names->end());
  std::sort(sorted.begin(), sorted.end());
  for (const std::string& name : sorted) {
    const auto meta = module.method_meta(name);
    std::printf("%s:", name.c_str());
    for (size_t i = 0; i < meta->num_inputs(); ++i) {
      const auto input = meta->input_tensor_meta(i);
      std::printf(" type %d, sizes", static_cast<int>(input->scalar_type()));
      for (const auto size : input->sizes()) std::printf(" %d", static_cast<int>(size));
      std::printf(", %zu bytes", input->nbytes());
    }
    std::printf(", %zu outputs\n", meta->num_outputs());
  }
}

int classify(Module& module, const std::string& samples) {
  int right = 0;
  for (size_t i = 0; i < 50; ++i) {
    std::vector<float> pixels = pixels_of(samples, i);
    TensorPtr image = from_blob(pixels.data(), {1, 1, 8, 8});
    const auto result = module.forward(image);
    if (!result.ok()) return -1;
    right += largest(result->at(0).toTensor()) == static_cast<size_t>(samples[i * kSample + 64]);
  }
  return right;
}

void use_inputs_and_outputs(Module& module, const std::string& samples) {
  auto image = make_tensor_ptr({1, 1, 8, 8}, pixels_of(samples, 3));
  if (module.set_input(image, 0) != Error::Ok) return;
  image.reset();
  const auto got = module.get("forward");
  std::printf("get: %zu\n", largest(got->toTensor()));

  const auto executed =
      module.execute("forward", {EValue(make_tensor_ptr({1, 1, 8, 8}, pixels_of(samples, 4)))});
  const auto& scores = executed->at(0).toTensor();
  std::printf("execute: %zu of %d", largest(scores), static_cast<int>(scores.size(1)));
  for (ssize_t i = 0; i < 3; ++i) {
    std::printf(" %.3f", static_cast<double>(scores.const_data_ptr<float>()[i]));
  }
  std::printf("\n");
}

void fail(const std::string& path) {
  Module missing(path + ".none");
  std::printf("no file: %d\n", static_cast<int>(missing.load()) != 0);
  Module module(path);
  std::printf("no method: %d\n", module.execute("none").ok());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  executorch::runtime::runtime_init();
  std::ifstream file(argv[1], std::ios::binary);
  const std::string samples((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
  if (argc == 3) {
    Module module(argv[2], Module::LoadMode::Mmap);
    std::printf("loaded: %d\n", module.is_loaded());
    if (module.load(executorch::runtime::Program::Verification::InternalConsistency) != Error::Ok) {
      return 1;
    }
    std::printf("loaded: %d, %zu methods\n", module.is_loaded(), module.num_methods().get());
    describe(module);
    std::printf("forward loaded: %d\n", module.is_method_loaded("forward"));
    std::printf("right: %d of 50\n", classify(module, samples));
    std::printf("forward loaded: %d\n", module.is_method_loaded("forward"));
    use_inputs_and_outputs(module, samples);
    std::printf("unloaded: %d", module.unload_method("forward"));
    std::printf(" %d\n", module.unload_method("forward"));
    fail(argv[2]);
  } else {
    Module module(argv[2], argv[3]);
    std::printf("right: %d of 50\n", classify(module, samples));
  }
  return 0;
}
