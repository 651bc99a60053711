// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/formats/json.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/json/json_text.h"

namespace petrel::exir::plan {

using nlohmann::ordered_json;

std::string format_json(const Problem& problem, const Solution& solution) {
  ordered_json json = {
      {"peak", solution.peak},       {"lower_bound", solution.lower_bound},
      {"optimal", solution.optimal}, {"seconds", std::round(solution.seconds * 1e6) / 1e6},
      {"method", solution.method},   {"pools", ordered_json::array()}};
  for (size_t p = 0; p < problem.pools.size(); ++p) {
    json["pools"].push_back({{"name", problem.pools[p].name},
                             {"peak", solution.pools[p].peak},
                             {"lower_bound", solution.pools[p].lower_bound}});
  }
  std::vector<std::string> buffers;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Placement& place = solution.placements[i];
    buffers.push_back(json_text({{"id", problem.buffers[i].id},
                                 {"pool", problem.pools[place.pool].name},
                                 {"offset", place.offset}}));
  }
  std::string text = json_text(json);
  text.pop_back();  // its closing brace
  return absl::StrCat(text, ",\"buffers\":[\n", absl::StrJoin(buffers, ",\n"), "]}\n");
}

}  // namespace petrel::exir::plan
