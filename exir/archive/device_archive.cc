// SPDX-License-Identifier: Apache-2.0
#include "exir/archive/device_archive.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "exir/archive/ecosystem_texts.h"
#include "exir/archive/zip_bytes.h"
#include "exir/ir/blob.h"
#include "exir/ir/scalar_type.h"
#include "exir/json/json_text.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Json = nlohmann::ordered_json;
using Files = std::map<std::string, std::string>;

// Of runtime/micro/model/petrel_model.h; a test compares with what a compiled package says.
constexpr uint32_t kMagic = 0x4c44504d;
constexpr int kAbiVersion = 5;

constexpr char kMain[] = R"(/* A main program to start from: runs the self-test of the model. */
#include "@NAME@.h"

int32_t @NAME@_selftest(struct @NAME@_context *context);

static struct @NAME@_context context;
@MEMORY@
int main(void) {
@POOLS@  if (@NAME@_init(&context, &pools) != @CAPITALS@_OK) return 1;
  return @NAME@_selftest(&context) == @CAPITALS@_OK ? 0 : 2;
}
)";

constexpr char kSketch[] = R"(// Runs the self-test of the model, and says how it went.
#include <@NAME@.h>

extern "C" int32_t @NAME@_selftest(struct @NAME@_context *context);

static struct @NAME@_context context;
@MEMORY@
void setup() {
  Serial.begin(115200);
@POOLS@  bool good = @NAME@_init(&context, &pools) == @CAPITALS@_OK;
  good = good && @NAME@_selftest(&context) == @CAPITALS@_OK;
  Serial.println(good ? "@NAME@: self-test passed" : "@NAME@: self-test FAILED");
}

void loop() {}
)";

// In the numbering of enum petrel_dtype.
int dtype_of(const Json& row) {
  const auto type = parse_scalar_type(row["dtype"].get<std::string>());
  return static_cast<int>(type.value_or(ScalarType::kByte));
}

// What levels stand for; 0 where there are none.
void add_levels(const Json& from, Json* row) {
  (*row)["scale"] = from.contains("scale") ? from["scale"] : Json(0.0);
  (*row)["zero_point"] = from.contains("zero_point") ? from["zero_point"] : Json(0);
}

Json tensor_metadata(const Json& tensor) {
  Json row = {{"name", tensor["name"]},    {"c_name", tensor["c_name"]},
              {"dtype", dtype_of(tensor)}, {"rank", tensor["shape"].size()},
              {"sizes", tensor["shape"]},  {"dim_order", tensor["dim_order"]},
              {"bytes", tensor["bytes"]}};
  if (tensor.contains("least_shape")) row["least_sizes"] = tensor["least_shape"];
  add_levels(tensor, &row);
  return row;
}

// The number of enum petrel_param_kind.
int kind_of(const std::string& kind) {
  constexpr const char* kKinds[] = {"linked", "pooled", "loaded", "external", "delegate"};
  return static_cast<int>(std::find(std::begin(kKinds), std::end(kKinds), kind) -
                          std::begin(kKinds));
}

