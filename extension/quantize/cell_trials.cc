// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/cell_trials.h"

#include <limits>
#include <string>

#include "exir/quantize/annotate_graph.h"
#include "exir/quantize/dynamic_graph.h"
#include "exir/quantize/integer_roles.h"
#include "exir/quantize/recurrent_products.h"
#include "exir/status_macros.h"
#include "extension/quantize/judge.h"

namespace petrel::extension {
namespace {

using exir::BackendForm;
using exir::BackendForms;

// Of power, beside that with cells in floats: a quarter of a dB.
constexpr double kMostNoise = 1.06;

bool takes_rows(const exir::Node& node, const exir::MethodQuantization& choice) {
  return exir::product_weight(node) != nullptr &&
         choice.keep_float.count(node.result()->name()) == 0 &&
         exir::misfit_of_rows(node, choice).empty();
}

BackendForms forms_of(const exir::Graph& graph, const exir::MethodQuantization& choice,
                      CellForm form) {
  BackendForms forms;
  for (const exir::Node* node : exir::recurrent_products(graph)) {
    if (form == CellForm::kFloat) forms[node->result()->name()] = BackendForm::kFloat;
    if (form == CellForm::kRows && takes_rows(*node, choice)) {
      forms[node->result()->name()] = BackendForm::kRows;
    }
  }
  if (form != CellForm::kAllRows) return forms;
  for (const auto& node : graph.nodes()) {
    if (takes_rows(*node, choice)) forms[node->result()->name()] = BackendForm::kRows;
  }
  return forms;
}

bool has_cells(const exir::ObservedProgram& observed) {
  for (const auto& [name, method] : observed.floats.methods) {
    if (!exir::recurrent_products(*method.graph).empty()) return true;
  }
  return false;
}

// Whether a product is left that computes with integers.
bool has_products(const exir::ObservedProgram& observed) {
  for (const auto& [name, method] : observed.floats.methods) {
    const auto annotation = exir::annotate_method(*method.graph, observed.choices.at(name));
    for (const exir::Node* node : annotation.nodes) {
      if (exir::product_weight(*node) != nullptr) return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<CellForm> try_cells(const exir::SeenRanges& ranges, Trials* trials) {
  exir::ObservedProgram& observed = trials->observed();
  if (!has_cells(observed)) return CellForm::kNone;
  const auto take = [&](CellForm form) {
    for (auto& [name, choice] : observed.choices) {
      choice.on_backends = forms_of(*observed.floats.methods.at(name).graph, choice, form);
    }
  };
  take(CellForm::kFloat);
  const bool can_be_float = has_products(observed);
  double most = std::numeric_limits<double>::infinity();
  if (can_be_float) {
    PETREL_ASSIGN_OR_RETURN(most, trials->noise(ranges, {}, kMostJudged));
    most *= kMostNoise;
  }
  CellForm best = CellForm::kFloat;
  double least = most;
  for (const CellForm form : {CellForm::kLevels, CellForm::kRows, CellForm::kAllRows}) {
    take(form);
    PETREL_ASSIGN_OR_RETURN(const double noise, trials->noise(ranges, {}, kMostJudged));
    if (can_be_float && form == CellForm::kLevels && noise <= most) return form;
    const bool is_only = !can_be_float && form == CellForm::kLevels;
    if (!(noise < least) && !is_only) continue;
    best = form;
    least = noise;
  }
  take(best);
  return best;
}

}  // namespace petrel::extension
