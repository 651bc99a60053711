// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/keep_float_search.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exir/driver/trial.h"
#include "exir/quantize/annotate_graph.h"
#include "exir/quantize/layers.h"
#include "exir/status_macros.h"
#include "extension/quantize/judge.h"
#include "extension/quantize/runnable_options.h"

namespace petrel::extension {
namespace {

// Samples that the gain of one layer is measured on, about.
constexpr size_t kSamplesForGain = 32;

// A layer: nodes that stay float together.
struct Unit {
  std::string method;
  std::vector<std::string> nodes;
  std::string why;
};

using Kept = std::set<size_t>;  // units

// Layers that are tried together: one, or all that read or make the values of
// one scale. Where it is the scale that shows a value badly, one of them alone
// changes nothing.
struct Candidate {
  Kept units;
  double gain = 0;  // of relative noise, for each unit
};

// What layers there are to try: integers alone have none that backends at the border lack.
exir::QuantTarget target_of(const exir::ExportOptions& model) {
  return model.integers || !model.io_dtype.empty() ? exir::QuantTarget::kBackendsAtBorder
                                                   : exir::QuantTarget::kBackends;
}

class Search {
 public:
  Search(const CalibrateOptions& options, exir::ObservedProgram* observed,
         const exir::SeenRanges& ranges, const exir::SeenHistograms& histograms, Judge judge)
      : options_(options),
        model_(options_to_run(options)),
        target_(target_of(options.model)),
        observed_(*observed),
        ranges_(ranges),
        histograms_(histograms),
        judge_(std::move(judge)),
        given_(observed_.choices) {}

  absl::StatusOr<KeptFloat> run() {
    find_units();
    PETREL_ASSIGN_OR_RETURN(const Verdict all, measure({}, 1));
    if (meets(all)) return kept_of({}, all);
    PETREL_RETURN_IF_ERROR(measure_gains(all));
    PETREL_ASSIGN_OR_RETURN(Kept kept, fewest());
    PETREL_RETURN_IF_ERROR(give_back(&kept));
    KeptFloat result;
    PETREL_ASSIGN_OR_RETURN(result, kept_of(kept, met_));
    if (has_integers()) return result;
    return absl::InvalidArgumentError(
        absl::StrCat("no layer can compute with integers within the budget: ", budget_text(),
                     "; with all of them ", describe(all)));
  }

 private:
  // What is joined in levels is tried together, also where backends compute a product otherwise:
  // an activation whose product alone is kept float would take numbers that nobody has seen.
  void find_units() {
    for (const auto& [name, method] : observed_.floats.methods) {
      const exir::MethodQuantization& given = given_.at(name);
      std::set<const exir::Node*> quantised;
      for (const exir::Layer& layer : exir::layers_of(*method.graph, given, target_)) {
        if (layer.is_quantised) quantised.insert(layer.nodes.begin(), layer.nodes.end());
      }
      exir::MethodQuantization in_levels = given;
      in_levels.on_backends.clear();
      std::map<const exir::Value*, Kept> touched;  // by value
      for (const exir::Layer& layer : exir::layers_of(*method.graph, in_levels, target_)) {
        if (std::none_of(layer.nodes.begin(), layer.nodes.end(),
                         [&](const exir::Node* node) { return quantised.count(node) != 0; })) {
          continue;
        }
        add_unit(name, layer, &touched);
      }
      if (given.scheme == exir::QuantScheme::kStaticInt8) {
        add_groups(*method.graph, given, touched);
      }
    }
  }

  void add_unit(const std::string& method, const exir::Layer& layer,
                std::map<const exir::Value*, Kept>* touched) {
    Unit unit;
    unit.method = method;
    for (const exir::Node* node : layer.nodes) {
      unit.nodes.push_back(node->result()->name());
      (*touched)[node->result()].insert(units_.size());
      for (const exir::Value* operand : node->operands()) {
        (*touched)[operand].insert(units_.size());
      }
    }
    candidates_.push_back({{units_.size()}});
    units_.push_back(std::move(unit));
  }

