// SPDX-License-Identifier: Apache-2.0
//
// Runs method forward of a program on ones and prints each output's sum:
//
//   all_kernels MODEL.pte
#include <cstdio>
#include <vector>

#include "extension/module/module.h"
#include "extension/tensor/tensor_ptr.h"

int main(int argc, char** argv) {
  using namespace petrel;  // NOLINT: a test program
  if (argc != 2) return 2;
  auto module = extension::Module::load(argv[1]);
  if (!module.ok()) return 1;
  const auto meta = (*module)->method_meta("forward");
  if (!meta.ok()) return 1;
  std::vector<extension::TensorPtr> inputs;
  std::vector<runtime::EValue> values;
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto input = meta->input_tensor_meta(i);
    if (!input.ok()) return 1;
    inputs.push_back(
        extension::make_tensor_ptr({input->sizes().begin(), input->sizes().end()},
                                   std::vector<float>(input->nbytes() / sizeof(float), 1.0f)));
    values.emplace_back(*inputs.back());
  }
  const auto outputs = (*module)->forward(values);
  if (!outputs.ok()) return 1;
  for (const runtime::EValue& output : *outputs) {
    const runtime::Tensor tensor = output.toTensor();
    double sum = 0;
    for (size_t i = 0; i < tensor.numel(); ++i) sum += tensor.const_data_ptr<float>()[i];
    std::printf("%.6g\n", sum);
  }
  return 0;
}
