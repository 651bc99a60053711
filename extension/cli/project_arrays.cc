// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/project_arrays.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/input/file_content.h"
#include "exir/output/output_files.h"
#include "exir/status_macros.h"
#include "extension/cli/call_outputs.h"
#include "extension/cli/input_array.h"
#include "extension/cli/input_words.h"
#include "extension/levels/level_arrays.h"
#include "extension/npy/tensor_array.h"
#include "runtime/core/budget.h"

namespace petrel::extension {
namespace {

namespace fs = std::filesystem;
using runtime::ScalarType;
using runtime::Span;

std::string file_of(const std::string& folder, const char* role, size_t i, const char* ending) {
  return fs::path(folder) / absl::StrCat(role, i, ending);
}

absl::Status write_bytes(const std::string& path, const void* bytes, size_t size) {
  return exir::write_output_file(path,
                                 absl::MakeConstSpan(static_cast<const uint8_t*>(bytes), size));
}

std::optional<Levels> levels_of(const PackageTensor& tensor) {
  Levels levels;
  levels.type = tensor.type;
  levels.scale = tensor.scale;
  levels.zero_point = tensor.zero_point;
  levels.least = tensor.type == ScalarType::Byte   ? 0
                 : tensor.type == ScalarType::Char ? -128
                                                   : -32768;
  levels.most = tensor.type == ScalarType::Byte   ? 255
                : tensor.type == ScalarType::Char ? 127
                                                  : 32767;
  const bool is_level = tensor.type == ScalarType::Byte || tensor.type == ScalarType::Char ||
                        tensor.type == ScalarType::Short;
  if (is_level && tensor.scale > 0) return levels;
  return std::nullopt;
}

absl::Status check_shape(const NpyArray& array, const PackageTensor& tensor,
                         const WantedInput& wanted) {
  bool fits = array.shape.size() == tensor.sizes.size();
  for (size_t d = 0; fits && d < array.shape.size(); ++d) {
    fits = tensor.varies ? array.shape[d] <= tensor.sizes[d] : array.shape[d] == tensor.sizes[d];
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      wanted.name, " has shape [", absl::StrJoin(array.shape, ","), "], method '", wanted.method,
      "' takes ", tensor.varies ? "at most " : "", "[", absl::StrJoin(tensor.sizes, ","), "]"));
}

absl::Status write_input(const PackageMethod& method, size_t i, const std::string& source,
                         bool floats, runtime::Budget* budget, const std::string& folder) {
  const PackageTensor& tensor = method.inputs[i];
  const std::optional<Levels> levels = floats ? levels_of(tensor) : std::nullopt;
  WantedInput wanted;
  wanted.name = absl::StrCat("input ", i, " '", tensor.name, "'");
  wanted.method = method.name;
  wanted.type = levels ? ScalarType::Float : tensor.type;
  wanted.sizes = {tensor.sizes.data(), tensor.sizes.size()};
  wanted.nbytes = static_cast<size_t>(tensor.bytes) * (levels ? sizeof(float) : 1);
  PETREL_ASSIGN_OR_RETURN(NpyArray array, read_input(source, wanted, budget));
  if (levels) array = in_levels(array, *levels);
  PETREL_RETURN_IF_ERROR(check_shape(array, tensor, wanted));
  const auto made = ArrayTensor::make(
      array, Span<const uint8_t>(tensor.dim_order.data(), tensor.dim_order.size()));
  if (!made.ok()) return exir::annotate(made.status(), wanted.name);
  const runtime::Tensor laid = (*made)->value().toTensor();
  PETREL_RETURN_IF_ERROR(
      write_bytes(file_of(folder, "input_", i, ".bin"), laid.const_data_ptr(), laid.nbytes()));
  if (!tensor.varies) return absl::OkStatus();
  const std::vector<int32_t> sizes(array.shape.begin(), array.shape.end());
  return write_bytes(file_of(folder, "input_", i, ".sizes"), sizes.data(),
                     sizes.size() * sizeof(int32_t));
}

// The sizes of an output of this call.
absl::StatusOr<std::vector<int32_t>> sizes_of(const PackageTensor& tensor, size_t i,
                                              const std::string& folder) {
  if (!tensor.varies) return tensor.sizes;
  const std::string path = file_of(folder, "output_", i, ".sizes");
  const auto bytes = exir::read_file_content(path, 1024);
  std::vector<int32_t> sizes(tensor.sizes.size());
  if (!bytes.ok() || bytes->size() != sizes.size() * sizeof(int32_t)) {
    return absl::InternalError(absl::StrCat("'", path, "' is not there, or no sizes"));
  }
  std::memcpy(sizes.data(), bytes->data(), bytes->size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || sizes[d] > tensor.sizes[d]) {
      return absl::InternalError(absl::StrCat("'", path, "' says ", sizes[d], " for dim ", d,
                                              ", must be in [0, ", tensor.sizes[d], "]"));
    }
  }
  return sizes;
}

