// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/group.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/names.h"
#include "exir/emit_c/text_files.h"
#include "exir/json/json_text.h"
#include "exir/status_macros.h"

namespace petrel::exir::emit_c {
namespace {

using Json = nlohmann::json;

// Of a part of a manifest in a message.
constexpr size_t kMostShown = 80;

// State among activations is gone when another model has run.
absl::Status check_state(const std::string& name, bool has_state, bool has_state_pool) {
  if (!has_state || has_state_pool) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("model '", name, "' keeps state where others of its group would write: give it ",
                   "--pool name=", kStatePool));
}

// Names of a method of one package are those of another one, as of 'big' of 'kws' and 'kws_big'.
absl::Status check_prefixes(const std::vector<CSharer>& all) {
  std::map<std::string, std::string> owners;
  for (const CSharer& one : all) {
    std::set<std::string> begins = one.prefixes;
    begins.insert(one.name);
    for (const std::string& begin : begins) {
      const auto [there, fresh] = owners.emplace(in_capitals(begin), one.name);
      if (fresh) continue;
      return absl::InvalidArgumentError(
          there->second == one.name
              ? absl::StrCat("two models of the group are called '", one.name, "'")
              : absl::StrCat("names of models '", there->second, "' and '", one.name,
                             "' of the group would both begin with ", begin,
                             "_: call one of them, or a method, otherwise"));
    }
  }
  return absl::OkStatus();
}

absl::Status check_pools(const CSharer& sharer) {
  if (!sharer.pools.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("model '", sharer.name, "' has no pools to share; generate it with --pool"));
}

// Of models that are alive together, each in its own part.
std::string struct_text(const Package& package, const std::string& pool,
                        const std::vector<std::string>& models) {
  const std::string type = absl::StrCat("struct ", package.name, "_group_", pool);
  std::string members;
  for (const std::string& model : models) {
    absl::StrAppend(&members, "  struct ", model, "_pool_", pool, " ", model, ";\n");
  }
  return absl::StrCat("/* Pool '", pool, "'. */\n", type, " {\n", members, "};\n#define ",
                      package.capitals, "_GROUP_", in_capitals(pool), "_BYTES sizeof(", type,
                      ")\n\n");
}

std::string pool_text(const Package& package, const std::string& pool,
                      const std::vector<std::string>& models) {
  const std::string macro = absl::StrCat(package.capitals, "_GROUP_", in_capitals(pool), "_BYTES");
  std::string sizes, members;
  for (const std::string& model : models) {
    const std::string bytes = in_capitals(absl::StrCat(model, "_pool_", pool, "_bytes"));
    if (sizes.empty()) {
      absl::StrAppend(&sizes, "#define ", macro, " ", bytes, "\n");
    } else {
      absl::StrAppend(&sizes, "#if ", bytes, " > ", macro, "\n#undef ", macro, "\n#define ", macro,
                      " ", bytes, "\n#endif\n");
    }
    absl::StrAppend(&members, "  struct ", model, "_pool_", pool, " ", model, ";\n");
  }
  return absl::StrCat("/* Pool '", pool, "'. */\n", sizes, "union ", package.name, "_group_", pool,
                      " {\n", members, "};\n\n");
}

}  // namespace

absl::StatusOr<CSharer> read_sharer(const std::string& manifest, bool together) {
  const auto wrong = [](const auto&... words) {
    return absl::InvalidArgumentError(absl::StrCat(words...));
  };
  PETREL_ASSIGN_OR_RETURN(const Json json, parse_unique_json(manifest));
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string() ||
      !json.contains("pools") || !json["pools"].is_array() || !json.contains("state") ||
      !json["state"].is_array()) {
    return wrong("is not the manifest.json of a package with pools");
  }
  CSharer sharer;
  sharer.name = json["name"].get<std::string>();
  PETREL_RETURN_IF_ERROR(check_package_name(sharer.name));
  for (const Json& row : json.value("methods", Json::array())) {
    if (!row.is_object() || !row.value("prefix", Json()).is_string()) continue;
    sharer.prefixes.insert(row["prefix"].get<std::string>());
  }
  bool has_state_pool = false;
  for (const Json& row : json["pools"]) {
    plan::MemoryPool pool;
    const bool is_pool = row.is_object() && row.value("name", Json()).is_string() &&
                         row.value("kind", Json()).is_string() &&
                         row.value("bytes", Json()).is_number_unsigned();
    if (!is_pool) {
      return wrong("pool ", row.dump().substr(0, kMostShown), " has no name, kind and bytes");
    }
    pool.name = row["name"].get<std::string>();
    PETREL_RETURN_IF_ERROR(check_pool_names({pool}));
    if (row["kind"] != "rw") continue;
    if (row.value("keeps_parameters", Json(false)) == true) continue;
    if (row.value("keeps_state", Json(false)) == true) {
      has_state_pool = true;
    } else if (row["bytes"].get<uint64_t>() > 0) {
      sharer.pools.insert(pool.name);
    }
  }
  if (!together) {
    PETREL_RETURN_IF_ERROR(check_state(sharer.name, !json["state"].empty(), has_state_pool));
  }
  PETREL_RETURN_IF_ERROR(check_pools(sharer));
  return sharer;
}

absl::StatusOr<std::string> group_text(const Package& package) {
  CSharer self;
  self.name = package.name;
  for (const CMethod& method : package.methods) self.prefixes.insert(method.prefix);
  bool has_state_pool = false;
  for (const CMemory& memory : package.memories) {
    if (memory.keeps_state) {
      has_state_pool = true;
    } else if (memory.pool.has_value() && memory.is_arena()) {
      self.pools.insert(memory.member);
    }
  }
  const bool together = package.pools->group_together;
  if (!together) {
    PETREL_RETURN_IF_ERROR(check_state(self.name, !package.states.empty(), has_state_pool));
  }
  PETREL_RETURN_IF_ERROR(check_pools(self));
  std::vector<CSharer> all = {self};
  all.insert(all.end(), package.pools->group.begin(), package.pools->group.end());
  std::map<std::string, std::vector<std::string>> models;  // by pool
  PETREL_RETURN_IF_ERROR(check_prefixes(all));
  std::string includes;
  for (const CSharer& one : all) {
    absl::StrAppend(&includes, "#include \"", one.name, ".h\"\n");
    for (const std::string& pool : one.pools) models[pool].push_back(one.name);
  }
  std::string pools;
  for (const auto& [pool, users] : models) {
    pools += together ? struct_text(package, pool, users) : pool_text(package, pool, users);
  }
  const std::string guard = package.capitals + "_GROUP_H";
  return absl::StrCat(
      "/* Generated by petrel gen-c; do not edit.\n *\n * ",
      together ? "Memory of models that are alive together: of each pool a part for each, one "
                 "behind the\n * other.\n"
               : "Memory of models that never run at the same time: each pool as large and as "
                 "aligned as\n * the one asks that needs most.\n",
      " */\n#ifndef ", guard, "\n#define ", guard, "\n\n", includes, "\n", pools, "#endif /* ",
      guard, " */\n");
}

}  // namespace petrel::exir::emit_c
