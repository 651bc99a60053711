// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/formats/json.h"

#include <cstddef>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"

namespace petrel::exir::plan {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", byte);
      result += escape;
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace

std::string format_json(const Problem& problem, const Solution& solution) {
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.6f", solution.seconds);
  std::string text = absl::StrCat(
      "{\"peak\": ", solution.peak, ", \"lower_bound\": ", solution.lower_bound,
      ", \"optimal\": ", solution.optimal ? "true" : "false", ", \"seconds\": ", seconds,
      ",\n \"method\": ", quoted(solution.method), ",\n \"pools\": [");
  for (size_t p = 0; p < problem.pools.size(); ++p) {
    absl::StrAppend(&text, p == 0 ? "" : ",\n  ", "{\"name\": ", quoted(problem.pools[p].name),
                    ", \"peak\": ", solution.pools[p].peak,
                    ", \"lower_bound\": ", solution.pools[p].lower_bound, "}");
  }
  text += "],\n \"buffers\": [";
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Placement& place = solution.placements[i];
    absl::StrAppend(&text, i == 0 ? "\n  " : ",\n  ", "{\"id\": ", quoted(problem.buffers[i].id),
                    ", \"pool\": ", quoted(problem.pools[place.pool].name),
                    ", \"offset\": ", place.offset, "}");
  }
  text += "]}\n";
  return text;
}

}  // namespace petrel::exir::plan
