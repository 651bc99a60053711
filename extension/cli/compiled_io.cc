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
#include "runtime/core/budget.h"

namespace petrel::extension {

using runtime::Span;

void add_compiled_flag(CLI::App& verb, const std::vector<std::string>& allowed, bool* flag) {
  const std::vector<CLI::Option*> others = verb.get_options([&](const CLI::Option* option) {
    return option->nonpositional() &&
           std::find(allowed.begin(), allowed.end(), option->get_name()) == allowed.end();
  });
  CLI::Option* const compiled = verb.add_flag(
      "--compiled", *flag,
      "the file is libNAME.so, a module that gen-c compiled; it is code, which is run");
  for (CLI::Option* option : others) compiled->excludes(option);
}

absl::StatusOr<CompiledInputs> CompiledInputs::set(CompiledMethod& method,
                                                   const std::vector<std::string>& words,
                                                   uint64_t max_bytes) {
  std::vector<std::string> names;
  for (size_t i = 0; i < method.num_inputs(); ++i) {
    names.emplace_back(method.info().inputs[i].name);
  }
  PETREL_ASSIGN_OR_RETURN(const std::vector<std::string> sources,
                          assign_inputs(words, names, method.name()));
  CompiledInputs inputs;
  runtime::Budget bytes("max_input_bytes", max_bytes);
  for (size_t i = 0; i < sources.size(); ++i) {
    const petrel_tensor_info& info = method.info().inputs[i];
    WantedInput wanted;
    wanted.name = absl::StrCat("input ", i, " '", names[i], "'");
    wanted.method = method.name();
    wanted.type = static_cast<runtime::ScalarType>(info.dtype);
    wanted.sizes = {info.sizes, info.rank};
    wanted.nbytes = info.bytes;
    PETREL_ASSIGN_OR_RETURN(const NpyArray array, read_input(sources[i], wanted, &bytes));
    if (info.least_sizes == nullptr &&
        !std::equal(array.shape.begin(), array.shape.end(), wanted.sizes.begin())) {
      return absl::InvalidArgumentError(
          absl::StrCat(wanted.name, " has shape [", absl::StrJoin(array.shape, ","), "], method '",
                       wanted.method, "' takes [",
                       absl::StrJoin(wanted.sizes.begin(), wanted.sizes.end(), ","), "]"));
    }
    auto tensor = ArrayTensor::make(array, Span<const uint8_t>(info.dim_order, info.rank));
    if (!tensor.ok()) return exir::annotate(tensor.status(), wanted.name);
    if (method.set_input(i, (*tensor)->value().toTensor()) != runtime::Error::Ok) {
      return absl::InvalidArgumentError(absl::StrCat(wanted.name, " is not taken"));
    }
    inputs.tensors_.push_back(*std::move(tensor));
  }
  return inputs;
}

std::vector<runtime::EValue> outputs_of(CompiledMethod& method) {
  std::vector<runtime::EValue> outputs;
  for (size_t i = 0; i < method.num_outputs(); ++i) {
    outputs.emplace_back(method.get_output(i).get());
  }
  return outputs;
}

}  // namespace petrel::extension
