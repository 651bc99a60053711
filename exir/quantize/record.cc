// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/record.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/json/json_text.h"
#include "exir/quantize/packed_text.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// Keys are found in logarithmic time: a record has one for each value of a model.
using nlohmann::json;

constexpr int kFormat = 1;

constexpr std::pair<QuantScheme, const char*> kSchemes[] = {
    {QuantScheme::kStaticInt8, "static-int8"},
    {QuantScheme::kDynamicInt8, "dynamic-int8"},
    {QuantScheme::kDynamicInt4, "dynamic-int4"},
    {QuantScheme::kHalf, "half"},
};

template <typename... Args>
absl::Status invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

// The member of an object, as check_keys() has found it to be; an error when it is not there.
absl::StatusOr<const json*> member(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return invalid("has no \"", key, "\"");
  return &*found;
}

absl::Status check_keys(const json& object, std::initializer_list<const char*> known) {
  if (!object.is_object()) return invalid("is not an object");
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return invalid("\"", key, "\" is not one of ", absl::StrJoin(known, ", "));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<float> finite(const json& object, const char* key) {
  PETREL_ASSIGN_OR_RETURN(const json* found, member(object, key));
  if (!found->is_number()) return invalid("\"", key, "\" is not a number");
  const auto value = static_cast<float>(found->get<double>());
  if (!std::isfinite(value)) return invalid("\"", key, "\" is not a finite number");
  return value;
}

absl::StatusOr<int64_t> whole(const json& number, const char* key) {
  if (!number.is_number_integer()) return invalid("\"", key, "\" is not a whole number");
  const bool fits = !number.is_number_unsigned() ||
                    number.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()};
  if (!fits) return invalid("\"", key, "\" is ", number.get<uint64_t>(), ", which is too large");
  return number.get<int64_t>();
}

// All levels stand for finite numbers.
absl::Status check_reach(float scale, int64_t levels) {
  const float most = std::numeric_limits<float>::max() / static_cast<float>(levels);
  if (scale <= most) return absl::OkStatus();
  return invalid("scale is ", scale, ", must be at most ", most);
}

absl::StatusOr<QuantizedValue> parse_value(const json& object) {
  QuantizedValue value;
  PETREL_RETURN_IF_ERROR(check_keys(object, {"min", "max", "scale", "zero_point"}));
  PETREL_ASSIGN_OR_RETURN(value.range.min, finite(object, "min"));
  PETREL_ASSIGN_OR_RETURN(value.range.max, finite(object, "max"));
  if (value.range.is_empty()) {
    return invalid("\"min\" is ", value.range.min, ", above \"max\", which is ", value.range.max);
  }
  PETREL_ASSIGN_OR_RETURN(value.numbers.scale, finite(object, "scale"));
  PETREL_ASSIGN_OR_RETURN(const json* zero, member(object, "zero_point"));
  PETREL_ASSIGN_OR_RETURN(const int64_t point, whole(*zero, "zero_point"));
  if (point < kLeastLevel || point > kMostLevel) {
    return invalid("\"zero_point\" is ", point, ", must be ", kLeastLevel, " to ", kMostLevel);
  }
  value.numbers.zero_point = static_cast<int32_t>(point);
  PETREL_RETURN_IF_ERROR(check_affine(value.numbers));
  PETREL_RETURN_IF_ERROR(check_reach(value.numbers.scale, kMostLevel - kLeastLevel));
  return value;
}

absl::Status parse_scheme_of(const json& object, MethodQuantization* method) {
  if (object.contains("scheme")) {
    const json& name = object["scheme"];
    if (!name.is_string()) return invalid("\"scheme\" is not a name");
    PETREL_ASSIGN_OR_RETURN(method->scheme, parse_scheme(name.get<std::string>()));
  }
  if (object.contains("group")) {
    PETREL_ASSIGN_OR_RETURN(method->group, whole(object["group"], "group"));
    PETREL_RETURN_IF_ERROR(check_group(method->group));
  }
  return absl::OkStatus();
}

absl::StatusOr<KeptFloat> parse_kept(const json& kept) {
  KeptFloat names;
  if (kept.is_object()) {
    for (const auto& [name, why] : kept.items()) {
      if (!why.is_string()) return invalid("\"keep_float\" has no text for '", name, "'");
      names[name] = why.get<std::string>();
    }
    return names;
  }
  if (!kept.is_array()) return invalid("\"keep_float\" is not a list");
  for (const json& name : kept) {
    if (!name.is_string()) return invalid("\"keep_float\" holds something that is not a name");
    names[name.get<std::string>()] = "";
  }
  return names;
}

