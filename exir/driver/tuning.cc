// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/tuning.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/board/fields.h"
#include "exir/emit_c/kernel_options.h"
#include "exir/input/file_content.h"
#include "exir/ir/blob.h"
#include "exir/json/json_text.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxRecord = uint64_t{16} << 20;
constexpr char kDigest[] = "sha256";

std::string digest_of(const std::string& text) {
  return to_hex(sha256_of({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
}

// Without its digest.
std::string digest_of(Json json) {
  json.erase(kDigest);
  return digest_of(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string rules_text(const char* name, const std::vector<PoolRule>& rules) {
  std::string text;
  for (const PoolRule& rule : rules) {
    absl::StrAppend(&text, "; ", name, " ", rule.glob, "=", rule.pool);
  }
  return text;
}

TunedNode read_node(Fields& row, const Json& json) {
  TunedNode node;
  node.method = row.text("method");
  node.node = row.text("node");
  node.product = row.text("product");
  node.variant = row.text("variant");
  node.target_variant = row.text("target_variant");
  Fields ticks = row.object("ticks");
  if (!json.is_object() || !json.contains("ticks") || !json["ticks"].is_object()) return node;
  for (const auto& [variant, unused] : json["ticks"].items()) {
    const int64_t count = ticks.number(variant.c_str(), 0, INT64_MAX);
    node.ticks.emplace_back(variant, static_cast<uint64_t>(count));
  }
  row.note(ticks.finish());
  return node;
}

absl::StatusOr<TuningRecord> read_record(const Json& json) {
  Fields fields(json, "");
  PETREL_RETURN_IF_ERROR(fields.problem());
  fields.number("format", 1, 1);
  PETREL_RETURN_IF_ERROR(fields.problem());
  const std::string digest = fields.text(kDigest);
  PETREL_RETURN_IF_ERROR(fields.problem());
  if (digest != digest_of(json)) {
    return absl::InvalidArgumentError("it is damaged: its digest is not that of what it says");
  }
  TuningRecord record;
  record.key = {fields.text("board"), fields.text("board_sha256"), fields.text_or("clock", ""),
                fields.text("placement"), fields.text("kernels_sha256")};
  record.hz = fields.number("hz", 1, INT64_MAX);
  record.target_ticks = static_cast<uint64_t>(fields.number("target_ticks", 0, INT64_MAX));
  record.tuned_ticks = static_cast<uint64_t>(fields.number("tuned_ticks", 0, INT64_MAX));
  PETREL_RETURN_IF_ERROR(fields.problem());
  const bool has_nodes = json.contains("nodes") && json["nodes"].is_array();
  for (size_t i = 0; has_nodes && i < json["nodes"].size(); ++i) {
    Fields row(json["nodes"][i], absl::StrCat("nodes[", i, "]"));
    record.nodes.push_back(read_node(row, json["nodes"][i]));
    PETREL_RETURN_IF_ERROR(row.finish());
  }
  if (record.nodes.empty()) return absl::InvalidArgumentError("it has no nodes");
  return record;
}

// What is not what it was measured with; "" when all is.
std::string difference(const TuningKey& was, const TuningKey& is) {
  const auto differs = [](const char* what, const std::string& a, const std::string& b) {
    return absl::StrCat("it was measured with ", what, " '", a, "', and this is for '", b, "'");
  };
  if (was.board != is.board) return differs("board", was.board, is.board);
  if (was.clock != is.clock) return differs("clock configuration", was.clock, is.clock);
  if (was.board_sha != is.board_sha) {
    return absl::StrCat("it was measured with another board file of '", is.board, "'");
  }
  if (was.placement != is.placement) return differs("placement", was.placement, is.placement);
  if (was.kernels != is.kernels) {
    return "it was measured with kernels of another version of petrel";
  }
  return "";
}

}  // namespace

TuningKey tuning_key(const Board& board, const GenerateOptions& options) {
  TuningKey key;
  key.board = board.name;
  key.board_sha = digest_of(board.text);
  key.clock = board.clock;
  key.kernels = emit_c::variants_digest();
  key.placement = options.other_parameters == Parameters::kPool       ? "parameters in pools"
                  : options.other_parameters == Parameters::kExternal ? "parameters external"
                                                                      : "parameters linked";
  for (const plan::MemoryPool& pool : options.pools) {
    absl::StrAppend(&key.placement, "; ", pool.kind == plan::PoolKind::kReadOnly ? "ro " : "rw ",
                    pool.name);
  }
  absl::StrAppend(&key.placement, rules_text("parameter", options.parameters),
                  rules_text("pin", options.pins));
  return key;
}

std::string tuning_text(const TuningRecord& record) {
  Json json = {{"format", 1},
               {"board", record.key.board},
               {"board_sha256", record.key.board_sha},
               {"clock", record.key.clock},
               {"placement", record.key.placement},
               {"kernels_sha256", record.key.kernels},
               {"hz", record.hz},
               {"target_ticks", record.target_ticks},
               {"tuned_ticks", record.tuned_ticks},
               {"nodes", Json::array()}};
  for (const TunedNode& node : record.nodes) {
    Json ticks = Json::object();
    for (const auto& [variant, count] : node.ticks) ticks[variant] = count;
    json["nodes"].push_back({{"method", node.method},
                             {"node", node.node},
                             {"product", node.product},
                             {"variant", node.variant},
                             {"target_variant", node.target_variant},
                             {"ticks", std::move(ticks)}});
  }
  json[kDigest] = digest_of(json);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<TuningRecord> parse_tuning(const std::string& text, const std::string& origin) {
  const auto json = parse_json(text);
  if (!json.ok()) return annotate(json.status(), origin);
  auto record = read_record(*json);
  if (!record.ok()) return annotate(record.status(), origin);
  return record;
}

absl::Status use_tuning(const std::string& path, const Board& board, GenerateOptions* options) {
  const std::string origin = absl::StrCat("--tuning '", path, "'");
  const auto text = read_file_content(path, kMaxRecord);
  if (!text.ok()) return annotate(text.status(), origin);
  PETREL_ASSIGN_OR_RETURN(const TuningRecord record, parse_tuning(*text, origin));
  const std::string other = difference(record.key, tuning_key(board, *options));
  if (!other.empty()) return absl::FailedPreconditionError(absl::StrCat(origin, ": ", other));
  for (const TunedNode& node : record.nodes) {
    options->kernels.tuned.push_back({node.node, node.product, node.variant});
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
