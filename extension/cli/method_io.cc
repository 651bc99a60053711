// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/method_io.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/status_macros.h"
#include "extension/cli/input_array.h"
#include "extension/cli/input_words.h"
#include "extension/levels/level_arrays.h"
#include "runtime/core/budget.h"

namespace petrel::extension {

namespace {

// An input that is read as floats where integers stand for numbers and `in_floats` says so.
absl::StatusOr<NpyArray> read_levels(const std::string& source, WantedInput wanted,
                                     const Levels& levels, bool in_floats, runtime::Budget* bytes) {
  if (in_floats) {
    wanted.nbytes = wanted.nbytes / runtime::element_size(wanted.type) * sizeof(float);
    wanted.type = runtime::ScalarType::Float;
  }
  absl::StatusOr<NpyArray> array = read_input(source, wanted, bytes);
  if (!array.ok() && !in_floats) {
    return absl::Status(
        array.status().code(),
        absl::StrCat(array.status().message(), " of scale ", levels.scale, " and zero point ",
                     levels.zero_point, "; --floats takes numbers"));
  }
  if (!array.ok() || !in_floats) return array;
  return in_levels(*array, levels);
}

}  // namespace

absl::StatusOr<MethodInputs> MethodInputs::make(Module& module, const std::string& method,
                                                const std::vector<std::string>& words,
                                                bool in_floats) {
  auto meta = module.method_meta(method);
  const runtime::Error loaded = meta.ok() ? module.load_method(method) : meta.error();
  if (loaded != runtime::Error::Ok) {
    return absl::InvalidArgumentError(
        absl::StrCat("method '", method, "' cannot be loaded: ", runtime::to_string(loaded)));
  }
  std::vector<std::string> names;  // of the inputs that are tensors
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto info = meta->input_tensor_meta(i);
    if (info.ok()) names.emplace_back(info->name());
  }
  PETREL_ASSIGN_OR_RETURN(const std::vector<std::string> sources,
                          assign_inputs(words, names, method));
  MethodInputs inputs;
  runtime::Budget bytes("max_input_bytes", module.program().options().limits.max_input_bytes);
  const ProgramLevels told(module.program());
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto info = meta->input_tensor_meta(i);
    if (!info.ok()) {
      inputs.values_.push_back(module.get_input(method, i));
      continue;
    }
    const size_t tensor = inputs.tensors_.size();
    const std::string name = names[tensor].empty()
                                 ? absl::StrCat("input ", i)
                                 : absl::StrCat("input ", i, " '", names[tensor], "'");
    const WantedInput wanted{name, method, info->scalar_type(), info->sizes(), info->nbytes()};
    const auto levels = told.input(method, i);
    if (!levels.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": what its integers stand for is ",
                       "damaged: ", runtime::to_string(levels.error())));
    }
    PETREL_ASSIGN_OR_RETURN(const NpyArray array,
                            *levels
                                ? read_levels(sources[tensor], wanted, **levels, in_floats, &bytes)
                                : read_input(sources[tensor], wanted, &bytes));
    auto tensor_of_array = ArrayTensor::make(array, info->dim_order());
    if (!tensor_of_array.ok()) return exir::annotate(tensor_of_array.status(), name);
    inputs.values_.push_back((*tensor_of_array)->value());
    inputs.tensors_.push_back(*std::move(tensor_of_array));
  }
  return inputs;
}

}  // namespace petrel::extension
