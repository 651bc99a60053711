// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/scale_groups.h"

#include <map>
#include <unordered_map>
#include <utility>

#include "exir/ir/disjoint_sets.h"
#include "exir/quantize/annotate_graph.h"
#include "exir/quantize/expand_for_integers.h"
#include "exir/status_macros.h"

namespace petrel::exir {

std::vector<ScaleGroup> scale_groups(const Graph& graph, const KeptFloat& keep_float) {
  std::vector<Value*> values;
  std::unordered_map<const Value*, size_t> index;
  std::set<const Value*> needed;
  std::vector<std::vector<Value*>> all;
  for (const QuantTarget target : {QuantTarget::kIntegers, QuantTarget::kBackendsAtBorder}) {
    for (std::vector<Value*>& group : annotate_graph(graph, keep_float, target).groups) {
      for (Value* value : group) {
        if (index.emplace(value, values.size()).second) values.push_back(value);
        if (target != QuantTarget::kIntegers) needed.insert(value);
      }
      all.push_back(std::move(group));
    }
  }
  DisjointSets joined(values.size());
  for (const std::vector<Value*>& group : all) {
    for (const Value* value : group) joined.join(index.at(group[0]), index.at(value));
  }
  std::map<size_t, ScaleGroup> by_root;
  for (size_t i = 0; i < values.size(); ++i) {
    ScaleGroup& group = by_root[joined.least(i)];
    group.values.push_back(values[i]);
    if (needed.count(values[i]) == 0) group.optional.insert(values[i]);
  }
  std::vector<ScaleGroup> groups;
  for (auto& [root, group] : by_root) groups.push_back(std::move(group));
  return groups;
}

absl::StatusOr<std::set<std::string>> names_of_record(const Graph& graph,
                                                      const KeptFloat& keep_float) {
  const std::unique_ptr<Graph> expanded = graph.clone();
  PETREL_RETURN_IF_ERROR(expand_for_integers(*expanded));
  std::set<std::string> names;
  for (const ScaleGroup& group : scale_groups(*expanded, keep_float)) {
    for (const Value* value : group.values) names.insert(value->name());
  }
  return names;
}

}  // namespace petrel::exir
