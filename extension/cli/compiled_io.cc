// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/compiled_io.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/status_macros.h"
#include "extension/cli/input_array.h"
#include "extension/cli/input_words.h"
#include "extension/cli/number_in.h"
#include "runtime/core/budget.h"

namespace petrel::extension {

using runtime::Span;

namespace {

// Those that may not stand beside an option that says where a model is.
std::vector<CLI::Option*> others_of(CLI::App& verb, const std::vector<std::string>& allowed) {
  return verb.get_options([&](const CLI::Option* option) {
    return option->nonpositional() &&
           std::find(allowed.begin(), allowed.end(), option->get_name()) == allowed.end();
  });
}

}  // namespace

void add_compiled_flag(CLI::App& verb, const std::vector<std::string>& allowed, bool* flag) {
  const std::vector<CLI::Option*> others = others_of(verb, allowed);
  CLI::Option* const compiled = verb.add_flag(
      "--compiled", *flag,
      "the file is libNAME.so, a module that gen-c compiled; it is code, which is run");
  for (CLI::Option* option : others) compiled->excludes(option);
}

SessionOptions DeviceChoice::session(uint64_t max_input_bytes) const {
  SessionOptions options;
  options.max_input_bytes = std::min(max_input_bytes, kMostDeviceTensorBytes);
  options.run_patience = std::chrono::milliseconds(static_cast<int64_t>(1000 * patience));
  return options;
}

void add_device_option(CLI::App& verb, const std::vector<std::string>& allowed,
                       DeviceChoice* device) {
  const std::vector<CLI::Option*> others = others_of(verb, allowed);
  CLI::Option* const option = verb.add_option(
      "--device", device->spec,
      "the model is on a device: exec:COMMAND, serial:PATH[@BAUD], tcp:HOST:PORT or unix:PATH");
  for (CLI::Option* other : others) option->excludes(other);
  verb.add_option("--device-patience", device->patience,
                  "seconds that a device may compute without a sign of life (default: 60)")
      ->check(number_in(0.1, 86400.0))
      ->needs(option);
}

absl::StatusOr<CompiledInputs> CompiledInputs::set(const std::string& method,
                                                   const std::vector<CodeInput>& wanted,
                                                   const std::vector<std::string>& words,
                                                   uint64_t max_bytes, const SetInput& set_input) {
  std::vector<std::string> names, c_names;
  for (const CodeInput& input : wanted) {
    names.push_back(input.name);
    c_names.push_back(input.c_name);
  }
  PETREL_ASSIGN_OR_RETURN(const std::vector<std::string> sources,
                          assign_inputs(words, names, method, c_names));
  CompiledInputs inputs;
  runtime::Budget bytes("max_input_bytes", max_bytes);
  for (size_t i = 0; i < sources.size(); ++i) {
    WantedInput one;
    one.name = absl::StrCat("input ", i, " '", names[i], "'");
    one.method = method;
    one.type = wanted[i].type;
    one.sizes = wanted[i].sizes;
    one.nbytes = wanted[i].nbytes;
    PETREL_ASSIGN_OR_RETURN(const NpyArray array, read_input(sources[i], one, &bytes));
    if (!wanted[i].varies &&
        !std::equal(array.shape.begin(), array.shape.end(), one.sizes.begin())) {
      return absl::InvalidArgumentError(absl::StrCat(
          one.name, " has shape [", absl::StrJoin(array.shape, ","), "], method '", method,
          "' takes [", absl::StrJoin(one.sizes.begin(), one.sizes.end(), ","), "]"));
    }
    auto tensor = ArrayTensor::make(array, wanted[i].dim_order);
    if (!tensor.ok()) return exir::annotate(tensor.status(), one.name);
    PETREL_RETURN_IF_ERROR(exir::annotate(set_input(i, (*tensor)->value().toTensor()), one.name));
    inputs.tensors_.push_back(*std::move(tensor));
  }
  return inputs;
}

absl::StatusOr<CompiledInputs> CompiledInputs::set(CompiledMethod& method,
                                                   const std::vector<std::string>& words,
                                                   uint64_t max_bytes) {
  std::vector<CodeInput> wanted;
  for (size_t i = 0; i < method.num_inputs(); ++i) {
    const petrel_tensor_info& info = method.info().inputs[i];
    wanted.push_back({info.name, info.c_name, static_cast<runtime::ScalarType>(info.dtype),
                      Span<const int32_t>(info.sizes, info.rank),
                      Span<const uint8_t>(info.dim_order, info.rank), info.bytes,
                      info.least_sizes != nullptr});
  }
  return set(method.name(), wanted, words, max_bytes,
             [&](size_t i, const runtime::Tensor& tensor) -> absl::Status {
               if (method.set_input(i, tensor) == runtime::Error::Ok) return absl::OkStatus();
               return absl::InvalidArgumentError("is not taken");
             });
}

absl::StatusOr<CompiledInputs> CompiledInputs::set(DeviceMethod& method,
                                                   const std::vector<std::string>& words,
                                                   uint64_t max_bytes) {
  std::vector<CodeInput> wanted;
  for (const DeviceTensor& info : method.info().inputs) {
    wanted.push_back({info.name, info.c_name, info.type,
                      Span<const int32_t>(info.sizes.data(), info.sizes.size()),
                      Span<const uint8_t>(info.dim_order.data(), info.dim_order.size()), info.bytes,
                      info.varies});
  }
  return set(method.name(), wanted, words, max_bytes,
             [&](size_t i, const runtime::Tensor& tensor) { return method.set_input(i, tensor); });
}

std::vector<runtime::EValue> outputs_of(CompiledMethod& method) {
  std::vector<runtime::EValue> outputs;
  for (size_t i = 0; i < method.num_outputs(); ++i) {
    outputs.emplace_back(method.get_output(i).get());
  }
  return outputs;
}

std::vector<runtime::EValue> outputs_of(DeviceMethod& method) {
  std::vector<runtime::EValue> outputs;
  for (size_t i = 0; i < method.num_outputs(); ++i) outputs.emplace_back(*method.get_output(i));
  return outputs;
}

}  // namespace petrel::extension