// A list where there is no reason to tell.
json json_of(const KeptFloat& kept) {
  const bool has_reasons = std::any_of(kept.begin(), kept.end(),
                                       [](const auto& entry) { return !entry.second.empty(); });
  if (has_reasons) return kept;
  json names = json::array();
  for (const auto& [name, why] : kept) names.push_back(name);
  return names;
}

absl::StatusOr<std::string> text_of(const json& object, const char* key) {
  PETREL_ASSIGN_OR_RETURN(const json* found, member(object, key));
  if (!found->is_string()) return invalid("\"", key, "\" is not a text");
  return found->get<std::string>();
}

absl::StatusOr<ChannelShifts> parse_shifts(const json& object) {
  ChannelShifts shifts;
  PETREL_RETURN_IF_ERROR(check_keys(object, {"sha256", "of_channels"}));
  PETREL_ASSIGN_OR_RETURN(shifts.digest, text_of(object, "sha256"));
  PETREL_ASSIGN_OR_RETURN(const std::string text, text_of(object, "of_channels"));
  PETREL_ASSIGN_OR_RETURN(shifts.of_channels, decode_floats(text, "of_channels"));
  return shifts;
}

// Those that are chosen are within it; others could make weights infinite, or 0.
absl::Status check_factors(const std::vector<float>& factors) {
  for (size_t i = 0; i < factors.size(); ++i) {
    if (factors[i] >= 1 / kMostFactor && factors[i] <= kMostFactor) continue;
    return invalid("factor ", i, " is ", factors[i], ", must be ", 1 / kMostFactor, " to ",
                   kMostFactor);
  }
  return absl::OkStatus();
}

constexpr char kRows[] = "rows", kFloat[] = "float";

absl::Status parse_forms(const json& forms, BackendForms* on_backends) {
  if (!forms.is_object()) return invalid("\"on_backends\" is not an object");
  for (const auto& [name, form] : forms.items()) {
    if (form != kRows && form != kFloat) {
      return invalid("\"on_backends\" of '", name, "' must be \"", kRows, "\" or \"", kFloat, "\"");
    }
    (*on_backends)[name] = form == kRows ? BackendForm::kRows : BackendForm::kFloat;
  }
  return absl::OkStatus();
}

