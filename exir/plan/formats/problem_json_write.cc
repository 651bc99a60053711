// SPDX-License-Identifier: Apache-2.0
//
// Problems and requests to other planners as JSON.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/json/json_text.h"
#include "exir/plan/formats/problem_json.h"
#include "exir/plan/model/conflict_graph.h"
#include "exir/plan/search/greedy.h"

namespace petrel::exir::plan {
namespace {

using nlohmann::ordered_json;

ordered_json pool_json(const Pool& pool) {
  ordered_json json = {{"name", pool.name}};
  if (pool.capacity) json["capacity"] = *pool.capacity;
  if (pool.preferred_capacity) {
    json["preferred_capacity"] = *pool.preferred_capacity;
  }
  if (pool.cost_per_access != 0) json["cost_per_access"] = pool.cost_per_access;
  if (pool.kind == PoolKind::kReadOnly) json["kind"] = "read_only";
  return json;
}

ordered_json buffer_json(const Problem& problem, const Buffer& buffer) {
  ordered_json json = {{"id", buffer.id},
                       {"lower", buffer.lifetime.begin},
                       {"upper", buffer.lifetime.end},
                       {"size", buffer.size}};
  if (buffer.alignment != 1) json["alignment"] = buffer.alignment;
  for (const Gap& gap : buffer.gaps) {
    ordered_json made = {{"lower", gap.time.begin}, {"upper", gap.time.end}};
    if (gap.low < gap.high) made["keep"] = {gap.low, gap.high};
    json["gaps"].push_back(std::move(made));
  }
  if (buffer.offset) json["offset"] = *buffer.offset;
  if (buffer.hint) json["hint"] = *buffer.hint;
  for (const PoolIdx pool : buffer.pools) {
    json["pools"].push_back(problem.pools[pool].name);
  }
  if (buffer.access_count != 0) json["accesses"] = buffer.access_count;
  if (!buffer.group.empty()) json["group"] = buffer.group;
  return json;
}

// What of `low` and `high` differs from two plain buffers side by side.
void add_conflicts(const Problem& problem, const ConflictGraph& graph, BufferIdx index,
                   ordered_json* json) {
  (*json)["conflicts"] = ordered_json::array();
  for (const Edge* e = graph.begin(index); e != graph.end(index); ++e) {
    const Buffer& other = problem.buffers[e->other];
    if (e->low == -other.size && e->high == problem.buffers[index].size) {
      (*json)["conflicts"].push_back(other.id);
    } else {
      (*json)["partial_conflicts"].push_back(
          {{"with", other.id}, {"low", e->low}, {"high", e->high}});
    }
  }
}

std::string lines(const std::vector<std::string>& items) {
  return absl::StrCat("[\n  ", absl::StrJoin(items, ",\n  "), "]");
}

std::string format(const Problem& problem, bool request) {
  std::vector<std::string> pools, buffers;
  for (const Pool& pool : problem.pools) pools.push_back(json_text(pool_json(pool)));
  std::optional<ConflictGraph> graph;
  PoolChoices choices;
  if (request) {
    graph.emplace(problem);
    choices = pool_choices(problem);
  }
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    ordered_json json = buffer_json(problem, problem.buffers[i]);
    if (request) {
      json["alignment"] = problem.buffers[i].alignment;
      json["pools"] = ordered_json::array();
      for (const PoolIdx pool : choices[i]) {
        json["pools"].push_back(problem.pools[pool].name);
      }
      add_conflicts(problem, *graph, static_cast<BufferIdx>(i), &json);
    }
    buffers.push_back(json_text(json));
  }
  std::string text =
      absl::StrCat("{\"pools\": ", lines(pools), ",\n \"buffers\": ", lines(buffers));
  const auto append_pairs = [&](const char* key, const std::vector<Pair>& pairs) {
    if (pairs.empty()) return;
    ordered_json json;
    for (const Pair& pair : pairs) {
      json.push_back({problem.buffers[pair.first].id, problem.buffers[pair.second].id});
    }
    absl::StrAppend(&text, ",\n \"", key, "\": ", json_text(json));
  };
  append_pairs("conflicts", problem.conflicts);
  append_pairs("non_conflicts", problem.non_conflicts);
  if (!problem.overlaps.empty()) {
    ordered_json json;
    for (const PermittedOverlap& overlap : problem.overlaps) {
      json.push_back({{"lower", problem.buffers[overlap.lower].id},
                      {"upper", problem.buffers[overlap.upper].id},
                      {"bytes", overlap.bytes}});
    }
    absl::StrAppend(&text, ",\n \"overlaps\": ", json_text(json));
  }
  return text + "}\n";
}

}  // namespace

std::string format_problem_json(const Problem& problem) { return format(problem, false); }

absl::StatusOr<std::string> format_request_json(const Problem& problem) {
  if (const int64_t pairs = ConflictGraph::count_pairs(problem); pairs > ConflictGraph::kMaxPairs) {
    return absl::ResourceExhaustedError(
        absl::StrCat(pairs,
                     " pairs of buffers are needed at the same time, another planner is "
                     "asked of at most ",
                     ConflictGraph::kMaxPairs));
  }
  return format(problem, true);
}

}  // namespace petrel::exir::plan
