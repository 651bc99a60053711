// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/channel_choices.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/driver/trial.h"
#include "exir/quantize/annotate_graph.h"
#include "exir/quantize/equalise_graph.h"
#include "exir/quantize/shift_graph.h"
#include "exir/status_macros.h"
#include "extension/quantize/method_runner.h"

namespace petrel::extension {
namespace {

// Values between a pair that the observed program shows.
std::vector<std::string> shown_between(const exir::ChannelPair& pair,
                                       const exir::ObservedMethod& method) {
  std::vector<std::string> names;
  for (const exir::Value* value : pair.between) {
    const auto& outputs = method.outputs;
    if (std::find(outputs.begin(), outputs.end(), value->name()) == outputs.end()) continue;
    names.push_back(value->name());
  }
  return names;
}

// Calls use(method name, pair) for the pairs that integers compute of methods with samples.
template <typename Use>
void for_each_pair(const exir::ObservedProgram& observed, const Observers& observers,
                   const Use& use) {
  const exir::SharedConstants shared = exir::shared_constants(observed.floats);
  for (const auto& [name, method] : observed.floats.methods) {
    if (observers.count(name) == 0) continue;
    const std::set<const exir::Node*> nodes =
        exir::annotate_method(*method.graph, observed.choices.at(name)).nodes;
    for (const exir::ChannelPair& pair : exir::channel_pairs(*method.graph, shared).pairs) {
      const auto all = {pair.first, pair.second};
      if (std::all_of(all.begin(), all.end(),
                      [&](const exir::Node* node) { return nodes.count(node) != 0; })) {
        use(name, pair);
      }
    }
  }
}

// Sums of means, of one method.
using Sums = std::vector<std::vector<double>>;

absl::Status add_means(const std::vector<runtime::EValue>& outputs,
                       const std::vector<std::string>& products, Sums* sums) {
  for (size_t o = 0; o < outputs.size(); ++o) {
    const runtime::Tensor tensor = outputs[o].toTensor();
    const auto* means = static_cast<const float*>(tensor.const_data_ptr());
    std::vector<double>& sum = (*sums)[o];
    sum.resize(static_cast<size_t>(tensor.numel()), 0);
    for (size_t c = 0; c < sum.size(); ++c) {
      if (!std::isfinite(means[c])) {
        return absl::InvalidArgumentError(
            absl::StrCat("channel ", c, " of '", products[o], "' is shifted by ", means[c]));
      }
      sum[c] += static_cast<double>(means[c]);
    }
  }
  return absl::OkStatus();
}

std::map<std::string, exir::ChannelShifts> shifts_of(const exir::Graph& graph,
                                                     const std::vector<std::string>& products,
                                                     const Sums& sums, size_t samples) {
  std::map<std::string, const exir::Node*> nodes;
  for (const auto& node : graph.nodes()) {
    if (node->num_results() > 0) nodes[node->result()->name()] = node.get();
  }
  std::map<std::string, exir::ChannelShifts> shifts;
  for (size_t o = 0; o < products.size(); ++o) {
    exir::ChannelShifts& made = shifts[products[o]];
    made.digest = exir::weight_digest(*nodes.at(products[o]));
    for (const double sum : sums[o]) {
      made.of_channels.push_back(static_cast<float>(sum / static_cast<double>(samples)));
    }
  }
  return shifts;
}

}  // namespace

void watch_pairs(const exir::ObservedProgram& observed, Observers* observers) {
  for_each_pair(observed, *observers, [&](const std::string& name, const exir::ChannelPair& pair) {
    for (const std::string& value : shown_between(pair, observed.methods.at(name))) {
      observers->at(name).watch_channels(value, pair.dim);
    }
  });
}

void equalise_pairs(exir::ObservedProgram* observed, Observers* observers) {
  for_each_pair(*observed, *observers, [&](const std::string& name, const exir::ChannelPair& pair) {
    const std::vector<std::string> between = shown_between(pair, observed->methods.at(name));
    Observer& observer = observers->at(name);
    std::vector<float> factors = exir::choose_factors(pair, observer.channels(between.back()));
    if (factors.empty()) return;
    for (const std::string& value : between) observer.divide(value, factors);
    observed->choices[name].equalised[pair.first->result()->name()] = std::move(factors);
  });
}

std::map<std::string, std::vector<std::string>> uneven_products(
    const exir::ObservedProgram& observed, const Observers& observers) {
  std::map<std::string, std::vector<std::string>> products;
  for_each_pair(observed, observers, [&](const std::string& name, const exir::ChannelPair& pair) {
    const std::vector<std::string> between = shown_between(pair, observed.methods.at(name));
    if (exir::choose_factors(pair, observers.at(name).channels(between.back())).empty()) return;
    products[name].push_back(pair.first->result()->name());
  });
  return products;
}

absl::Status measure_shifts(const CalibrateOptions& options, const exir::Program& floats,
                            exir::QuantizationRecord* record) {
  PETREL_ASSIGN_OR_RETURN(const exir::ShiftProgram shown,
                          exir::compile_shifts(options.model, floats, *record));
  PETREL_ASSIGN_OR_RETURN(const LoadedBytes program,
                          LoadedBytes::load(shown.bytes, options.registry));
  for (const std::string& name : methods_in_order(options)) {
    const std::vector<std::string>& products = shown.products.at(name);
    if (products.empty()) continue;
    PETREL_ASSIGN_OR_RETURN(MethodRunner runner, MethodRunner::open(program.module(), name));
    Sums sums(products.size());
    const auto see = [&](size_t, const std::vector<NpyArray>& sample) -> absl::Status {
      PETREL_ASSIGN_OR_RETURN(const std::vector<runtime::EValue> outputs, runner.run(sample));
      return add_means(outputs, products, &sums);
    };
    PETREL_ASSIGN_OR_RETURN(const size_t samples,
                            for_each_sample(options.samples.at(name), runner.inputs(), {}, see));
    record->methods[name].shifts =
        shifts_of(*floats.methods.at(name).graph, products, sums, samples);
  }
  return absl::OkStatus();
}

}  // namespace petrel::extension
