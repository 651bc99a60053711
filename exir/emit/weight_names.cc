// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/weight_names.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "schema/formats.h"

namespace petrel::exir {
namespace {

bool is_good_name(const std::string& name) {
  return !name.empty() && name.size() <= schema::kMaxTensorNameBytes &&
         name.find('\0') == std::string::npos && name != schema::kAdditionsKey;
}

bool is_bound(const WeightLedger::Weight& weight, bool binds_data) {
  return binds_data && !weight.destination.empty();
}

}  // namespace

std::vector<LeastSize> least_sizes(const Graph& graph) {
  std::vector<LeastSize> rows;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Type& type = graph.inputs()[i]->type();
    if (!type.is_tensor() || !type.tensor.is_dynamic()) continue;
    for (size_t dim = 0; dim < type.tensor.rank(); ++dim) {
      const int64_t least = std::min(type.tensor.size(dim).range().low, type.tensor.sizes[dim]);
      if (least <= 0) continue;
      rows.push_back(
          {static_cast<uint32_t>(i), static_cast<uint32_t>(dim), static_cast<int32_t>(least)});
    }
  }
  return rows;
}

void name_weights(const std::vector<std::map<uint32_t, const Constant*>>& weights,
                  const NamedBlobStore& store, std::vector<MethodAdditions>* out) {
  std::set<std::string> ambiguous;
  for (const auto& [file, destination] : store.destinations()) {
    for (const NamedBlobStore::Entry& entry : destination.entries) {
      ambiguous.insert(entry.key);
    }
  }
  std::map<std::string, const Constant*> meanings;
  for (const auto& of_method : weights) {
    for (const auto& [entry, weight] : of_method) {
      const Constant& first = *meanings.emplace(weight->fqn, weight).first->second;
      if (first.type != weight->type || !first.data.equals(weight->data)) {
        ambiguous.insert(weight->fqn);
      }
    }
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    for (const auto& [entry, weight] : weights[i]) {
      if (!is_good_name(weight->fqn) || ambiguous.count(weight->fqn) > 0) continue;
      (*out)[i].names[entry] = weight->fqn;
    }
  }
}

std::vector<WeightAddition> remembered_weights(const RoutedBlobStore& store, bool binds_data) {
  std::vector<WeightAddition> weights;
  const bool by_name = store.routes().keys == WeightKeys::kName;
  for (const auto& [key, weight] : store.ledger().weights()) {
    const bool bound = is_bound(weight, binds_data);
    // `data build` makes weights, not state.
    if (!bound && (!by_name || weight.is_state)) continue;
    WeightAddition addition;
    addition.key = key;
    addition.layout = weight.layout;
    addition.bytes = weight.blob.size();
    if (bound) addition.digest = weight.blob.sha256();
    const bool is_itself = weight.sources.size() == 1 && weight.sources[0] == key;
    if (by_name && !is_itself) {
      std::copy_if(weight.sources.begin(), weight.sources.end(),
                   std::back_inserter(addition.made_of), is_good_name);
    }
    weights.push_back(std::move(addition));
  }
  return weights;
}

std::vector<Blob> bound_blobs(const RoutedBlobStore& store, bool binds_data) {
  std::vector<Blob> blobs;
  for (const auto& [key, weight] : store.ledger().weights()) {
    if (is_bound(weight, binds_data)) blobs.push_back(weight.blob);
  }
  return blobs;
}

}  // namespace petrel::exir
