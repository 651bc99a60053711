// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/quantization_report.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exir/status_macros.h"
#include "extension/export/columns.h"
#include "extension/export/json_number.h"
#include "extension/export/quantity.h"
#include "extension/quantize/report_picture.h"

namespace petrel::extension {
namespace {

using nlohmann::ordered_json;

std::string computes(const exir::TrialLayer& layer, const exir::MethodQuantization& method) {
  if (!layer.is_quantised) return "float";
  switch (method.scheme) {
    case exir::QuantScheme::kStaticInt8:
      return "int8";
    case exir::QuantScheme::kDynamicInt8:
      return "int8 rows";
    case exir::QuantScheme::kDynamicInt4:
      return absl::StrCat("int4 groups of ", method.group);
    case exir::QuantScheme::kHalf:
      return "half";
  }
  return "";
}

std::string weights(const exir::TrialLayer& layer) {
  if (layer.float_bytes == 0) return "";
  const std::string before = format_bytes(static_cast<uint64_t>(layer.float_bytes));
  if (layer.stored_bytes == layer.float_bytes) return before;
  return absl::StrCat(before, " to ", format_bytes(static_cast<uint64_t>(layer.stored_bytes)));
}

std::string range(const LayerReport& layer) {
  if (!layer.numbers) return "";
  return absl::StrFormat("%.3g to %.3g", layer.numbers->range.min, layer.numbers->range.max);
}

std::string layer_table(const MethodReport& method) {
  std::vector<std::vector<std::string>> rows = {{"layer", "operators", "computes", "dB", "largest",
                                                 "range", "weights", "why float", "channels"}};
  for (const LayerReport& layer : method.layers) {
    rows.push_back({layer.layer.name, layer.layer.operators, layer.computes,
                    layer.noise ? format_decibels(layer.noise->decibels) : "",
                    layer.noise ? absl::StrFormat("%.3g", layer.noise->largest) : "", range(layer),
                    weights(layer.layer), layer.layer.float_reason, layer.layer.channels});
  }
  return columns(rows, "  ");
}

ordered_json json_of(const LayerReport& layer) {
  ordered_json json = {{"layer", layer.layer.name},
                       {"operators", layer.layer.operators},
                       {"computes", layer.computes},
                       {"source", layer.layer.location}};
  if (layer.noise) {
    json["sqnr_db"] = json_number(layer.noise->decibels);
    json["max_abs"] = json_number(layer.noise->largest);
  }
  if (layer.numbers) {
    json["min"] = layer.numbers->range.min;
    json["max"] = layer.numbers->range.max;
    json["scale"] = layer.numbers->numbers.scale;
    json["zero_point"] = layer.numbers->numbers.zero_point;
  }
  if (!layer.layer.channels.empty()) json["channels"] = layer.layer.channels;
  json["float_bytes"] = layer.layer.float_bytes;
  json["stored_bytes"] = layer.layer.stored_bytes;
  if (!layer.layer.is_quantised) json["why_float"] = layer.layer.float_reason;
  return json;
}

}  // namespace

absl::StatusOr<QuantizationReport> measure_quantization(const CalibrateOptions& options,
                                                        const exir::QuantizationRecord& record) {
  PETREL_ASSIGN_OR_RETURN(const exir::Trial trial, exir::compile_trial(options.model, record));
  PETREL_ASSIGN_OR_RETURN(const NoiseByMethod noise,
                          compare_outputs(options, trial.floats, trial.quantised));
  QuantizationReport report;
  report.float_bytes = trial.floats.size();
  for (const auto& [name, method] : trial.methods) {
    MethodReport& made = report.methods[name];
    std::map<size_t, OutputNoise> by_place;
    if (const auto measured = noise.find(name); measured != noise.end()) {
      for (const OutputNoise& output : measured->second) by_place[output.output] = output;
      made.samples = measured->second.front().samples;
    }
    const exir::MethodQuantization& choices = record.methods.at(name);
    for (size_t i = 0; i < method.layers.size(); ++i) {
      LayerReport layer;
      layer.layer = method.layers[i];
      layer.computes = computes(layer.layer, choices);
      if (const auto seen = by_place.find(i); seen != by_place.end()) layer.noise = seen->second;
      const auto value = choices.values.find(layer.layer.name);
      if (value != choices.values.end()) layer.numbers = value->second;
      made.layers.push_back(std::move(layer));
    }
    for (size_t i = 0; i < method.outputs.size(); ++i) {
      const auto seen = by_place.find(method.layers.size() + i);
      if (seen == by_place.end()) continue;
      made.outputs.push_back(seen->second);
      made.outputs.back().output = method.outputs[i];
    }
  }
  return report;
}

absl::Status check_report_path(const std::string& path) {
  for (const char* ending : {".txt", ".json", ".svg"}) {
    if (absl::EndsWith(path, ending)) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("report '", path, "' must end in .txt, .json or .svg"));
}

std::string format_report(const QuantizationReport& report, const std::string& path) {
  if (absl::EndsWith(path, ".json")) return format_json(report);
  return absl::EndsWith(path, ".svg") ? format_svg(report) : format_text(report);
}

std::string format_text(const QuantizationReport& report) {
  std::string text;
  for (const auto& [name, method] : report.methods) {
    absl::StrAppend(&text, "method '", name, "': ", method.samples,
                    method.samples == 1 ? " sample\n" : " samples\n", layer_table(method));
    for (const OutputNoise& output : method.outputs) {
      absl::StrAppend(&text, "  output ", output.output, ": signal to noise ",
                      format_decibels(output.decibels), " dB, largest difference ",
                      absl::StrFormat("%.3g", output.largest), "\n");
    }
  }
  absl::StrAppend(&text, "files: ", format_bytes(report.float_bytes), " in floats");
  if (report.quantised_bytes != 0) {
    absl::StrAppend(&text, ", ", format_bytes(report.quantised_bytes), " as written");
  }
  return text + "\n";
}

std::string format_json(const QuantizationReport& report) {
  ordered_json json = {{"format", 1},
                       {"float_bytes", report.float_bytes},
                       {"written_bytes", report.quantised_bytes},
                       {"methods", ordered_json::object()}};
  for (const auto& [name, method] : report.methods) {
    ordered_json& entry = json["methods"][name];
    entry = {{"samples", method.samples},
             {"layers", ordered_json::array()},
             {"outputs", ordered_json::array()}};
    for (const LayerReport& layer : method.layers) entry["layers"].push_back(json_of(layer));
    for (const OutputNoise& output : method.outputs) {
      entry["outputs"].push_back({{"output", output.output},
                                  {"sqnr_db", json_number(output.decibels)},
                                  {"max_abs", json_number(output.largest)}});
    }
  }
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace petrel::extension
