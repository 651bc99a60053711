// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/round_weights.h"

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/quantize/dynamic_graph.h"
#include "exir/quantize/round_with_inputs.h"
#include "exir/quantize/stored_weights.h"
#include "exir/status_macros.h"
#include "extension/npy/tensor_array.h"
#include "extension/quantize/method_runner.h"

namespace petrel::extension {
namespace {

// A weight, and the values that are multiplied by it: method and name.
struct Job {
  exir::ConstantPtr weight;
  bool is_transposed = false;
  int64_t group = 0;
  size_t k = 0;
  std::set<std::pair<std::string, std::string>> rows;
};

using Jobs = std::map<std::string, Job>;  // by the name of what is stored
using Grams = std::map<std::pair<std::string, std::string>, exir::GramMatrix>;

Jobs find_jobs(const exir::ObservedProgram& observed) {
  Jobs jobs;
  for (const auto& [name, method] : observed.floats.methods) {
    const exir::MethodQuantization& choice = observed.choices.at(name);
    for (const exir::RowProduct& product : exir::row_products(*method.graph, choice)) {
      Job& job = jobs[exir::name_in_groups(*product.weight, product.is_transposed, choice.group)];
      job.weight = product.weight;
      job.is_transposed = product.is_transposed;
      job.group = choice.group;
      job.k = static_cast<size_t>(product.weight->type.sizes[product.is_transposed ? 0 : 1]);
      job.rows.insert({name, product.rows->name()});
    }
  }
  return jobs;
}

absl::Status add_rows(const std::string& value, const NpyArray& array, exir::GramMatrix* gram) {
  const auto* elements = reinterpret_cast<const float*>(array.data.data());
  const size_t count = array.data.size() / sizeof(float);
  for (size_t i = 0; i < count; ++i) {
    if (std::isfinite(elements[i])) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("value '", value, "', which is multiplied: element ", i, " is ", elements[i]));
  }
  gram->add(elements, count / gram->size());
  return absl::OkStatus();
}

// Runs all samples of a method, in the state that those before it left.
absl::StatusOr<size_t> see_method(const std::vector<std::string>& files, const std::string& name,
                                  const exir::ObservedMethod& method, MethodRunner runner,
                                  Grams* grams) {
  const auto add = [&](const std::string& value, const NpyArray& array) {
    const auto gram = grams->find({name, value});
    return gram == grams->end() ? absl::OkStatus() : add_rows(value, array, &gram->second);
  };
  const auto see = [&](size_t, const std::vector<NpyArray>& sample) -> absl::Status {
    for (size_t k = 0; k < sample.size(); ++k) {
      PETREL_RETURN_IF_ERROR(add(method.inputs[runner.places()[k]], sample[k]));
    }
    PETREL_ASSIGN_OR_RETURN(const std::vector<runtime::EValue> outputs, runner.run(sample));
    for (size_t o = 0; o < outputs.size(); ++o) {
      PETREL_RETURN_IF_ERROR(add(method.outputs[o], to_npy(outputs[o].toTensor())));
    }
    return absl::OkStatus();
  };
  PETREL_ASSIGN_OR_RETURN(const size_t samples, for_each_sample(files, runner.inputs(), {}, see));
  if (samples > 0) return samples;
  return absl::InvalidArgumentError(
      absl::StrCat("the files of method '", name, "' hold no samples"));
}

absl::Status see_all(const CalibrateOptions& options, const exir::ObservedProgram& observed,
                     Grams* grams, std::map<std::string, size_t>* samples) {
  PETREL_ASSIGN_OR_RETURN(const LoadedBytes program,
                          LoadedBytes::load(observed.bytes, options.registry));
  for (const std::string& name : methods_in_order(options)) {
    PETREL_ASSIGN_OR_RETURN(MethodRunner runner, MethodRunner::open(program.module(), name));
    PETREL_ASSIGN_OR_RETURN((*samples)[name],
                            see_method(options.samples.at(name), name, observed.methods.at(name),
                                       std::move(runner), grams));
  }
  return absl::OkStatus();
}

absl::StatusOr<exir::ChosenRounding> round_one(const Job& job, const Grams& grams) {
  PETREL_ASSIGN_OR_RETURN(const exir::WeightRows rows,
                          exir::rows_of_weight(*job.weight, job.is_transposed));
  exir::GramMatrix all(rows.k);
  for (const auto& value : job.rows) all.add(grams.at(value));
  exir::ChosenRounding rounding;
  rounding.digest = exir::to_hex(job.weight->data.sha256());
  rounding.weight = std::make_shared<exir::RoundedWeight>(
      exir::round_with_inputs(rows.values, rows.n, rows.k, static_cast<size_t>(job.group), all));
  return rounding;
}

}  // namespace

absl::StatusOr<std::map<std::string, exir::ChosenRounding>> round_weights(
    const CalibrateOptions& options, const exir::ObservedProgram& observed,
    std::map<std::string, size_t>* samples) {
  std::map<std::string, exir::ChosenRounding> roundings;
  const Jobs jobs = find_jobs(observed);
  for (auto next = jobs.begin(); next != jobs.end();) {
    // As many as there is memory for, and one at least.
    const auto first = next;
    Grams grams;
    uint64_t bytes = 0;
    for (; next != jobs.end(); ++next) {
      const uint64_t more = uint64_t{next->second.k} * next->second.k * sizeof(double);
      if (next != first && bytes + more > kMostGramBytes) break;
      for (const auto& value : next->second.rows) {
        if (grams.emplace(value, exir::GramMatrix(next->second.k)).second) bytes += more;
      }
    }
    PETREL_RETURN_IF_ERROR(see_all(options, observed, &grams, samples));
    for (auto job = first; job != next; ++job) {
      if (options.model.on_phase) options.model.on_phase(absl::StrCat("round ", job->first));
      PETREL_ASSIGN_OR_RETURN(roundings[job->first], round_one(job->second, grams));
    }
  }
  return roundings;
}

}  // namespace petrel::extension