Json params_metadata(const Json& parameters) {
  std::map<std::string, size_t> index;
  for (const Json& one : parameters) index.emplace(one["name"].get<std::string>(), index.size());
  Json rows = Json::array();
  for (const Json& one : parameters) {
    Json row = {{"name", one["name"]},
                {"id", one["id"]},
                {"kind", kind_of(one["kind"].get<std::string>())},
                {"dtype", dtype_of(one)},
                {"rank", one["shape"].size()},
                {"sizes", one["shape"]},
                {"bytes", one["bytes"]},
                {"sha256", one["sha256"]},
                {"pool", one["pool"]},
                {"targets", absl::StrJoin(one["targets"].get<std::vector<std::string>>(), ",")}};
    add_levels(one, &row);
    const bool has_scales = one.contains("scales");
    row["scales"] = has_scales ? Json(index[one["scales"].get<std::string>()]) : Json(-1);
    row["axis"] = has_scales ? one["axis"] : Json(0);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string metadata_json(const Json& manifest) {
  Json methods = Json::array(), pools = Json::array();
  for (const Json& method : manifest["methods"]) {
    Json row = {{"name", method["name"]}};
    for (const char* list : {"inputs", "outputs"}) {
      row[list] = Json::array();
      for (const Json& tensor : method[list]) row[list].push_back(tensor_metadata(tensor));
    }
    row["arena_bytes"] = method["arena_bytes"];
    row["io_bytes"] = method["io_bytes"];
    row["steps"] = method["step_infos"];
    methods.push_back(std::move(row));
  }
  for (const Json& memory : manifest["memories"]) {
    pools.push_back({{"name", memory["name"]},
                     {"bytes", memory["bytes"]},
                     {"align", memory["align"]},
                     {"is_kept", memory["is_kept"].get<bool>() ? 1 : 0}});
  }
  const Json json = {{"magic", kMagic},
                     {"abi_version", kAbiVersion},
                     {"name", manifest["name"]},
                     {"sha256", manifest["sha256"]},
                     {"methods", methods},
                     {"pools", pools},
                     {"constant_bytes", manifest["constant_bytes"]},
                     {"params", params_metadata(manifest["parameters"])},
                     {"devices", manifest["devices"]}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string number(const Json& json) { return json.dump(); }

// Nodes that run together for fewer bytes, and what that costs.
std::string blocks_text(const Json& manifest) {
  std::string text;
  for (const Json& method : manifest["methods"]) {
    for (const Json& block : method["blocks"]) {
      std::vector<std::string> nodes;
      for (const Json& node : block["nodes"]) nodes.push_back(node.get<std::string>());
      absl::StrAppend(&text, "| ", method["name"].get<std::string>(), " | ",
                      absl::StrJoin(nodes, ", "), " | ", number(block["ring_bytes"]), " | ",
                      block["more_instructions"].is_null() ? "not measured"
                                                           : number(block["more_instructions"]),
                      " |\n");
    }
  }
  if (text.empty()) return text;
  return absl::StrCat(
      "\n| method | run together, row by row | bytes of rows | instructions more than one by "
      "one |\n|---|---|---|---|\n",
      text);
}

std::string memory_summary(const std::string& name, const Json& manifest) {
  std::string text =
      absl::StrCat("# Memory of ", name,
                   "\n\n| memory | bytes | aligned to | kept between calls |\n|---|---|---|---|\n");
  for (const Json& memory : manifest["memories"]) {
    absl::StrAppend(&text, "| ", memory["name"].get<std::string>(), " | ", number(memory["bytes"]),
                    " | ", number(memory["align"]), " | ",
                    memory["is_kept"].get<bool>() ? "yes" : "no", " |\n");
  }
  absl::StrAppend(&text, "\nConstants have ", number(manifest["constant_bytes"]),
                  " bytes.\n\n| method | bytes | no plan has fewer | inputs and outputs "
                  "|\n|---|---|---|---|\n");
  for (const Json& method : manifest["methods"]) {
    absl::StrAppend(&text, "| ", method["name"].get<std::string>(), " | ",
                    number(method["arena_bytes"]), " | ", number(method["lower_bound_bytes"]),
                    " | ", number(method["io_bytes"]), " |\n");
  }
  absl::StrAppend(&text, blocks_text(manifest));
  return text;
}

// The memory of the model in a program, and how `pools` gets it.
std::pair<std::string, std::string> memory_code(const std::string& name, const Json& manifest,
                                                bool has_pools) {
  if (has_pools) {
    return {"",
            absl::StrCat("  const struct ", name, "_pools pools = ", name, "_static_pools();\n")};
  }
  std::string arrays, fill = absl::StrCat("  struct ", name, "_pools pools;\n");
  for (const Json& memory : manifest["memories"]) {
    const auto member = memory["name"].get<std::string>();
    absl::StrAppend(&arrays, "static unsigned char ", member, "_memory[", number(memory["bytes"]),
                    " + 1] __attribute__((aligned(", number(memory["align"]), ")));\n");
    absl::StrAppend(&fill, "  pools.", member, " = ", member, "_memory;\n  pools.", member,
                    "_bytes = ", number(memory["bytes"]), ";\n");
  }
  return {arrays, fill};
}

bool is_external(const Json& manifest) {
  for (const Json& parameter : manifest["parameters"]) {
    if (parameter["kind"] == "external") return true;
  }
  return false;
}

std::string manifest_json(const std::string& name, const Json& generated, const Files& files,
                          const std::string& version) {
  Json rows = Json::array();
  for (const auto& [path, bytes] : files) {
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    rows.push_back({{"path", path},
                    {"bytes", bytes.size()},
                    {"sha256", to_hex(sha256_of({data, bytes.size()}))}});
  }
  const Json json = {{"format", 1},
                     {"name", name},
                     {"petrel", version},
                     {"abi_version", kAbiVersion},
                     {"model_sha256", generated["sha256"]},
                     {"files", rows}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Packed packed_of(const std::string& name, const Files& files, const Json& manifest,
                 const std::string& version) {
  Packed packed;
  packed.name = name;
  packed.version = absl::StrCat(version, "+", manifest["sha256"].get<std::string>().substr(0, 8));
  packed.fast_math = manifest["math"] == "fast";
  packed.has_selftest = !is_external(manifest);
  for (const auto& [path, text] : files) {
    const bool is_source = absl::EndsWith(path, ".c") || absl::EndsWith(path, ".S");
    if (is_source) packed.sources.push_back(path);
    if (absl::EndsWith(path, ".h")) packed.headers.push_back(path);
  }
  return packed;
}

}  // namespace

absl::StatusOr<std::string> device_archive(const std::string& name, const Files& files,
                                           const std::string& version) {
  const auto found = files.find("manifest.json");
  if (found == files.end()) return absl::InternalError("a package has no manifest.json");
  PETREL_ASSIGN_OR_RETURN(const Json manifest, parse_json(found->second));
  const Packed packed = packed_of(name, files, manifest, version);
  Files all = ecosystem_texts(packed);
  for (const auto& [path, bytes] : files) all["src/" + path] = bytes;
  all["metadata.json"] = metadata_json(manifest);
  all["MEMORY.md"] = memory_summary(name, manifest);
  if (packed.has_selftest) {
    const auto [arrays, fill] = memory_code(name, manifest, files.count(name + "_memory.c") > 0);
    for (const auto& [path, text] :
         {std::make_pair(std::string("templates/main.c"), kMain),
          std::make_pair(absl::StrCat("examples/", name, "/", name, ".ino"), kSketch)}) {
      all[path] = absl::StrReplaceAll(text, {{"@NAME@", name},
                                             {"@CAPITALS@", absl::AsciiStrToUpper(name)},
                                             {"@MEMORY@", arrays},
                                             {"@POOLS@", fill}});
    }
  }
  all["manifest.json"] = manifest_json(name, manifest, all, version);
  return zip_bytes(all);
}

}  // namespace petrel::exir
