// SPDX-License-Identifier: Apache-2.0
//
// An app that has only the SDK: runs method forward of a program on ones.
//
//   app MODEL.pte [WEIGHTS.ptd ...]
#include <cstdio>
#include <vector>

#include <petrel/extension/module/module.h>
#include <petrel/extension/tensor/filled.h>

int main(int argc, char** argv) {
  using namespace petrel;  // NOLINT: an example
  if (argc < 2) return std::fprintf(stderr, "usage: app MODEL.pte [DATA ...]\n"), 2;
  extension::Module::Options options;
  options.data_files.assign(argv + 2, argv + argc);
  const auto module = extension::Module::load(argv[1], options);
  if (!module.ok()) return 1;
  const auto input = (*module)->method_meta("forward")->input_tensor_meta(0);
  if (!input.ok()) return 1;
  const auto ones = extension::ones({input->sizes().begin(), input->sizes().end()});
  const auto outputs = (*module)->forward({ones});
  if (!outputs.ok()) return 1;
  const runtime::Tensor result = outputs->at(0).toTensor();
  std::printf("%zu numbers, the first is %.4f\n", result.numel(),
              static_cast<double>(result.const_data_ptr<float>()[0]));
  return 0;
}
