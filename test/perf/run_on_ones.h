// SPDX-License-Identifier: Apache-2.0
//
// Runs `forward` of a module, which takes one tensor of floats, on ones.
#ifndef PETREL_TEST_PERF_RUN_ON_ONES_H_
#define PETREL_TEST_PERF_RUN_ON_ONES_H_

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "extension/module/module.h"
#include "extension/tensor/tensor_ptr.h"

namespace petrel::test {

// The first output; empty on an error.
inline std::vector<float> run_on_ones(extension::Module& module) {
  const auto meta = module.method_meta("forward");
  if (!meta.ok()) return {};
  const auto info = meta->input_tensor_meta(0);
  if (!info.ok()) return {};
  const std::vector<int32_t> sizes(info->sizes().begin(), info->sizes().end());
  const auto input =
      extension::make_tensor_ptr(sizes, std::vector<float>(info->nbytes() / sizeof(float), 1));
  const auto outputs = module.forward({*input});
  if (!outputs.ok()) return {};
  const runtime::Tensor out = (*outputs)[0].toTensor();
  return {out.const_data_ptr<float>(), out.const_data_ptr<float>() + out.numel()};
}

// Floats as they are in memory.
inline bool write_floats(const std::string& path, const std::vector<float>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
  return file.good();
}

}  // namespace petrel::test

#endif  // PETREL_TEST_PERF_RUN_ON_ONES_H_
