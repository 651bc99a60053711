// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/run_watched.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/status_macros.h"
#include "extension/npy/tensor_array.h"

namespace petrel::extension {
namespace {

absl::Status check_fits(const NpyArray& array, const runtime::TensorInfo& info) {
  std::vector<int64_t> sizes(info.sizes().begin(), info.sizes().end());
  bool fits = array.type == info.scalar_type() && array.shape.size() == sizes.size();
  for (size_t d = 0; fits && d < sizes.size(); ++d) {
    fits = array.shape[d] >= 0 && array.shape[d] <= sizes[d];
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("is ", runtime::to_string(array.type), "[", absl::StrJoin(array.shape, ","),
                   "], the method takes ", runtime::to_string(info.scalar_type()), "[",
                   absl::StrJoin(sizes, ","), "]"));
}

}  // namespace

absl::StatusOr<ValueTrace> run_watched(WatchedProgram& program, const std::string& method,
                                       std::map<std::string, NpyArray> arrays) {
  Module& module = program.module();
  const auto meta = module.method_meta(method);
  const runtime::Error loaded = meta.ok() ? module.load_method(method) : meta.error();
  if (loaded != runtime::Error::Ok) {
    return absl::InvalidArgumentError(
        absl::StrCat("method '", method, "' cannot be loaded: ", runtime::to_string(loaded)));
  }
  std::vector<std::shared_ptr<ArrayTensor>> tensors;
  std::vector<runtime::EValue> values;
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto info = meta->input_tensor_meta(i);
    if (!info.ok()) {
      values.push_back(module.get_input(method, i));
      continue;
    }
    const std::string name(info->name());
    auto array = arrays.find(name);
    if (array == arrays.end()) array = arrays.find(absl::StrCat(tensors.size()));
    if (array == arrays.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", tensors.size(), " '", name, "' is missing"));
    }
    const std::string subject = absl::StrCat("input '", array->first, "'");
    const absl::Status fits = check_fits(array->second, *info);
    if (!fits.ok()) return exir::annotate(fits, subject);
    auto tensor = ArrayTensor::make(array->second, info->dim_order());
    if (!tensor.ok()) return exir::annotate(tensor.status(), subject);
    values.push_back((*tensor)->value());
    tensors.push_back(*std::move(tensor));
    arrays.erase(array);
  }
  if (!arrays.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no input '", arrays.begin()->first, "'"));
  }
  return program.run(method, values);
}

}  // namespace petrel::extension
