// SPDX-License-Identifier: Apache-2.0
#include "test/conformance/graphs.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace petrel::conformance {
namespace {

std::string chain(const Fixture& fixture, const std::vector<std::string>& weights,
                  bool all_results) {
  const std::string& weight_type = fixture.weight_type.empty() ? fixture.type : fixture.weight_type;
  std::string text = absl::StrCat("method @forward(%x: ", fixture.type, ") {\n");
  for (const std::string& weight : std::set<std::string>(weights.begin(), weights.end())) {
    if (weight.empty()) continue;
    absl::StrAppend(&text, "  %", weight, " = constant @", weight, " : ", weight_type, "\n");
  }
  std::string last = "%x";
  std::vector<std::string> results;
  for (size_t i = 0; i < weights.size(); ++i) {
    const std::string& op = weights[i].empty() ? fixture.barrier : fixture.step;
    const std::string name = absl::StrCat("%v", i);
    absl::StrAppend(&text, "  ", name, " = ",
                    absl::StrReplaceAll(op, {{"$x", last}, {"$w", absl::StrCat("%", weights[i])}}),
                    " : ", fixture.type, "\n");
    last = name;
    results.push_back(name);
  }
  if (!all_results) results = {last};
  return absl::StrCat(text, "  return ", absl::StrJoin(results, ", "), "\n}\n");
}

}  // namespace

std::string steps(const Fixture& fixture, const std::vector<std::string>& weights) {
  return chain(fixture, weights, /*all_results=*/false);
}

std::string steps_with_all_results(const Fixture& fixture,
                                   const std::vector<std::string>& weights) {
  return chain(fixture, weights, /*all_results=*/true);
}

}  // namespace petrel::conformance