  void add_groups(const exir::Graph& graph, const exir::MethodQuantization& method,
                  const std::map<const exir::Value*, Kept>& touched) {
    for (const auto& group : exir::annotate_method(graph, method, target_).groups) {
      Candidate candidate;
      for (const exir::Value* value : group) {
        const auto found = touched.find(value);
        if (found != touched.end()) {
          candidate.units.insert(found->second.begin(), found->second.end());
        }
      }
      if (candidate.units.size() > 1) candidates_.push_back(std::move(candidate));
    }
  }

  absl::StatusOr<exir::QuantizationRecord> record_of(const Kept& kept) {
    observed_.choices = given_;
    for (const size_t unit : kept) {
      exir::MethodQuantization& choice = observed_.choices[units_[unit].method];
      for (const std::string& node : units_[unit].nodes) {
        choice.keep_float[node] = units_[unit].why;
        choice.on_backends.erase(node);
      }
    }
    return observed_.choose(ranges_, histograms_);
  }

  absl::StatusOr<KeptFloat> kept_of(const Kept& kept, const Verdict& verdict) {
    KeptFloat result;
    PETREL_ASSIGN_OR_RETURN(result.record, record_of(kept));
    if (judge_.has_labels()) {
      result.told = {judge_.labels(), judge_.floats().right, verdict.right};
    }
    return result;
  }

  // Whether a layer computes with integers by the choices: one that is not kept float stays it
  // where nothing beside it has integers, as what moves elements does without a product.
  bool has_integers() const {
    for (const auto& [name, method] : observed_.floats.methods) {
      const auto layers = exir::layers_of(*method.graph, observed_.choices.at(name), target_);
      if (std::any_of(layers.begin(), layers.end(),
                      [](const exir::Layer& layer) { return layer.is_quantised; })) {
        return true;
      }
    }
    return false;
  }

  absl::StatusOr<Verdict> measure(const Kept& kept, size_t step) {
    PETREL_ASSIGN_OR_RETURN(const exir::QuantizationRecord record, record_of(kept));
    PETREL_ASSIGN_OR_RETURN(const std::string bytes,
                            exir::compile_quantised(model_, observed_.floats, record));
    return judge_.judge(bytes, step);
  }

  double drop(const Verdict& verdict) const {
    const auto lost =
        static_cast<double>(judge_.floats().right) - static_cast<double>(verdict.right);
    return 100 * lost / static_cast<double>(std::max<size_t>(judge_.labels(), 1));
  }

  bool meets(const Verdict& verdict) const {
    const KeepBudget& budget = options_.budget;
    if (budget.min_sqnr && !(verdict.decibels >= *budget.min_sqnr)) return false;
    return !judge_.has_labels() || drop(verdict) <= budget.max_drop;
  }

  std::string describe(const Verdict& verdict) const {
    std::string text = absl::StrFormat("signal to noise is %.1f dB", verdict.decibels);
    if (!judge_.has_labels()) return text;
    return absl::StrCat(text, ", and ", verdict.right, " of ", judge_.labels(),
                        " labels are told, in floats ", judge_.floats().right);
  }

  std::string budget_text() const {
    std::string text;
    if (options_.budget.min_sqnr) {
      text = absl::StrCat("at least ", *options_.budget.min_sqnr, " dB");
    }
    if (!judge_.has_labels()) return text;
    return absl::StrCat(text, text.empty() ? "" : ", and ", "at most ", options_.budget.max_drop,
                        " % of accuracy lost");
  }

  void tell(const std::string& phase) const {
    if (options_.model.on_phase) options_.model.on_phase(phase);
  }

