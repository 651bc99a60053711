// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/call_outputs.h"

#include <cstdio>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/ir/blob.h"
#include "exir/output/output_files.h"
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

std::string path_of(const OutputPlace& place, size_t i) {
  return absl::StrCat(place.folder, "/", place.prefix, "output_", i, ".npy");
}

absl::Status check_read(const OutputPlace& place, size_t num_outputs) {
  if (place.folder.empty()) return absl::OkStatus();
  std::vector<std::string> files = place.read;
  for (const std::string& word : place.read) {
    const size_t equals = word.find('=');
    if (equals != std::string::npos) files.push_back(word.substr(equals + 1));
  }
  for (size_t i = 0; i < num_outputs; ++i) {
    for (const std::string& file : files) {
      PETREL_RETURN_IF_ERROR(exir::check_is_not(path_of(place, i), "a file that is read", file));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status show_outputs(const std::vector<EValue>& outputs, const OutputPlace& place,
                          uint64_t max_bytes, const OutputLevels& levels) {
  PETREL_RETURN_IF_ERROR(check_read(place, outputs.size()));
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
      std::printf("%soutput_%zu: %s\n", place.prefix.c_str(), i, describe(*array).c_str());
    } else {
      array = number_array(outputs[i]);
      std::printf("%soutput_%zu: %s\n", place.prefix.c_str(), i, describe(outputs[i]).c_str());
    }
    if (place.folder.empty() || !array) continue;
    PETREL_RETURN_IF_ERROR(write_npy(path_of(place, i), *array));
  }
  return absl::OkStatus();
}

}  // namespace petrel::extension
