// SPDX-License-Identifier: Apache-2.0
//
// The smallest app: runs method forward of a program on ones.
//
//   ./bazelw run //examples:smallest_app -- MODEL.pte [WEIGHTS.ptd | WEIGHTS.safetensors ...]
#include <cstdio>

#include "extension/module/module.h"
#include "extension/named_data_map/safetensors_map.h"
#include "extension/tensor/tensor_ptr.h"

int main(int argc, char** argv) {
  using namespace petrel;  // NOLINT: an example
  if (argc < 2) return std::fprintf(stderr, "usage: smallest_app MODEL.pte [DATA ...]\n"), 2;
  extension::Module::Options options;
  options.data_files.assign(argv + 2, argv + argc);
  options.other_data = extension::read_safetensors;  // left out: .ptd only, a smaller app
  auto module = extension::Module::load(argv[1], options);
  if (!module.ok()) return 1;  // the runtime has said why
  const auto input = (*module)->method_meta("forward")->input_tensor_meta(0);
  if (!input.ok()) return 1;
  const auto tensor =
      extension::make_tensor_ptr({input->sizes().begin(), input->sizes().end()},
                                 std::vector<float>(input->nbytes() / sizeof(float), 1.0f));
  if (tensor == nullptr) return 1;
  const auto outputs = (*module)->forward({*tensor});
  if (!outputs.ok()) return 1;
  const runtime::Tensor result = (*outputs)[0].toTensor();
  std::printf("%zu numbers, the first is %f\n", result.numel(),
              static_cast<double>(result.const_data_ptr<float>()[0]));
  return 0;
}