// What was chosen for channels of products.
absl::Status parse_channels(const json& object, MethodQuantization* method) {
  for (const char* key : {"equalised", "shifts"}) {
    if (object.contains(key) && !object[key].is_object()) {
      return invalid("\"", key, "\" is not an object");
    }
  }
  if (object.contains("equalised")) {
    for (const auto& [name, text] : object["equalised"].items()) {
      if (!text.is_string()) return invalid("\"equalised\" has no text for '", name, "'");
      auto factors = decode_scales(text.get<std::string>());
      if (!factors.ok()) return annotate(factors.status(), absl::StrCat("factors of '", name, "'"));
      const absl::Status known = check_factors(*factors);
      if (!known.ok()) return annotate(known, absl::StrCat("factors of '", name, "'"));
      method->equalised[name] = *std::move(factors);
    }
  }
  if (object.contains("shifts")) {
    for (const auto& [name, entry] : object["shifts"].items()) {
      auto shifts = parse_shifts(entry);
      if (!shifts.ok()) return annotate(shifts.status(), absl::StrCat("shifts of '", name, "'"));
      method->shifts[name] = *std::move(shifts);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<MethodQuantization> parse_method(const json& object) {
  MethodQuantization method;
  PETREL_RETURN_IF_ERROR(check_keys(
      object, {"scheme", "group", "values", "keep_float", "on_backends", "equalised", "shifts"}));
  PETREL_RETURN_IF_ERROR(parse_scheme_of(object, &method));
  PETREL_ASSIGN_OR_RETURN(const json* values, member(object, "values"));
  if (!values->is_object()) return invalid("\"values\" is not an object");
  for (const auto& [name, object_of_value] : values->items()) {
    auto value = parse_value(object_of_value);
    if (!value.ok()) return annotate(value.status(), absl::StrCat("value '", name, "'"));
    method.values[name] = *value;
  }
  if (object.contains("keep_float")) {
    PETREL_ASSIGN_OR_RETURN(method.keep_float, parse_kept(object["keep_float"]));
  }
  if (object.contains("on_backends")) {
    PETREL_RETURN_IF_ERROR(parse_forms(object["on_backends"], &method.on_backends));
  }
  PETREL_RETURN_IF_ERROR(parse_channels(object, &method));
  return method;
}

absl::StatusOr<ChosenRounding> parse_rounding(const json& object) {
  ChosenRounding rounding;
  PETREL_RETURN_IF_ERROR(check_keys(object, {"sha256", "levels", "scales"}));
  PETREL_ASSIGN_OR_RETURN(rounding.digest, text_of(object, "sha256"));
  PETREL_ASSIGN_OR_RETURN(const std::string levels, text_of(object, "levels"));
  PETREL_ASSIGN_OR_RETURN(const std::string scales, text_of(object, "scales"));
  auto weight = std::make_shared<RoundedWeight>();
  PETREL_ASSIGN_OR_RETURN(weight->levels, decode_levels(levels));
  PETREL_ASSIGN_OR_RETURN(weight->scales, decode_scales(scales));
  constexpr int64_t kLevelsOf4Bits = 8;
  for (const float scale : weight->scales) {
    PETREL_RETURN_IF_ERROR(check_reach(scale, kLevelsOf4Bits));
  }
  rounding.weight = std::move(weight);
  return rounding;
}

}  // namespace

const char* scheme_name(QuantScheme scheme) {
  return std::find_if(std::begin(kSchemes), std::end(kSchemes),
                      [&](const auto& row) { return row.first == scheme; })
      ->second;
}

absl::StatusOr<QuantScheme> parse_scheme(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [scheme, known] : kSchemes) {
    if (name == known) return scheme;
    names.push_back(known);
  }
  return invalid("scheme is '", name, "', must be one of ", absl::StrJoin(names, ", "));
}

absl::Status check_group(int64_t group) {
  constexpr int64_t kMultiple = 32, kMost = 4096;
  if (group >= kMultiple && group <= kMost && group % kMultiple == 0) return absl::OkStatus();
  return invalid("group is ", group, ", must be a multiple of ", kMultiple, " up to ", kMost);
}

std::string format_record(const QuantizationRecord& record) {
  json methods = json::object();
  for (const auto& [name, method] : record.methods) {
    json values = json::object();
    for (const auto& [value_name, value] : method.values) {
      values[value_name] = {{"min", value.range.min},
                            {"max", value.range.max},
                            {"scale", value.numbers.scale},
                            {"zero_point", value.numbers.zero_point}};
    }
    json& entry = methods[name] = json::object();
    if (method.scheme != QuantScheme::kStaticInt8) entry["scheme"] = scheme_name(method.scheme);
    if (method.scheme == QuantScheme::kDynamicInt4) entry["group"] = method.group;
    entry["values"] = std::move(values);
    entry["keep_float"] = json_of(method.keep_float);
    for (const auto& [node, form] : method.on_backends) {
      entry["on_backends"][node] = form == BackendForm::kRows ? kRows : kFloat;
    }
    for (const auto& [product, factors] : method.equalised) {
      entry["equalised"][product] = encode_scales(factors);
    }
    for (const auto& [product, shifts] : method.shifts) {
      entry["shifts"][product] = {{"sha256", shifts.digest},
                                  {"of_channels", encode_floats(shifts.of_channels)}};
    }
  }
  json root = {{"format", kFormat}, {"methods", std::move(methods)}};
  for (const auto& [name, rounding] : record.roundings) {
    root["roundings"][name] = {{"sha256", rounding.digest},
                               {"levels", encode_levels(rounding.weight->levels)},
                               {"scales", encode_scales(rounding.weight->scales)}};
  }
  return root.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

absl::StatusOr<QuantizationRecord> parse_record(const std::string& text) {
  // Of two entries for one value, only one could count.
  PETREL_ASSIGN_OR_RETURN(const json root, parse_unique_json(text));
  PETREL_RETURN_IF_ERROR(check_keys(root, {"format", "methods", "roundings"}));
  PETREL_ASSIGN_OR_RETURN(const json* format, member(root, "format"));
  if (*format != kFormat) {
    return invalid("\"format\" is not ", kFormat, ", the one that this version reads");
  }
  PETREL_ASSIGN_OR_RETURN(const json* methods, member(root, "methods"));
  if (!methods->is_object()) return invalid("\"methods\" is not an object");
  QuantizationRecord record;
  for (const auto& [name, object] : methods->items()) {
    auto method = parse_method(object);
    if (!method.ok()) return annotate(method.status(), absl::StrCat("method '", name, "'"));
    record.methods[name] = *std::move(method);
  }
  if (!root.contains("roundings")) return record;
  if (!root["roundings"].is_object()) return invalid("\"roundings\" is not an object");
  for (const auto& [name, object] : root["roundings"].items()) {
    auto rounding = parse_rounding(object);
    if (!rounding.ok()) return annotate(rounding.status(), absl::StrCat("rounding '", name, "'"));
    record.roundings[name] = *std::move(rounding);
  }
  return record;
}

}  // namespace petrel::exir
