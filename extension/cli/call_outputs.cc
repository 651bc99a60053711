// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/call_outputs.h"

#include <cstdio>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/ir/blob.h"
#include "exir/status_macros.h"
#include "extension/levels/level_arrays.h"
#include "extension/module/error_text.h"
#include "extension/npy/tensor_array.h"
#include "runtime/core/budget.h"

namespace petrel::extension {

using runtime::EValue;

namespace {

std::string describe(const EValue& value) {
  if (value.isNone()) return "none";
  if (value.isInt()) return absl::StrCat("int ", value.toInt());
  if (value.isDouble()) return absl::StrCat("double ", value.toDouble());
  if (value.isBool()) return absl::StrCat("bool ", value.toBool() ? "true" : "false");
  if (value.isString()) {
    const std::string_view text = value.toString();
    return absl::StrCat("string ", printable(text));
  }
  return "a list";
}

template <typename T>
NpyArray array_of(runtime::ScalarType type, T number) {
  NpyArray array;
  array.type = type;
  array.data.resize(sizeof(number));
  std::memcpy(array.data.data(), &number, sizeof(number));
  return array;
}

// A number as an array of no dims; nullopt for what is not one.
std::optional<NpyArray> number_array(const EValue& value) {
  if (value.isInt()) return array_of(runtime::ScalarType::Long, value.toInt());
  if (value.isDouble()) return array_of(runtime::ScalarType::Double, value.toDouble());
  if (value.isBool()) return array_of(runtime::ScalarType::Bool, value.toBool());
  return std::nullopt;
}

std::string describe(const NpyArray& array) {
  return absl::StrCat(runtime::to_string(array.type), " [", absl::StrJoin(array.shape, ","),
                      "] sha256 ", exir::to_hex(exir::sha256_of(array.data)).substr(0, 16));
}

}  // namespace

absl::Status show_outputs(const std::vector<EValue>& outputs, const std::string& folder,
                          const std::string& prefix, uint64_t max_bytes,
                          const OutputLevels& levels) {
  runtime::Budget budget("max_input_bytes", max_bytes);
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::optional<NpyArray> array;
    if (outputs[i].isTensor()) {
      if (!budget.spend(outputs[i].toTensor().nbytes())) {
        return absl::ResourceExhaustedError(
            absl::StrCat("output ", i, " has ", outputs[i].toTensor().nbytes(), " bytes, of ",
                         max_bytes, " of max_input_bytes are left ", budget.left()));
      }
      array = to_npy(outputs[i].toTensor());
      if (i < levels.size() && levels[i]) array = in_numbers(*array, *levels[i]);
      std::printf("%soutput_%zu: %s\n", prefix.c_str(), i, describe(*array).c_str());
    } else {
      array = number_array(outputs[i]);
      std::printf("%soutput_%zu: %s\n", prefix.c_str(), i, describe(outputs[i]).c_str());
    }
    if (folder.empty() || !array) continue;
    const std::string path = absl::StrCat(folder, "/", prefix, "output_", i, ".npy");
    PETREL_RETURN_IF_ERROR(write_npy(path, *array));
  }
  return absl::OkStatus();
}

}  // namespace petrel::extension
