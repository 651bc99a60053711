// SPDX-License-Identifier: Apache-2.0
//
// What was chosen when a model was quantised, so that one calibration serves every export
// of the model: `petrel quantize --record`, `petrel export --quantize`.
//
//   {"format": 1,
//    "methods": {"forward": {
//      "values": {"relu": {"min": 0.0, "max": 3.1, "scale": 0.0121, "zero_point": -128}, ...},
//      "keep_float": {"linear_3": "outputs have 9.1 dB, 31.0 dB with it in floats"},
//      "on_backends": {"linear_7": "rows", "linear_8": "float"},
//      "equalised": {"conv2d": "gD+APgA/"},
//      "shifts": {"conv2d": {"sha256": "9f86...", "of_channels": "AACAPwAAAD8AAAA+"}}},
//     "decode": {"scheme": "dynamic-int4", "group": 32, "values": {}, "keep_float": []}}}
//
// Values are those of the graph that passes made of the archive (`petrel opt`), by name;
// `keep_float` names nodes that compute in floats although they could do with integers, each
// with the reason or as a list of names. `on_backends` names products that backends compute in
// another form; integers alone take their levels.
// `equalised` has the factors that the channels of products are divided by, numbers of bfloat16,
// `shifts` what is added to their biases, floats.
// Scales of weights follow from the weights and are not stored, but for roundings that were
// chosen with samples: "roundings" has these by name, in base64 two levels to a byte, each 8
// more than it is, and scales as numbers of bfloat16.
#ifndef PETREL_EXIR_QUANTIZE_RECORD_H_
#define PETREL_EXIR_QUANTIZE_RECORD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/quantize/group_scheme.h"
#include "exir/quantize/scheme.h"

namespace petrel::exir {

enum class QuantScheme {
  kStaticInt8,   // products and what lies between them, with scales from samples
  kDynamicInt8,  // linear layers: rows get scales at run time, weights have one for each row
  kDynamicInt4,  // the same, weights of 4 bits with a scale for each group of a row
  kHalf,         // products and what lies between them in f16
};

// "static-int8", "dynamic-int8", "dynamic-int4", "half".
const char* scheme_name(QuantScheme scheme);
// InvalidArgument listing the names.
absl::StatusOr<QuantScheme> parse_scheme(const std::string& name);

// Elements with one scale in weights of 4 bits: a multiple of 32, which XNNPACK needs.
inline constexpr int64_t kDefaultGroup = 32;
absl::Status check_group(int64_t group);

struct QuantizedValue {
  Range range;  // seen in calibration
  Affine numbers;
};

// Nodes by name, each with the reason; "" where whoever quantised wants it so.
using KeptFloat = std::map<std::string, std::string>;

// Factors are no larger, and their inverses no smaller.
inline constexpr float kMostFactor = 65536;

// By the name of what a product makes (equalise_graph.h).
using ChannelFactors = std::map<std::string, std::vector<float>>;

// What integers shift the channels of a product by, on samples, to be taken back by its bias
// (shift_graph.h).
struct ChannelShifts {
  std::string digest;  // SHA-256 of the weight in floats, in hexadecimal digits
  std::vector<float> of_channels;
};

// How backends compute a node that a recurrent cell has (recurrent_products.h), where levels of
// one scale would err too much. Integers alone take the levels.
enum class BackendForm {
  kRows,  // a product whose rows get scales at run time
  kFloat,
};
using BackendForms = std::map<std::string, BackendForm>;  // by name of node

struct MethodQuantization {
  QuantScheme scheme = QuantScheme::kStaticInt8;
  int64_t group = kDefaultGroup;                 // of kDynamicInt4
  std::map<std::string, QuantizedValue> values;  // of kStaticInt8
  KeptFloat keep_float;
  BackendForms on_backends;  // of kStaticInt8
  // Of kStaticInt8: factors that channels are divided by, by the product that makes them.
  ChannelFactors equalised;
  std::map<std::string, ChannelShifts> shifts;  // the same, added to its bias
};

// Roundings that do not follow from a weight alone: they were chosen with samples.
struct ChosenRounding {
  std::string digest;  // SHA-256 of the weight in floats, in hexadecimal digits
  std::shared_ptr<const RoundedWeight> weight;
};

struct QuantizationRecord {
  std::map<std::string, MethodQuantization> methods;
  // By the name of what is stored, "fc.weight@int4.32"; others are rounded to nearest.
  std::map<std::string, ChosenRounding> roundings;
};

// A program whose weights have names remembers the record in its recipe, as this and the
// text of the record.
inline constexpr char kRecordLine[] = "quantization-record=";

// Ends with a newline; floats have all their digits.
std::string format_record(const QuantizationRecord& record);

// InvalidArgument naming the place in the text, the value and what it must be.
absl::StatusOr<QuantizationRecord> parse_record(const std::string& text);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_RECORD_H_
