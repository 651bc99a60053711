// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/describe.h"

#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exir/import/import.h"
#include "exir/ir/text.h"
#include "extension/relink/file_kind.h"
#include "extension/data_loader/file_data_loader.h"
#include "extension/flat_data/flat_data_map.h"
#include "extension/module/error_text.h"
#include "extension/named_data_map/safetensors_map.h"

namespace petrel::extension {

using nlohmann::ordered_json;
using runtime::Result;

DescribeResult describe_file(const std::string& path, const runtime::Limits& limits,
                             Detail detail) {
  const absl::StatusOr<FileKind> kind = file_kind(path);
  if (!kind.ok()) {
    DescribeResult result;
    result.status = kind.status();
    return result;
  }
  switch (*kind) {
    case FileKind::kProgram:
      return describe_program(path, limits, detail);
    case FileKind::kData:
      return describe_data(path);
    case FileKind::kArchive:
      return describe_archive(path);
    case FileKind::kTensors:
      return describe_tensors(path);
    case FileKind::kModule:
      return describe_module(path);
  }
  return {};
}

namespace {

template <typename Map>
DescribeResult describe_map(const std::string& path, const char* kind) {
  DescribeResult result;
  Result<FileDataLoader> loader = FileDataLoader::from(path.c_str());
  if (!loader.ok()) {
    result.error = loader.error();
    return result;
  }
  const Result<Map> map = Map::load(&*loader);
  if (!map.ok()) {
    result.error = map.error();
    return result;
  }
  result.json = {{"file", path}, {"kind", kind}, {"bytes", *loader->size()}};
  ordered_json entries = ordered_json::array();
  for (uint32_t i = 0; i < *map->get_num_keys(); ++i) {
    const char* key = *map->get_key(i);
    ordered_json entry = {{"key", key}, {"bytes", *map->num_bytes(key)}};
    const Result<const runtime::TensorLayout> layout = map->get_tensor_layout(key);
    if (layout.ok()) {
      const auto sizes = layout->sizes();
      const auto order = layout->dim_order();
      entry["layout"] = {{"dtype", runtime::to_string(layout->scalar_type())},
                         {"sizes", std::vector<int32_t>(sizes.begin(), sizes.end())},
                         {"dim_order", std::vector<int>(order.begin(), order.end())}};
    }
    entries.push_back(std::move(entry));
  }
  result.json["entries"] = std::move(entries);
  return result;
}

}  // namespace

DescribeResult describe_data(const std::string& path) {
  return describe_map<FlatDataMap>(path, "data");
}

DescribeResult describe_tensors(const std::string& path) {
  return describe_map<SafetensorsMap>(path, "tensors");
}

DescribeResult describe_archive(const std::string& path) {
  DescribeResult result;
  exir::ArchiveInfo info;
  const exir::SizeLimits limits = exir::SizeLimits::of_none();
  const auto method = exir::import_pt2(path, "forward", limits, &info);
  if (!method.ok()) {
    result.status = method.status();
    return result;
  }
  uint64_t weights = 0;
  ordered_json constants = ordered_json::array();
  for (const exir::Value* value : method->graph->constants()) {
    weights += value->constant()->data.size();
    constants.push_back(
        {{"fqn", value->constant()->fqn}, {"type", exir::to_string(value->constant()->type)}});
  }
  result.json = {{"file", path},
                 {"kind", "archive"},
                 {"torch_version", info.torch_version},
                 {"schema", absl::StrCat(info.schema_major, ".", info.schema_minor)},
                 {"dialect", info.dialect},
                 {"inputs", method->signature.input_names},
                 {"outputs", method->signature.output_names},
                 {"unbounded_sizes", limits.asked()},
                 {"weight_bytes", weights},
                 {"constants", std::move(constants)},
                 {"graph", exir::print_graph(*method->graph, limits.asked())}};
  return result;
}

namespace {

// Names of a file may hold anything.
std::string text_of(const ordered_json& value) {
  if (!value.is_string()) {
    return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }
  return printable(value.get_ref<const std::string&>());
}

template <typename... Parts>
void write(std::ostream& out, const Parts&... parts) {
  (out << ... << parts);
}

void print_program(const ordered_json& d, std::ostream& out) {
  write(out, "segments\n");
  for (const auto& segment : d["segments"]) {
    write(out, absl::StrFormat("  %-5s offset %-10s %s bytes\n", text_of(segment["index"]),
                               text_of(segment["offset"]), text_of(segment["bytes"])));
  }
  if (!d["named_data"].empty()) write(out, "named data\n");
  for (const auto& entry : d["named_data"]) {
    write(out, "  ", text_of(entry["key"]), "  segment ", text_of(entry["segment"]), ", ",
          text_of(entry["bytes"]), " bytes\n");
  }
  for (const auto& method : d["methods"]) {
    // What these tell stands with the method that they tell it of.
    if (method.contains("tells_levels")) continue;
    write(out, "method ", text_of(method["name"]), "\n");
    write(out, "  inputs   ", method["inputs"].dump(), "\n");
    write(out, "  outputs  ", method["outputs"].dump(), "\n");
    for (const auto& levels : method["levels"]) {
      write(out, absl::StrFormat("  %-8s %s  ", text_of(levels["kind"]), text_of(levels["index"])),
            text_of(levels["dtype"]), ", scale ", text_of(levels["scale"]), ", zero point ",
            text_of(levels["zero_point"]), "\n");
    }
    write(out, "  arenas   ", method["arenas"].dump(), " bytes\n");
    for (const auto& scratch : method["scratch"]) {
      write(out, "  scratch  ", text_of(scratch["bytes"]), " bytes at ", text_of(scratch["offset"]),
            " of arena ", text_of(scratch["arena"]), " for instruction ",
            text_of(scratch["instruction"]), "\n");
    }
    write(out, "  values\n");
    for (const auto& value : method["values"]) {
      write(out, "    ", text_of(value), "\n");
    }
    write(out, "  instructions\n");
    for (const auto& instruction : method["instructions"]) {
      write(out, "    ", text_of(instruction), "\n");
    }
    for (const auto& delegate : method["delegates"]) {
      write(out, "  delegate ", text_of(delegate["index"]), " ", text_of(delegate["id"]),
            ", payload ", text_of(delegate["payload_bytes"]), " bytes\n");
      for (const auto& line : delegate["graph"]) {
        write(out, "    ", text_of(line), "\n");
      }
    }
  }
}

void print_data(const ordered_json& d, std::ostream& out) {
  for (const auto& entry : d["entries"]) {
    write(out, "  ", text_of(entry["key"]), "  ", text_of(entry["bytes"]), " bytes");
    if (entry.contains("layout")) {
      write(out, "  ", text_of(entry["layout"]["dtype"]), entry["layout"]["sizes"].dump());
    }
    write(out, "\n");
  }
}

// Null when it is not there: a manifest may be any JSON.
const ordered_json& at(const ordered_json& object, const char* key) {
  static const ordered_json kNull;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? kNull : *found;
}

void print_rows(const char* role, const ordered_json& tensors, std::ostream& out) {
  for (const auto& tensor : tensors) {
    write(out, role, text_of(at(tensor, "name")), ": ", text_of(at(tensor, "dtype")),
          at(tensor, "shape").dump(), "\n");
  }
}

void print_module(const ordered_json& d, std::ostream& out) {
  for (const auto& memory : at(d, "memories")) {
    write(out, "memory ", text_of(at(memory, "name")), "  ", text_of(at(memory, "bytes")),
          " bytes aligned to ", text_of(at(memory, "align")),
          at(memory, "is_kept") == true ? ", kept between calls" : "", "\n");
  }
  for (const auto& method : at(d, "methods")) {
    write(out, "method ", text_of(at(method, "name")), "\n");
    print_rows("  input   ", at(method, "inputs"), out);
    print_rows("  output  ", at(method, "outputs"), out);
  }
  print_rows("parameter ", at(d, "parameters"), out);
  for (const auto& state : at(d, "state")) {
    write(out, "state ", text_of(at(state, "name")), "  ", text_of(at(state, "bytes")), " bytes\n");
  }
}

void print_archive(const ordered_json& d, std::ostream& out) {
  if (!d["unbounded_sizes"].empty()) {
    write(out, "without an upper bound (--max-size of an export says one):");
    for (const auto& name : d["unbounded_sizes"]) write(out, " ", text_of(name));
    write(out, "\n");
  }
  write(out, text_of(d["graph"]));
}

}  // namespace

void print_text(const ordered_json& description, std::ostream& out) {
  for (const auto& [key, value] : description.items()) {
    if (value.is_primitive() && key != "graph") {
      write(out, absl::StrFormat("%-14s %s\n", key, text_of(value)));
    }
  }
  const std::string kind = text_of(description["kind"]);
  if (kind == "program") print_program(description, out);
  if (kind == "data" || kind == "tensors") print_data(description, out);
  if (kind == "module") print_module(description, out);
  if (kind == "archive") print_archive(description, out);
}

}  // namespace petrel::extension
