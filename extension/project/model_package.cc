// SPDX-License-Identifier: Apache-2.0
#include "extension/project/model_package.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/board/fields.h"
#include "exir/input/file_content.h"
#include "exir/ir/scalar_type.h"
#include "exir/json/json_text.h"
#include "exir/status_macros.h"

namespace petrel::extension {
namespace {

using exir::Fields;
namespace fs = std::filesystem;

constexpr uint64_t kMaxManifest = uint64_t{64} << 20;
constexpr int64_t kMaxBytes = int64_t{1} << 40;
constexpr size_t kMaxTensors = 64;
constexpr int64_t kIoGap = 15;  // at most, before each input and output
constexpr size_t kMaxRank = 16;

bool is_c_file(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  });
}

// The whole numbers of a list.
template <typename T>
std::vector<T> numbers_of(const Fields::Json& row, const char* key, int64_t most) {
  std::vector<T> numbers;
  if (!row.contains(key) || !row[key].is_array() || row[key].size() > kMaxRank) return {};
  for (const Fields::Json& one : row[key]) {
    const bool fits =
        one.is_number_unsigned() && one.get<uint64_t>() <= static_cast<uint64_t>(most);
    if (!fits) return {};
    numbers.push_back(one.get<T>());
  }
  return numbers;
}

PackageTensor read_tensor(Fields& fields, const Fields::Json& row) {
  PackageTensor tensor;
  tensor.name = fields.text_or("name", "");
  tensor.c_name = fields.text_or("c_name", "");
  const std::string dtype = fields.text("dtype");
  const auto type = exir::parse_scalar_type(dtype);
  if (!type) fields.note("dtype", absl::StrCat("is '", dtype, "', which is no type of elements"));
  tensor.type = static_cast<runtime::ScalarType>(type.value_or(exir::ScalarType::kFloat));
  tensor.bytes = fields.bytes("bytes", 0, kMaxBytes);
  tensor.varies = fields.has("least_shape");
  if (!row.is_object()) return tensor;
  tensor.sizes = numbers_of<int32_t>(row, "shape", INT32_MAX);
  tensor.dim_order = numbers_of<uint8_t>(row, "dim_order", kMaxRank);
  std::set<uint8_t> dims(tensor.dim_order.begin(), tensor.dim_order.end());
  const size_t rank = row.contains("shape") ? row["shape"].size() : 0;
  if (tensor.sizes.size() != rank || dims.size() != rank || (rank > 0 && *dims.rbegin() >= rank)) {
    fields.note("shape", "and dim_order are no sizes and the order of their dims");
  }
  if (row.contains("scale") && row["scale"].is_number()) tensor.scale = row["scale"].get<double>();
  if (fields.has("zero_point")) {
    tensor.zero_point = static_cast<int32_t>(fields.number("zero_point", INT32_MIN, INT32_MAX));
  }
  return tensor;
}

std::vector<PackageTensor> read_tensors(Fields& method, const Fields::Json& json, const char* key) {
  std::vector<PackageTensor> tensors;
  std::vector<Fields> rows = method.list(key);
  if (rows.size() > kMaxTensors) {
    method.note(key, absl::StrCat("are ", rows.size(), ", must be at most ", kMaxTensors));
    return tensors;
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    tensors.push_back(read_tensor(rows[i], json[key][i]));
    method.note(rows[i].problem());
  }
  return tensors;
}

// Of a method as it is written; rows of user's kernels have no variants.
std::vector<PackageKernel> read_kernels(const Fields::Json& method, Fields* of) {
  std::vector<PackageKernel> kernels;
  if (!method.contains("kernels") || !method["kernels"].is_array()) return kernels;
  for (size_t i = 0; i < method["kernels"].size(); ++i) {
    const Fields::Json& json = method["kernels"][i];
    Fields row(json, absl::StrCat("kernels[", i, "]"));
    if (json.is_object() && !json.contains("variants")) continue;
    kernels.push_back(
        {row.text("node"), row.text("step"), row.text("product"), row.texts("variants")});
    of->note(row.problem());
  }
  return kernels;
}

void read_methods(Fields& fields, const Fields::Json& json, ModelPackage* package) {
  std::vector<Fields> rows = fields.list("methods");
  for (size_t i = 0; i < rows.size(); ++i) {
    PackageMethod method;
    method.name = rows[i].text("name");
    method.io_bytes = rows[i].bytes("io_bytes", 0, kMaxBytes);
    if (json["methods"][i].is_object()) {
      method.inputs = read_tensors(rows[i], json["methods"][i], "inputs");
      method.outputs = read_tensors(rows[i], json["methods"][i], "outputs");
      method.kernels = read_kernels(json["methods"][i], &rows[i]);
    }
    fields.note(rows[i].problem());
    package->methods.push_back(std::move(method));
  }
  if (rows.empty()) fields.note("methods", "is missing or empty");
}

