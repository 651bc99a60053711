// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/compare_outputs.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/status_macros.h"
#include "extension/npy/tensor_array.h"
#include "extension/quantize/method_runner.h"
#include "extension/quantize/noise.h"
#include "extension/quantize/sample_picks.h"

namespace petrel::extension {
namespace {

using runtime::EValue;

absl::Status add(const runtime::Tensor& is, const runtime::Tensor& should, Noise* noise) {
  if (is.numel() != should.numel() || is.scalar_type() != should.scalar_type()) {
    return absl::InternalError("the quantised program has other outputs");
  }
  const NpyArray made = to_npy(is);
  const NpyArray wanted = to_npy(should);
  const auto* a = reinterpret_cast<const float*>(made.data.data());
  const auto* b = reinterpret_cast<const float*>(wanted.data.data());
  for (size_t i = 0; i < made.data.size() / sizeof(float); ++i) noise->add(a[i], b[i]);
  return absl::OkStatus();
}

bool is_float(const EValue& value) {
  return value.isTensor() && value.toTensor().scalar_type() == runtime::ScalarType::Float;
}

absl::Status compare_sample(MethodRunner& floats, MethodRunner& quantised,
                            const std::vector<NpyArray>& sample, std::map<size_t, Noise>* noise) {
  PETREL_ASSIGN_OR_RETURN(const std::vector<EValue> wanted, floats.run(sample));
  PETREL_ASSIGN_OR_RETURN(const std::vector<EValue> made, quantised.run(sample));
  if (wanted.size() != made.size()) {
    return absl::InternalError("the quantised program has other outputs");
  }
  for (size_t o = 0; o < made.size(); ++o) {
    if (!is_float(wanted[o]) || !is_float(made[o])) continue;
    PETREL_RETURN_IF_ERROR(add(made[o].toTensor(), wanted[o].toTensor(), &(*noise)[o]));
  }
  return absl::OkStatus();
}

// Runs samples on both; `name` is that of the second.
absl::StatusOr<NoiseByMethod> compare_modules(const CalibrateOptions& options, Module& floats,
                                              Module& quantised, const std::string& name,
                                              const ComparedSamples& compared) {
  NoiseByMethod noise;
  for (const std::string& method : methods_in_order(options)) {
    PETREL_ASSIGN_OR_RETURN(MethodRunner first, MethodRunner::open(floats, method));
    auto second = MethodRunner::open(quantised, method);
    if (!second.ok()) return exir::annotate(second.status(), name);
    std::map<size_t, Noise> by_output;
    const auto wanted = compared.find(method);
    size_t samples = 0;
    const auto compare = [&](size_t, const std::vector<NpyArray>& sample) {
      ++samples;
      return compare_sample(first, *second, sample, &by_output);
    };
    PETREL_RETURN_IF_ERROR(
        for_each_sample(options.samples.at(method), first.inputs(),
                        wanted == compared.end() ? WantsSample() : wanted->second, compare)
            .status());
    for (const auto& [output, seen] : by_output) {
      noise[method].push_back({output, seen.decibels(), seen.largest(), samples});
    }
  }
  return noise;
}

}  // namespace

ComparedSamples samples_to_compare(const Calibration& calibration) {
  constexpr size_t kMostCompared = 32;
  ComparedSamples compared;
  if (calibration.has_state) return compared;
  for (const auto& [method, samples] : calibration.samples) {
    compared[method] = those_of(spread_samples(samples, kMostCompared));
  }
  return compared;
}

absl::StatusOr<NoiseByMethod> compare_outputs(const CalibrateOptions& options,
                                              const std::string& floats,
                                              const QuantisedFiles& quantised,
                                              const ComparedSamples& compared) {
  PETREL_ASSIGN_OR_RETURN(const LoadedBytes float_program,
                          LoadedBytes::load(floats, options.registry));
  Module::Options module_options;
  module_options.registry = options.registry;
  module_options.writable_inputs = true;
  module_options.data_files = quantised.data;
  auto module = Module::load(quantised.program, module_options);
  if (!module.ok()) {
    return absl::InternalError(
        absl::StrCat(quantised.name, ": cannot be loaded: ", runtime::to_string(module.error())));
  }
  return compare_modules(options, float_program.module(), **module, quantised.name, compared);
}

absl::StatusOr<NoiseByMethod> compare_outputs(const CalibrateOptions& options,
                                              const std::string& floats,
                                              const std::string& quantised) {
  PETREL_ASSIGN_OR_RETURN(const LoadedBytes first, LoadedBytes::load(floats, options.registry));
  PETREL_ASSIGN_OR_RETURN(const LoadedBytes second, LoadedBytes::load(quantised, options.registry));
  return compare_modules(options, first.module(), second.module(), "the quantised program", {});
}

}  // namespace petrel::extension