// A tensor over the bytes of a file.
struct OutputTensor {
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  std::vector<int64_t> strides;
  std::vector<uint64_t> memory;
  runtime::TensorImpl impl;
};

absl::Status read_output(const PackageTensor& tensor, size_t i, const std::string& folder,
                         OutputTensor* out) {
  PETREL_ASSIGN_OR_RETURN(out->sizes, sizes_of(tensor, i, folder));
  out->dim_order = tensor.dim_order;
  out->strides.resize(out->sizes.size());
  const Span<const int32_t> sizes(out->sizes.data(), out->sizes.size());
  runtime::compute_strides(sizes, {out->dim_order.data(), out->dim_order.size()},
                           out->strides.data());
  out->impl =
      runtime::TensorImpl(tensor.type, static_cast<ssize_t>(out->sizes.size()), out->sizes.data(),
                          nullptr, out->dim_order.data(), out->strides.data());
  const std::string path = file_of(folder, "output_", i, ".bin");
  const auto bytes = exir::read_file_content(path, exir::kMaxContentBytes);
  if (!bytes.ok()) return exir::annotate(bytes.status(), path);
  if (bytes->size() != out->impl.nbytes()) {
    return absl::InternalError(
        absl::StrCat("'", path, "' has ", bytes->size(), " bytes, must have ", out->impl.nbytes()));
  }
  out->memory.resize(bytes->size() / sizeof(uint64_t) + 1);
  std::memcpy(out->memory.data(), bytes->data(), bytes->size());
  const size_t room = out->memory.size() * sizeof(uint64_t);
  if (out->impl.set_data(out->memory.data(), room) == runtime::Error::Ok) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("no tensor can be made of '", path, "'"));
}

}  // namespace

absl::Status write_inputs(const PackageMethod& method, const ArrayOptions& options,
                          const std::string& folder) {
  std::vector<std::string> names, c_names;
  for (const PackageTensor& tensor : method.inputs) {
    names.push_back(tensor.name);
    c_names.push_back(tensor.c_name);
  }
  PETREL_ASSIGN_OR_RETURN(const std::vector<std::string> sources,
                          assign_inputs(options.inputs, names, method.name, c_names));
  runtime::Budget budget("max_input_bytes", options.max_bytes);
  for (size_t i = 0; i < sources.size(); ++i) {
    PETREL_RETURN_IF_ERROR(write_input(method, i, sources[i], options.floats, &budget, folder));
  }
  return absl::OkStatus();
}

absl::Status show_board_outputs(const PackageMethod& method, const ArrayOptions& options,
                                const std::string& folder) {
  std::vector<std::unique_ptr<OutputTensor>> tensors;
  std::vector<runtime::EValue> outputs;
  OutputLevels levels;
  for (size_t i = 0; i < method.outputs.size(); ++i) {
    tensors.push_back(std::make_unique<OutputTensor>());
    PETREL_RETURN_IF_ERROR(read_output(method.outputs[i], i, folder, tensors.back().get()));
    outputs.emplace_back(runtime::Tensor(&tensors.back()->impl));
    levels.push_back(options.floats ? levels_of(method.outputs[i]) : std::nullopt);
  }
  if (!options.output_dir.empty()) {
    std::error_code failed;
    fs::create_directories(options.output_dir, failed);
    if (failed) {
      return absl::PermissionDeniedError(
          absl::StrCat("'", options.output_dir, "' cannot be made: ", failed.message()));
    }
  }
  return show_outputs(outputs, {options.output_dir, "", options.inputs}, options.max_bytes, levels);
}

}  // namespace petrel::extension
