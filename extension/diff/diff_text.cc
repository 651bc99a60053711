// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "extension/diff/diff.h"
#include "extension/export/columns.h"
#include "extension/export/json_number.h"
#include "extension/export/quantity.h"

namespace petrel::extension {
namespace {

using nlohmann::ordered_json;

// "Conv2d at 0:4/3".
std::string describe(const TraceValue& value) {
  return absl::StrCat(value.op, " at ", value.place);
}

std::string verdict(const DiffRow& row) {
  if (row.difference.is_within) return "";
  return row.is_culprit ? "DIFFERS, inputs do not" : "differs";
}

std::string count(size_t number, const char* one, const char* many) {
  return absl::StrCat(number, " ", number == 1 ? one : many);
}

std::string table(const Diff& diff, bool all_rows) {
  std::vector<std::vector<std::string>> lines = {
      {"second program", "first program", "value", "largest", "dB", ""}};
  for (const DiffRow& row : diff.rows) {
    if (row.difference.is_within && !all_rows) continue;
    lines.push_back({describe(diff.b.values[row.b]), describe(diff.a.values[row.a]),
                     diff.b.values[row.b].type_text(),
                     absl::StrFormat("%.3g", row.difference.max_abs),
                     format_decibels(row.difference.sqnr), verdict(row)});
  }
  if (lines.size() == 1) return "";
  return columns(lines);
}

std::string describe_difference(const Difference& difference) {
  std::string text = absl::StrFormat("element %d is %.6g, was %.6g; signal to noise %s dB",
                                     static_cast<int64_t>(difference.at), difference.second,
                                     difference.first, format_decibels(difference.sqnr));
  if (difference.only_nan > 0) {
    absl::StrAppend(&text, "; NaN or infinite on one side only: ", difference.only_nan);
  }
  return text;
}

ordered_json side(const TraceValue& value) {
  ordered_json json;
  json["place"] = value.place;
  json["op"] = value.op;
  json["shape"] = value.array.shape;
  json["dtype"] = runtime::to_string(value.array.type);
  if (value.scale) {
    json["scale"] = value.scale->scale;
    json["zero_point"] = value.scale->zero_point;
  }
  return json;
}

ordered_json sides(const ValueTrace& trace, const std::vector<size_t>& values) {
  ordered_json list = ordered_json::array();
  for (const size_t value : values) list.push_back(side(trace.values[value]));
  return list;
}

}  // namespace

std::string to_text(const Diff& diff, bool all_rows) {
  std::string text = table(diff, all_rows);
  if (!diff.other_parameters.empty()) {
    absl::StrAppend(&text, "the device has other parameters, ",
                    count(diff.other_parameters.size(), "differs", "differ"), ", first ",
                    diff.other_parameters[0], ": what is computed with them differs, too\n");
  }
  absl::StrAppend(&text, "matched by ", to_string(diff.how), ": ",
                  count(diff.rows.size(), "value", "values"), "; without a match ",
                  diff.unmatched_a.size(), " of the first program and ", diff.unmatched_b.size(),
                  " of the second\n");
  for (const ValueTrace* trace : {&diff.a, &diff.b}) {
    for (const std::string& closed : trace->closed) {
      absl::StrAppend(&text, "values inside of delegate ", closed, " of the ",
                      trace == &diff.a ? "first" : "second", " program cannot be seen\n");
    }
  }
  if (diff.is_equal()) {
    absl::StrAppend(&text, diff.rows.empty() ? "nothing was compared\n" : "no value differs\n");
    return text;
  }
  absl::StrAppend(&text, count(diff.differing.size(), "value differs", "values differ"), ", first ",
                  describe(diff.b.values[diff.rows[diff.differing[0]].b]), "\n");
  for (const size_t place : diff.culprits) {
    const DiffRow& row = diff.rows[place];
    absl::StrAppend(&text, "inputs are alike, the result is not: ", describe(diff.b.values[row.b]),
                    "\n  beside ", describe(diff.a.values[row.a]), ": ",
                    describe_difference(row.difference), "\n");
    if (row.between.empty()) continue;
    absl::StrAppend(&text, "  without a match before it:\n");
    for (const size_t value : row.between) {
      absl::StrAppend(&text, "    ", describe(diff.b.values[value]), "\n");
    }
  }
  return text;
}

std::string to_json(const Diff& diff) {
  ordered_json json;
  json["equal"] = diff.is_equal();
  json["matched_by"] = to_string(diff.how);
  json["matched"] = diff.rows.size();
  json["unmatched_first"] = sides(diff.a, diff.unmatched_a);
  json["unmatched_second"] = sides(diff.b, diff.unmatched_b);
  json["values"] = ordered_json::array();
  for (const DiffRow& row : diff.rows) {
    ordered_json value;
    value["first"] = side(diff.a.values[row.a]);
    value["second"] = side(diff.b.values[row.b]);
    value["differs"] = !row.difference.is_within;
    value["culprit"] = row.is_culprit;
    value["max_abs"] = row.difference.max_abs;
    value["sqnr_db"] = json_number(row.difference.sqnr);
    value["elements_beyond"] = row.difference.beyond;
    value["only_nan"] = row.difference.only_nan;
    if (!row.between.empty()) value["between"] = sides(diff.b, row.between);
    json["values"].push_back(std::move(value));
  }
  json["culprits"] = diff.culprits;
  json["other_parameters"] = diff.other_parameters;
  json["first_difference"] = nullptr;
  if (!diff.is_equal()) json["first_difference"] = diff.differing[0];
  // A device may say names that are no UTF-8.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace petrel::extension