  // `all`: of every sample with nothing kept.
  absl::Status measure_gains(Verdict all) {
    const size_t step = has_state() ? 1 : std::max<size_t>(1, judge_.samples() / kSamplesForGain);
    if (step > 1) {
      PETREL_ASSIGN_OR_RETURN(all, measure({}, step));
    }
    for (size_t i = 0; i < candidates_.size(); ++i) {
      tell(absl::StrCat("trial ", i + 1, " of ", candidates_.size()));
      Candidate& candidate = candidates_[i];
      PETREL_ASSIGN_OR_RETURN(const Verdict without, measure(candidate.units, step));
      candidate.gain = (all.noise - without.noise) / static_cast<double>(candidate.units.size());
      const char* const others =
          candidate.units.size() == 1 ? "" : " and what shares a scale with it";
      for (const size_t unit : candidate.units) {
        double& best = best_.emplace(unit, candidate.gain).first->second;
        if (!units_[unit].why.empty() && candidate.gain <= best) continue;
        best = candidate.gain;
        units_[unit].why = absl::StrFormat("outputs have %.1f dB, %.1f dB with it%s in floats",
                                           all.decibels, without.decibels, others);
      }
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
    return absl::OkStatus();
  }

  // What one sample leaves behind is there for the next: none can be left out.
  bool has_state() const {
    return std::any_of(
        observed_.floats.methods.begin(), observed_.floats.methods.end(),
        [](const auto& entry) { return !entry.second.graph->buffer_writes().empty(); });
  }

  // The units of the first candidates, as few as meet the budget. Noise falls
  // as more of them are float.
  absl::StatusOr<Kept> fewest() {
    size_t too_few = 0;
    size_t enough = candidates_.size();
    while (enough - too_few > 1) {
      const size_t count = too_few + (enough - too_few) / 2;
      const Kept kept = units_of(count);
      tell(absl::StrCat("keep ", kept.size(), " layers"));
      if (kept.size() == units_.size()) {
        enough = count;
        continue;
      }
      PETREL_ASSIGN_OR_RETURN(const Verdict verdict, measure(kept, 1));
      const bool is_enough = meets(verdict);
      if (is_enough) met_ = verdict;
      (is_enough ? enough : too_few) = count;
    }
    return units_of(enough);
  }

  Kept units_of(size_t count) const {
    Kept kept;
    for (size_t i = 0; i < count; ++i) {
      kept.insert(candidates_[i].units.begin(), candidates_[i].units.end());
    }
    return kept;
  }

  // Those that gained least first.
  absl::Status give_back(Kept* kept) {
    std::vector<size_t> by_gain(kept->begin(), kept->end());
    std::stable_sort(by_gain.begin(), by_gain.end(),
                     [&](size_t a, size_t b) { return best_.at(a) < best_.at(b); });
    for (const size_t unit : by_gain) {
      Kept fewer = *kept;
      fewer.erase(unit);
      tell(absl::StrCat("keep ", fewer.size(), " layers"));
      PETREL_ASSIGN_OR_RETURN(const Verdict verdict, measure(fewer, 1));
      if (!meets(verdict)) continue;
      met_ = verdict;
      *kept = std::move(fewer);
    }
    return absl::OkStatus();
  }

  const CalibrateOptions& options_;
  const exir::ExportOptions model_;
  const exir::QuantTarget target_;
  exir::ObservedProgram& observed_;
  const exir::SeenRanges& ranges_;
  const exir::SeenHistograms& histograms_;
  const Judge judge_;
  const std::map<std::string, exir::MethodQuantization> given_;
  std::vector<Unit> units_;
  std::vector<Candidate> candidates_;
  std::map<size_t, double> best_;  // gain of a unit, alone or with others
  Verdict met_;  // of the units that are kept; where all are, no integers are left
};

}  // namespace

absl::StatusOr<KeptFloat> search_keep_float(const CalibrateOptions& options,
                                            exir::ObservedProgram* observed,
                                            const exir::SeenRanges& ranges,
                                            const exir::SeenHistograms& histograms) {
  if (methods_in_order(options).empty()) {
    return absl::InvalidArgumentError("a budget needs samples, and there are none");
  }
  PETREL_ASSIGN_OR_RETURN(Judge judge, Judge::make(options, observed->float_bytes));
  return Search(options, observed, ranges, histograms, std::move(judge)).run();
}

}  // namespace petrel::extension