void read_memories(Fields& fields, ModelPackage* package) {
  std::map<std::string, std::string> pools;  // with their sections
  for (Fields& row : fields.list("pools")) {
    const std::string name = row.text_or("name", ""), section = row.text_or("section", "");
    if (row.text_or("kind", "") == "rw") {
      pools.emplace(name, section);
    } else {
      package->constant_pools.emplace_back();
      package->constant_pools.back().name = name;
      package->constant_pools.back().section = section;
    }
  }
  for (Fields& row : fields.list("memories")) {
    PackageMemory memory;
    memory.name = row.text("name");
    memory.bytes = row.bytes("bytes", 0, kMaxBytes);
    memory.align = row.bytes("align", 1, 1 << 20);
    const auto pool = pools.find(memory.name);
    memory.is_pool = pool != pools.end();
    if (memory.is_pool) memory.section = pool->second;
    if (!is_c_file(memory.name)) row.note("name", "is no name of C");
    fields.note(row.problem());
    package->memories.push_back(std::move(memory));
  }
}

// A parameter that lies in a pool of constants.
void note_pooled(const Fields::Json& row, ModelPackage* package) {
  if (!row.is_object()) return;
  const Fields::Json name = row.value("pool", Fields::Json());
  const Fields::Json bytes = row.value("bytes", Fields::Json());
  if (!name.is_string() || !bytes.is_number_unsigned()) return;
  for (PackageMemory& pool : package->constant_pools) {
    if (pool.name != name.get<std::string>()) continue;
    pool.bytes += static_cast<int64_t>(std::min<uint64_t>(bytes.get<uint64_t>(), kMaxBytes));
  }
}

absl::StatusOr<ModelPackage> package_of(const Fields::Json& json) {
  ModelPackage package;
  Fields fields(json, "");
  PETREL_RETURN_IF_ERROR(fields.problem());
  fields.number("format", 1, 1);
  package.name = fields.text("name");
  package.sha256 = fields.text("sha256");
  package.constant_bytes = fields.bytes("constant_bytes", 0, kMaxBytes);
  package.caller_io = fields.text_or("io", "") == "caller";
  package.sources = fields.texts("sources");
  read_memories(fields, &package);
  read_methods(fields, json, &package);
  PETREL_RETURN_IF_ERROR(fields.problem());
  for (const char* key : {"archives", "kernel_flags"}) {
    if (!json.contains(key) || json[key].empty()) continue;
    fields.note(key, "are not for projects: give --kernel-source files of C or assembly alone");
  }
  if (!is_c_file(package.name)) fields.note("name", "is no name of C");
  for (const std::string& source : package.sources) {
    if (!is_c_file(source)) fields.note("sources", absl::StrCat("hold '", source, "'"));
    package.has_pools = package.has_pools || source == package.name + "_memory.c";
  }
  if (json.contains("parameters") && json["parameters"].is_array()) {
    for (const Fields::Json& row : json["parameters"]) {
      package.has_external = package.has_external ||
                             (row.is_object() && row.value("kind", Fields::Json()) == "external");
      note_pooled(row, &package);
    }
  }
  if (json.contains("delegates") && json["delegates"].is_array()) {
    for (const Fields::Json& row : json["delegates"]) {
      package.has_devices =
          package.has_devices || (row.is_object() && row.value("device", Fields::Json("")) != "");
    }
  }
  PETREL_RETURN_IF_ERROR(fields.problem());
  return package;
}

}  // namespace

int64_t ModelPackage::io_bytes() const {
  if (!caller_io) return 0;
  int64_t bytes = 1;
  for (const PackageMethod& method : methods) {
    const auto count = static_cast<int64_t>(method.inputs.size() + method.outputs.size());
    bytes = std::max(bytes, method.io_bytes + kIoGap * count);
  }
  return bytes;
}

int64_t ModelPackage::memory_bytes() const {
  int64_t bytes = io_bytes();
  for (const PackageMemory& memory : memories) bytes += memory.bytes;
  return bytes;
}

absl::StatusOr<ModelPackage> ModelPackage::read(const std::string& folder) {
  const std::string path = fs::path(folder) / "manifest.json";
  const auto text = exir::read_file_content(path, kMaxManifest);
  if (absl::IsNotFound(text.status())) {
    return absl::NotFoundError(absl::StrCat("'", folder,
                                            "' has no manifest.json; it must be a folder "
                                            "that `petrel gen-c` wrote"));
  }
  if (!text.ok()) return exir::annotate(text.status(), path);
  const auto json = exir::parse_json(*text);
  if (!json.ok()) return exir::annotate(json.status(), path);
  auto package = package_of(*json);
  if (!package.ok()) return exir::annotate(package.status(), path);
  std::error_code ignored;
  package->has_plan = fs::exists(fs::path(folder) / (package->name + "_plan.c"), ignored);
  return package;
}

}  // namespace petrel::extension
