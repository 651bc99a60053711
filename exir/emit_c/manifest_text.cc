// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/extent.h"
#include "exir/emit_c/kernel_choices.h"
#include "exir/emit_c/parameter_pools.h"
#include "exir/emit_c/text_files.h"
#include "exir/memory/memory.h"
#include "exir/memory/pools.h"

namespace petrel::exir::emit_c {
namespace {

using Json = nlohmann::ordered_json;

// Of sizes that vary the largest, and the smallest too.
Json describe(const CTensor& tensor) {
  Json row = {{"name", tensor.name},
              {"c_name", tensor.c_name},
              {"dtype", std::string(scalar_type_name(tensor.type.dtype))},
              {"shape", tensor.type.sizes},
              {"dim_order", tensor.type.dim_order},
              {"bytes", tensor.type.nbytes()}};
  if (tensor.varies()) row["least_shape"] = least_sizes(tensor.type);
  if (tensor.levels) {
    row["scale"] = tensor.levels->scale;
    row["zero_point"] = tensor.levels->zero_point;
  }
  return row;
}

// Which dim of which input tells each size that varies, or what a step finds.
Json sizes_of(const CMethod& method) {
  Json rows = Json::array();
  for (const MethodSize& size : method.sizes) {
    if (size.is_real) continue;  // it is no size
    Json row = {{"name", size.symbol}, {"least", size.range.low}, {"most", size.range.high}};
    if (size.finder != nullptr) {
      row["found"] = size.finder->result()->name();
    } else {
      row["input"] = method.inputs[size.input].name;
      row["dim"] = size.dim;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json describe(const std::vector<CTensor>& tensors) {
  Json rows = Json::array();
  for (const CTensor& tensor : tensors) rows.push_back(describe(tensor));
  return rows;
}

// Which variant runs where there are several.
Json kernels_of(const CMethod& method) {
  Json rows = Json::array();
  for (const CStep& step : method.steps) {
    for (const CStage& stage : step.together) {
      if (stage.variant.empty()) continue;
      rows.push_back(
          {{"node", stage.node}, {"operator", stage.kernel}, {"variant", stage.variant}});
    }
    if (step.variant.empty()) continue;
    Json row = {{"node", step.node}, {"operator", step.kernel}, {"variant", step.variant}};
    if (!step.variants.empty()) {
      row["step"] = step.function;
      row["variants"] = step.variants;
      row["product"] = step.product;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json steps_of(const CMethod& method) {
  Json rows = Json::array();
  for (const auto& [name, kernel] : step_infos(method)) {
    rows.push_back({{"name", name}, {"kernel", kernel}});
  }
  return rows;
}

// Steps that run several nodes row by row. Each row is made once.
Json blocks_of(const CMethod& method) {
  Json rows = Json::array();
  for (const CStep& step : method.steps) {
    if (step.together.empty()) continue;
    Json nodes = Json::array();
    for (const CStage& stage : step.together) nodes.push_back(stage.node);
    rows.push_back({{"nodes", nodes},
                    {"ring_bytes", step.ring_bytes},
                    {"more_instructions",
                     step.more_instructions.has_value() ? Json(*step.more_instructions) : Json()}});
  }
  return rows;
}

// Results that lie over operands; step 0 copies inputs.
Json shared_of(const CMethod& method) {
  Json rows = Json::array();
  for (size_t i = 0; i < method.steps.size(); ++i) {
    for (const CShared& one : method.steps[i].shared) {
      rows.push_back({{"step", i + 1},
                      {"node", method.steps[i].node},
                      {"operand", one.operand},
                      {"place", one.place},
                      {"bytes", one.bytes},
                      {"lead", one.lead}});
    }
  }
  return rows;
}

Json describe(const CMethod& method) {
  return {{"name", method.name},
          {"prefix", method.prefix},
          {"inputs", describe(method.inputs)},
          {"outputs", describe(method.outputs)},
          {"sizes", sizes_of(method)},
          {"steps", method.steps.size()},
          {"step_infos", steps_of(method)},
          {"kernels", kernels_of(method)},
          {"blocks", blocks_of(method)},
          {"shared", shared_of(method)},
          {"arena_bytes", method.arena_bytes},
          {"pool_bytes", method.pool_bytes},
          {"io_bytes", io_bytes(method)},
          {"lower_bound_bytes", method.lower_bound_bytes},
          {"proven_optimal", method.proven_optimal}};
}

Json describe(const plan::MemoryPool& pool, const Package& package) {
  Json row = {{"name", pool.name},
              {"kind", pool.kind == plan::PoolKind::kReadOnly ? "ro" : "rw"},
              {"align", alignment_of(pool)}};
  const std::string section = section_of(pool, package.name);
  if (!section.empty()) row["section"] = section;
  if (pool.address.has_value()) row["address"] = *pool.address;
  if (pool.size.has_value()) row["size"] = *pool.size;
  if (pool.limit.has_value()) row["limit"] = *pool.limit;
  if (pool.prefer.has_value()) row["prefer"] = *pool.prefer;
  if (!pool.targets.empty()) row["targets"] = pool.targets;
  if (pool.cached) row["cached"] = true;
  return row;
}

// With the bytes that are in use of each.
Json pools_of(const Package& package) {
  Json rows = Json::array();
  for (const CMemory& memory : package.memories) {
    if (!memory.pool.has_value()) continue;
    Json row = describe(*memory.pool, package);
    row["bytes"] = memory.bytes;
    row["keeps_state"] = memory.keeps_state;
    row["keeps_parameters"] = memory.keeps_parameters;
    rows.push_back(std::move(row));
  }
  for (const plan::MemoryPool& pool : package.pools->constants) {
    if (pool.kind == plan::PoolKind::kReadWrite) continue;  // is a memory
    Json row = describe(pool, package);
    row["bytes"] = constant_bytes(package.parameters, pool);
    rows.push_back(std::move(row));
  }
  return rows;
}

const char* kind_of(const CParameter& parameter) {
  if (parameter.is_loaded()) return "loaded";
  if (parameter.is_external) return "external";
  if (parameter.is_of_delegates) return "delegate";
  return parameter.pool == nullptr ? "linked" : "pooled";
}

Json parameters_of(const Package& package) {
  Json rows = Json::array();
  for (const CParameter& parameter : package.parameters) {
    const TensorType& type = parameter.constant->type;
    Json row = {{"name", parameter.name},
                {"symbol", parameter.is_external ? Json() : Json(parameter.symbol)},
                {"id", parameter_id(parameter)},
                {"kind", kind_of(parameter)},
                {"dtype", std::string(scalar_type_name(type.dtype))},
                {"shape", type.sizes},
                {"bytes", type.nbytes()},
                {"sha256", to_hex(parameter.constant->data.sha256())}};
    row["pool"] = parameter.pool == nullptr ? Json() : Json(parameter.pool->name);
    row["targets"] = parameter.targets;
    if (parameter.is_of_delegates) row["sources"] = parameter.sources;
    if (parameter.levels) {
      row["scale"] = parameter.levels->scale;
      row["zero_point"] = parameter.levels->zero_point;
    }
    if (parameter.scales) {
      row["scales"] = package.parameters[*parameter.scales].name;
      row["axis"] = parameter.axis;
    }
    if (parameter.file_offset >= 0) row["file_offset"] = parameter.file_offset;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json delegates_of(const Package& package) {
  Json rows = Json::array();
  for (const CDelegateCall& call : package.delegates) {
    Json nodes = Json::array();
    for (const auto& node : call.partition->graph->nodes()) {
      nodes.push_back({{"name", node->num_results() > 0 ? node->result(0)->name() : ""},
                       {"operator", std::string(node->op().name)}});
    }
    rows.push_back({{"name", call.name},
                    {"backend", call.partition->backend_id},
                    {"target", call.target},
                    {"device", call.device},
                    {"driver", call.code.source.empty() ? Json(call.functions) : Json()},
                    {"payload", package.parameters[call.payload].symbol},
                    {"nodes", std::move(nodes)}});
  }
  return rows;
}

// The kernels that a .pte of the package would call, each once.
std::set<std::string> operators_of(const Package& package) {
  std::set<std::string> operators;
  for (const CMethod& method : package.methods) {
    for (const CStep& step : method.steps) {
      if (!step.kernel.empty()) operators.insert(step.kernel);
      for (const CStage& stage : step.together) operators.insert(stage.kernel);
    }
  }
  return operators;
}

}  // namespace

std::string manifest_text(const Package& package, const std::string& sha256,
                          const std::map<std::string, std::string>& digests) {
  Json json = {
      {"format", 1},
      {"name", package.name},
      {"sha256", sha256},
      {"arena_bytes", package.arena_bytes},
      {"arena_align", kArenaAlignment},
      {"state_bytes", package.state_bytes},
      {"constant_bytes", constant_bytes(package)},
      {"io", package.borrows() ? "caller" : "arena"},
      {"math", package.pools->fast_math ? "fast" : "exact"},
      {"interface", package.pools->has_packed ? "packed" : "direct"},
      {"target", package.pools->kernels == nullptr ? name_of(Target::kGeneric)
                                                   : name_of(package.pools->kernels->target())},
      {"constants", package.includes_binary ? "incbin" : "text"},
      {"files", digests},
      {"sources", sources_of(package)},
      {"archives", archives_of(package)},
      {"kernel_flags", user_flags(package)},
      {"operators", operators_of(package)},
      {"pools", pools_of(package)}};
  json["memories"] = Json::array();
  for (const CMemory& memory : package.memories) {
    json["memories"].push_back({{"name", memory.member},
                                {"bytes", memory.bytes},
                                {"align", memory.alignment},
                                {"is_kept", is_kept(package, memory)}});
  }
  json["methods"] = Json::array();
  for (const CMethod& method : package.methods) json["methods"].push_back(describe(method));
  json["parameters"] = parameters_of(package);
  json["delegates"] = delegates_of(package);
  json["devices"] = devices_of(package);
  json["folded"] = Json::array();
  for (const CFolded& one : package.folded) {
    json["folded"].push_back({{"name", one.name}, {"bytes", one.bytes}});
  }
  json["state"] = Json::array();
  for (const CState& state : package.states) {
    json["state"].push_back(
        {{"name", state.name}, {"symbol", state.symbol}, {"bytes", state.constant->type.nbytes()}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace petrel::exir::emit_c
