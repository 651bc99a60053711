// SPDX-License-Identifier: Apache-2.0
#include "extension/export/export_report.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "exir/backend/blob_names.h"
#include "exir/emit/missing_kernels.h"
#include "exir/plan/model/crowd.h"
#include "extension/export/quantity.h"
#include "extension/module/error_text.h"

namespace petrel::extension {
namespace {

using exir::shown_name;
using nlohmann::ordered_json;

// Values named as the largest where the arena is fullest.
constexpr size_t kContributors = 5;
// Weights named in a warning.
constexpr size_t kWeightsTold = 3;

int64_t total(const std::vector<int64_t>& arenas) {
  return std::accumulate(arenas.begin(), arenas.end(), int64_t{0});
}

// "1 node", "2 nodes".
std::string count_of(size_t count, const char* one, const char* several) {
  return absl::StrCat(count, " ", count == 1 ? one : several);
}

std::string file_name(const std::string& destination) {
  return destination.empty() ? "program" : destination;
}

void add_delegated_text(const exir::ExportReport& report, const std::string& method,
                        std::string* text) {
  for (const auto& taken : report.partition.taken) {
    if (taken.method != method) continue;
    absl::StrAppend(text, "  delegated      ", taken.nodes, " nodes to ", taken.backend_id, " in ",
                    count_of(taken.partitions, "partition", "partitions"), "\n");
    for (size_t i = 0; i < taken.costs.size(); ++i) {
      const exir::GroupCosts& costs = taken.costs[i];
      absl::StrAppend(text, "    partition ", i, ": ", exir::describe_costs(costs));
      if (costs.layout_copies > 0) {
        absl::StrAppend(text, ", ", count_of(costs.layout_copies, "layout copy", "layout copies"),
                        " of ", costs.copied_elements, " elements");
      }
      absl::StrAppend(text, "\n");
    }
  }
}

void add_not_delegated_text(const exir::ExportReport& report, const std::string& method,
                            std::string* text) {
  size_t left = 0;
  for (const auto& node : report.partition.left_behind) left += node.method == method;
  absl::StrAppend(text, "  not delegated  ", count_of(left, "node", "nodes"), "\n");
  for (const auto& node : report.partition.left_behind) {
    if (node.method != method) continue;
    absl::StrAppend(text, "    ", shown_name(node.node), " (", node.op,
                    "): ", printable(node.reason));
    if (!node.location.empty()) absl::StrAppend(text, "; ", printable(node.location));
    absl::StrAppend(text, "\n");
  }
}

void add_border_text(const exir::ExportReport& report, const std::string& method,
                     std::string* text) {
  const auto border = report.borders.find(method);
  if (border == report.borders.end()) return;
  for (const exir::BorderValue& value : border->second) {
    absl::StrAppend(text, value.is_input ? "  input          " : "  output         ", value.place,
                    " '", shown_name(value.name), "': ");
    if (value.reason.empty()) {
      absl::StrAppend(text, std::string(exir::scalar_type_name(value.levels.dtype)), ", scale ",
                      value.levels.scale, ", zero point ", value.levels.zero_point, "\n");
    } else {
      absl::StrAppend(text, "stays f32: ", printable(value.reason), "\n");
    }
  }
}

ordered_json border_json(const exir::Border& border) {
  ordered_json json = ordered_json::array();
  for (const exir::BorderValue& value : border) {
    ordered_json one = {{"kind", value.is_input ? "input" : "output"},
                        {"index", value.place},
                        {"name", value.name}};
    if (value.reason.empty()) {
      one["dtype"] = exir::scalar_type_name(value.levels.dtype);
      one["scale"] = value.levels.scale;
      one["zero_point"] = value.levels.zero_point;
    } else {
      one["stays_float"] = value.reason;
    }
    json.push_back(std::move(one));
  }
  return json;
}

// Methods that tell what integers stand for are not worth a report of their own.
bool tells_of_border(const exir::MethodMemory& memory, const exir::ExportReport& report) {
  return !report.borders.empty() && report.borders.count(memory.method) == 0;
}

void add_operators_text(const exir::ExportReport& report, const std::string& method,
                        std::string* text) {
  const auto kernels = report.kernels.find(method);
  if (kernels != report.kernels.end()) {
    for (const auto& [op, count] : kernels->second) {
      absl::StrAppend(text, "  kernel         ", shown_name(op), " x ", count, "\n");
    }
  }
  for (const exir::MissingKernel& missing : report.emit.missing_kernels) {
    if (missing.method != method) continue;
    absl::StrAppend(text, "  missing        ", shown_name(missing.kernel), "\n");
  }
  const auto order = report.order.find(method);
  if (order != report.order.end()) {
    absl::StrAppend(text, "  order          needs ", order->second.peak, " bytes, was ",
                    order->second.given_peak, ", lower bound ", order->second.lower_bound,
                    order->second.optimal ? ", proven optimal\n" : "\n");
  }
}

void add_memory_text(const exir::MethodMemory& memory, std::string* text) {
  const int64_t arena = total(memory.arena_bytes);
  absl::StrAppend(text, "  arena          ", arena, " bytes, lower bound ",
                  memory.lower_bound_bytes);
  if (memory.proven_optimal) {
    absl::StrAppend(text, ", proven optimal");
  } else if (memory.lower_bound_bytes > 0) {
    const double ratio = static_cast<double>(arena) / static_cast<double>(memory.lower_bound_bytes);
    absl::StrAppend(text, absl::StrFormat(", at most %.2f %% above it", 100.0 * ratio - 100.0));
  }
  absl::StrAppend(text, "\n");
  if (memory.scratch_operators > 0) {
    absl::StrAppend(text, "  scratch        ", memory.scratch_bytes, " bytes in ",
                    count_of(memory.scratch_operators, "operator", "operators"), ", ",
                    memory.scratch_bytes_beyond, " beyond the arena\n");
  }
  if (memory.elided_copies > 0) {
    absl::StrAppend(text, "  in place       ",
                    count_of(memory.elided_copies, "join or cut", "joins and cuts"), ", ",
                    memory.elided_bytes, " bytes not moved\n");
  }
  if (!memory.problem.buffers.empty()) {
    absl::StrAppend(text, "  fullest        ",
                    printable(exir::plan::describe(
                        memory.problem, exir::plan::largest_crowd(memory.problem), kContributors)),
                    "\n");
  }
}

ordered_json costs_json(const std::vector<exir::GroupCosts>& all) {
  ordered_json json = ordered_json::array();
  for (const exir::GroupCosts& costs : all) {
    json.push_back({{"nodes", costs.nodes},
                    {"kernels_us", costs.kernels},
                    {"delegated_us", costs.delegated + costs.call},
                    {"layout_copies", costs.layout_copies},
                    {"copied_elements", costs.copied_elements}});
  }
  return json;
}

ordered_json delegated_json(const exir::ExportReport& report, const std::string& method) {
  ordered_json json = ordered_json::array();
  for (const auto& taken : report.partition.taken) {
    if (taken.method != method) continue;
    ordered_json delegated = {{"backend", taken.backend_id},
                              {"nodes", taken.nodes},
                              {"partitions", taken.partitions},
                              {"costs", costs_json(taken.costs)},
                              {"debug_ids", ordered_json::array()}};
    for (const auto& handles : taken.debug_handles) {
      ordered_json ids = ordered_json::object();
      for (const auto& [id, value] : handles) ids[std::to_string(id)] = value;
      delegated["debug_ids"].push_back(std::move(ids));
    }
    json.push_back(std::move(delegated));
  }
  return json;
}

ordered_json not_delegated_json(const exir::ExportReport& report, const std::string& method) {
  ordered_json json = ordered_json::array();
  for (const auto& node : report.partition.left_behind) {
    if (node.method != method) continue;
    json.push_back({{"node", node.node},
                    {"op", node.op},
                    {"reason", node.reason},
                    {"location", node.location}});
  }
  return json;
}

void add_memory_json(const exir::MethodMemory& memory, ordered_json* method) {
  (*method)["arena_bytes"] = memory.arena_bytes;
  (*method)["arena_lower_bound_bytes"] = memory.lower_bound_bytes;
  (*method)["arena_optimal"] = memory.proven_optimal;
  (*method)["scratch"] = {{"operators", memory.scratch_operators},
                          {"bytes", memory.scratch_bytes},
                          {"bytes_beyond_arena", memory.scratch_bytes_beyond}};
  (*method)["elided_copies"] = memory.elided_copies;
  (*method)["elided_bytes"] = memory.elided_bytes;
  const exir::plan::Crowd crowd = exir::plan::largest_crowd(memory.problem);
  ordered_json& fullest = (*method)["arena_fullest"];
  fullest = {{"time", crowd.time}, {"bytes", crowd.bytes}, {"values", ordered_json::array()}};
  for (const auto& [buffer, bytes] : crowd.members) {
    fullest["values"].push_back({{"name", memory.problem.buffers[buffer].id}, {"bytes", bytes}});
  }
}

ordered_json missing_kernels_json(const exir::ExportReport& report, const std::string& method) {
  ordered_json json = ordered_json::array();
  for (const exir::MissingKernel& missing : report.emit.missing_kernels) {
    if (missing.method != method) continue;
    json.push_back({{"kernel", missing.kernel},
                    {"calls", missing.calls},
                    {"dtypes", missing.dtypes},
                    {"node", missing.node},
                    {"op", missing.op},
                    {"location", missing.location}});
  }
  return json;
}

ordered_json method_json(const exir::ExportReport& report, const exir::MethodMemory& memory) {
  ordered_json method;
  method["name"] = memory.method;
  const auto border = report.borders.find(memory.method);
  if (border != report.borders.end()) method["border"] = border_json(border->second);
  method["delegated"] = delegated_json(report, memory.method);
  method["not_delegated"] = not_delegated_json(report, memory.method);
  method["kernels"] = ordered_json::object();
  const auto kernels = report.kernels.find(memory.method);
  if (kernels != report.kernels.end()) {
    for (const auto& [op, count] : kernels->second) method["kernels"][op] = count;
  }
  method["missing_kernels"] = missing_kernels_json(report, memory.method);
  const auto order = report.order.find(memory.method);
  if (order != report.order.end()) {
    method["order"] = {{"peak", order->second.peak},
                       {"given_peak", order->second.given_peak},
                       {"lower_bound", order->second.lower_bound},
                       {"optimal", order->second.optimal}};
  }
  add_memory_json(memory, &method);
  return method;
}

}  // namespace

std::string format_report_text(const exir::ExportReport& report) {
  std::string text;
  for (const exir::MethodMemory& memory : report.emit.memory) {
    if (tells_of_border(memory, report)) continue;
    absl::StrAppend(&text, "method ", shown_name(memory.method), "\n");
    add_border_text(report, memory.method, &text);
    add_delegated_text(report, memory.method, &text);
    add_not_delegated_text(report, memory.method, &text);
    add_operators_text(report, memory.method, &text);
    add_memory_text(memory, &text);
  }
  if (report.emit.state_bytes > 0) {
    absl::StrAppend(&text, "state            ", report.emit.state_bytes,
                    " bytes, one for all methods\n");
  }
  absl::StrAppend(&text, "weights          ", report.weight_bytes, " bytes written, ",
                  report.shared_weight_bytes, " shared\n");
  for (const exir::WeightsElsewhere& some : report.weights_elsewhere) {
    absl::StrAppend(&text, "weights          ", count_of(some.weights, "weight", "weights"), " of ",
                    file_name(some.wanted), ", ", some.bytes, " bytes, found in ",
                    file_name(some.lie_in), "\n");
  }
  for (const auto& [destination, bytes] : report.emit.file_bytes) {
    absl::StrAppend(&text, "file             ", file_name(destination), " ", bytes, " bytes\n");
  }
  double sum = 0.0;
  for (const auto& [phase, seconds] : report.phase_seconds) {
    absl::StrAppend(&text, "time             ", phase, " ", format_seconds(seconds), "\n");
    sum += seconds;
  }
  absl::StrAppend(&text, "time             total ", format_seconds(sum), "\n");
  return text;
}

std::string format_report_json(const exir::ExportReport& report) {
  ordered_json json;
  json["methods"] = ordered_json::array();
  for (const exir::MethodMemory& memory : report.emit.memory) {
    if (tells_of_border(memory, report)) continue;
    json["methods"].push_back(method_json(report, memory));
  }
  json["state_bytes"] = report.emit.state_bytes;
  json["weight_bytes"] = report.weight_bytes;
  json["shared_weight_bytes"] = report.shared_weight_bytes;
  json["weights_elsewhere"] = ordered_json::array();
  for (const exir::WeightsElsewhere& some : report.weights_elsewhere) {
    json["weights_elsewhere"].push_back({{"wanted", file_name(some.wanted)},
                                         {"lie_in", file_name(some.lie_in)},
                                         {"weights", some.weights},
                                         {"bytes", some.bytes}});
  }
  json["bypassed_weights"] = ordered_json::array();
  for (const exir::BypassedWeight& one : report.bypassed_weights) {
    json["bypassed_weights"].push_back({{"weight", one.weight}, {"backend", one.backend_id}});
  }
  json["file_bytes"] = ordered_json::object();
  for (const auto& [destination, bytes] : report.emit.file_bytes) {
    json["file_bytes"][file_name(destination)] = bytes;
  }
  json["seconds"] = ordered_json::object();
  for (const auto& [phase, seconds] : report.phase_seconds) json["seconds"][phase] = seconds;
  // Names from a model may hold any bytes.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

std::vector<std::string> export_warnings(const exir::ExportReport& report) {
  std::vector<std::string> warnings;
  if (!report.emit.missing_kernels.empty()) {
    warnings.push_back(exir::describe_missing(report.emit.missing_kernels));
  }
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> by_backend;
  for (const exir::BypassedWeight& one : report.bypassed_weights) {
    by_backend[{one.backend_id, one.wanted}].push_back(
        absl::StrCat("'", exir::shown_name(one.weight), "'"));
  }
  for (auto& [place, weights] : by_backend) {
    const auto& [backend, wanted] = place;
    const size_t count = weights.size();
    weights.resize(std::min(count, kWeightsTold));
    warnings.push_back(absl::StrCat(
        "backend '", backend, "' stores ", count_of(count, "weight", "weights"),
        " by itself, instead of by add_weight or add_derived: ", absl::StrJoin(weights, ", "),
        count > weights.size() ? ", ...; " : "; ",
        wanted.empty() ? "no data can take the place of these"
                       : absl::StrCat("these do not go to '", wanted, "'")));
  }
  return warnings;
}

}  // namespace petrel::extension
