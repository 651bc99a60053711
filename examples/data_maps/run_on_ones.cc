// SPDX-License-Identifier: Apache-2.0
#include "examples/data_maps/run_on_ones.h"

#include <cstdio>
#include <vector>

#include "extension/module/module.h"
#include "extension/tensor/tensor_ptr.h"

namespace petrel::examples {

int run_on_ones(const std::string& program, const runtime::NamedDataMap& weights) {
  extension::Module::Options options;
  options.named_data_map = &weights;
  auto module = extension::Module::load(program, options);
  if (!module.ok()) return 1;
  const auto input = (*module)->method_meta("forward")->input_tensor_meta(0);
  if (!input.ok()) return 1;
  const auto ones =
      extension::make_tensor_ptr({input->sizes().begin(), input->sizes().end()},
                                 std::vector<float>(input->nbytes() / sizeof(float), 1.0f));
  if (ones == nullptr) return 1;
  const auto outputs = (*module)->forward({*ones});
  if (!outputs.ok()) return 1;
  const runtime::Tensor result = (*outputs)[0].toTensor();
  std::printf("%zu numbers, the first is %f\n", result.numel(),
              static_cast<double>(result.const_data_ptr<float>()[0]));
  return 0;
}

}  // namespace petrel::examples
