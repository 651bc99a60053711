// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/backend.h"

#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/status_macros.h"

namespace petrel::exir {
std::string Subprogram::describe() const {
  return absl::StrCat("method '", method, "', partition ", index);
}

bool Partitioner::keeps(const OpInfo&) const { return false; }

std::string Partitioner::group(const Node&) const { return ""; }

bool Partitioner::worthwhile(const std::vector<const Node*>&) const { return true; }

bool Partitioner::takes_varying_sizes() const { return false; }

std::optional<GroupCosts> Partitioner::costs(const Graph&) const { return std::nullopt; }

size_t Partitioner::most_inputs_and_outputs() const { return std::numeric_limits<size_t>::max(); }

Support support_of(const Partitioner& partitioner, const Node& node) {
  if (node.op().has(kInPlace)) return Support::no("works in place");
  if (node.is_random()) {
    return Support::no("draws random numbers, which the runtime does in the order of the model");
  }
  std::vector<const Value*> values;
  for (const Value* operand : node.operands()) values.push_back(operand);
  for (size_t i = 0; i < node.num_results(); ++i) values.push_back(node.result(i));
  for (const Value* value : values) {
    if (!value->type().is_dynamic() || partitioner.takes_varying_sizes()) continue;
    return Support::no(absl::StrCat("'", value->name(), "' is ", to_string(value->type()),
                                    ", which varies, and the backend takes only fixed sizes"));
  }
  return partitioner.supports(node);
}

absl::Status Backend::check_compile_specs(const std::vector<CompileSpec>& specs) const {
  if (specs.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "backend '", id(), "' does not know compile spec '", specs.front().key, "', it takes none"));
}

absl::StatusOr<PreprocessResult> Backend::preprocess(const Subprogram&, RoutedBlobStore&) const {
  return absl::UnimplementedError(
      absl::StrCat("backend '", id(), "' has neither preprocess nor preprocess_all"));
}

absl::StatusOr<ResultMap> Backend::preprocess_all(const SubprogramMap& partitions,
                                                  RoutedBlobStore& store) const {
  ResultMap results;
  for (const auto& [method, subprograms] : partitions) {
    std::vector<PreprocessResult>& of_method = results[method];
    for (const Subprogram& partition : subprograms) {
      absl::StatusOr<PreprocessResult> result = preprocess(partition, store);
      if (!result.ok()) return annotate(result.status(), partition.describe());
      of_method.push_back(*std::move(result));
    }
  }
  return results;
}

std::string Backend::target() const { return "c"; }

absl::StatusOr<CDelegate> Backend::to_c(const LoweredPartition&, const std::string&) const {
  CDelegate delegate;
  delegate.driver = driver_name(id());
  return delegate;
}

std::string driver_name(const std::string& backend_id) {
  std::string name;
  bool after_small = false;
  for (const char c : backend_id) {
    const bool is_word = absl::ascii_isalnum(static_cast<unsigned char>(c));
    if (after_small && absl::ascii_isupper(static_cast<unsigned char>(c))) name += '_';
    name += is_word ? absl::ascii_tolower(static_cast<unsigned char>(c)) : '_';
    after_small = absl::ascii_islower(static_cast<unsigned char>(c)) ||
                  absl::ascii_isdigit(static_cast<unsigned char>(c));
  }
  return name;
}

}  // namespace petrel::exir
