// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/integer_border.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/backend/weight_routes.h"
#include "exir/ir/verifier.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr char kWord[] = "int8";
constexpr char kRuleEnd[] = "=int8";

// The names that a rule asks for; "" for all that is possible.
std::string glob_of(const std::string& word) {
  return word == kWord ? "" : word.substr(0, word.size() - (sizeof(kRuleEnd) - 1));
}

bool operator==(const BorderLevels& a, const BorderLevels& b) {
  return a.dtype == b.dtype && a.scale == b.scale && a.zero_point == b.zero_point &&
         a.least == b.least && a.most == b.most;
}

// Of quantize_per_tensor and dequantize_per_tensor; nullopt where a number is not known now.
std::optional<BorderLevels> levels_of(const Node& node) {
  const Argument& scale = node.argument(arg::scale);
  const Argument& zero_point = node.argument(arg::zero_point);
  const Argument& least = node.argument(arg::quant_min);
  const Argument& most = node.argument(arg::quant_max);
  const Argument& dtype = node.argument(arg::dtype);
  if (!scale.is_number() || !zero_point.is_int() || !least.is_int() || !most.is_int() ||
      !dtype.is_scalar_type()) {
    return std::nullopt;
  }
  return BorderLevels{dtype.as_scalar_type(), scale.as_number(), zero_point.as_int(),
                      least.as_int(), most.as_int()};
}

std::string text_of(const BorderLevels& levels) {
  return absl::StrCat("scale ", levels.scale, " and zero point ", levels.zero_point);
}

// "" or why it is not taken.
std::string check_width(const BorderLevels& levels) {
  if (levels.dtype == ScalarType::kChar || levels.dtype == ScalarType::kByte) return "";
  return absl::StrCat("its integers are ", std::string(scalar_type_name(levels.dtype)),
                      ", not of 8 bits");
}

std::string reader_of(const Node& node) {
  const std::string place = node.source().location();
  return absl::StrCat("'", node.result()->name(), "' (", node.op().full_name(), ")",
                      place.empty() ? "" : absl::StrCat(" at ", place));
}

bool is_f32(const Value& value) {
  return value.type().is_tensor() && value.tensor().dtype == ScalarType::kFloat;
}

// Asks for a size, which is the same of integers.
bool reads_no_number(const Node& node) { return node.is(aten::sym_size_int); }

// How all that reads `input` quantises it, or in `reason` why it stays f32.
BorderLevels quantised_by_all(const Graph& graph, const Value& input, std::string* reason) {
  std::optional<BorderLevels> all;
  for (const BufferWrite& write : graph.buffer_writes()) {
    if (write.value == &input) *reason = "state takes it in floats";
  }
  if (!input.is_used()) *reason = "nothing reads it";
  for (const Node* user : input.users()) {
    if (!reason->empty()) return {};
    if (reads_no_number(*user)) continue;
    if (!user->is(quantized_decomposed::quantize_per_tensor)) {
      *reason = absl::StrCat(reader_of(*user), " reads it in floats");
      return {};
    }
    const std::optional<BorderLevels> levels = levels_of(*user);
    if (!levels) {
      *reason = absl::StrCat(reader_of(*user), " finds its scale at run time");
    } else if (all && !(*all == *levels)) {
      *reason = absl::StrCat("it is quantised in two ways: with ", text_of(*all), ", and with ",
                             text_of(*levels));
    } else {
      *reason = check_width(*levels);
    }
    all = levels;
  }
  if (reason->empty() && input.output_uses() > 0) *reason = "it is an output, too";
  if (reason->empty() && !all) *reason = "nothing reads more of it than its size";
  return reason->empty() ? *all : BorderLevels{};
}

// What `output` is dequantised from, or why it stays f32.
BorderLevels dequantised_from(const Value& output, std::string* reason) {
  const Node* producer = output.producer();
  if (producer == nullptr) {
    *reason = output.is_input() ? "it is an input" : "it is a constant or state";
  } else if (!producer->is(quantized_decomposed::dequantize_per_tensor)) {
    *reason = absl::StrCat(reader_of(*producer), " makes it in floats");
  } else if (producer->input(arg::input)->producer() == nullptr) {
    *reason = "its integers are an input, a constant or state";
  } else if (const std::optional<BorderLevels> levels = levels_of(*producer); levels) {
    *reason = check_width(*levels);
    return *levels;
  } else {
    *reason = "its scale is found at run time";
  }
  return {};
}

Border find_border(const Method& method) {
  const Graph& graph = *method.graph;
  const Signature& signature = method.signature;
  const auto name_of = [](const std::vector<std::string>& names, size_t place, const Value& value) {
    return place < names.size() ? names[place] : value.name();
  };
  Border border;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Value& input = *graph.inputs()[i];
    if (!is_f32(input)) continue;
    BorderValue value{true, i, name_of(signature.input_names, i, input), "", {}};
    value.levels = quantised_by_all(graph, input, &value.reason);
    border.push_back(std::move(value));
  }
  const size_t count = graph.outputs().size() + signature.fixed_outputs.size();
  size_t computed = 0;
  for (size_t place = 0; place < count; ++place) {
    if (signature.fixed_outputs.count(place) != 0) continue;
    const Value& output = *graph.outputs()[computed++];
    if (!is_f32(output)) continue;
    BorderValue value{false, place, name_of(signature.output_names, place, output), "", {}};
    value.levels = dequantised_from(output, &value.reason);
    border.push_back(std::move(value));
  }
  return border;
}

void take_integers(Graph& graph, size_t place, ScalarType dtype) {
  Value* const input = graph.inputs()[place];
  TensorType type = input->tensor();
  const std::vector<Node*> users = input->users();
  for (Node* user : users) {
    if (reads_no_number(*user)) continue;
    graph.replace_all_uses(user->result(), input);
    graph.erase(user);
  }
  type.dtype = dtype;
  input->set_type(Type(std::move(type)));
}

void give_integers(Method& method, size_t place) {
  Graph& graph = *method.graph;
  const auto& fixed = method.signature.fixed_outputs;
  const auto before = static_cast<size_t>(std::distance(fixed.begin(), fixed.lower_bound(place)));
  std::vector<Value*> outputs = graph.outputs();
  Node* const dequantize = outputs[place - before]->producer();
  outputs[place - before] = dequantize->input(arg::input);
  graph.set_outputs(std::move(outputs));
  if (!dequantize->result()->is_used()) graph.erase(dequantize);
}

bool is_called(const BorderValue& value, const std::string& glob) {
  return matches_glob(glob, value.name) ||
         matches_glob(glob, absl::StrCat(value.is_input ? "input_" : "output_", value.place));
}

// Each glob must match something, and all that it matches must be possible.
absl::Status check_rules(const BorderByMethod& borders, const std::vector<std::string>& words) {
  std::vector<std::string> problems;
  for (const std::string& word : words) {
    const std::string glob = glob_of(word);
    if (glob.empty()) continue;
    bool is_known = false;
    for (const auto& [method, border] : borders) {
      for (const BorderValue& value : border) {
        if (!is_called(value, glob)) continue;
        is_known = true;
        if (value.reason.empty()) continue;
        problems.push_back(absl::StrCat("io-dtype ", word, ": method '", method,
                                        "': ", value.describe(), " must stay f32: ", value.reason));
      }
    }
    if (!is_known) {
      problems.push_back(
          absl::StrCat("io-dtype ", word, ": no input or output of f32 is called so"));
    }
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

absl::Status check_any(const BorderByMethod& borders) {
  std::string reasons;
  for (const auto& [method, border] : borders) {
    for (const BorderValue& value : border) {
      if (value.reason.empty()) return absl::OkStatus();
      absl::StrAppend(&reasons, "\n  method '", method, "': ", value.describe(), ": ",
                      value.reason);
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("io-dtype int8: no input or output can be integers",
                   reasons.empty() ? ", as none is f32" : absl::StrCat(":", reasons)));
}

// A method of no inputs that returns `number`.
void add_number(Program& program, const std::string& name, Argument number) {
  Method method;
  method.graph = std::make_unique<Graph>(name);
  method.signature.fixed_outputs.emplace(0, std::move(number));
  program.methods[name] = std::move(method);
}

}  // namespace

std::string BorderValue::describe() const {
  return absl::StrCat(is_input ? "input " : "output ", place, " '", name, "'");
}

absl::Status check_border_words(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == kWord) continue;
    if (absl::EndsWith(word, kRuleEnd) && word.size() > sizeof(kRuleEnd) - 1) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("io-dtype is '", word, "', must be int8 or GLOB=int8"));
  }
  return absl::OkStatus();
}

absl::StatusOr<BorderByMethod> open_border(Program& program,
                                           const std::vector<std::string>& words) {
  PETREL_RETURN_IF_ERROR(check_border_words(words));
  BorderByMethod borders;
  for (const auto& [name, method] : program.methods) borders[name] = find_border(method);
  PETREL_RETURN_IF_ERROR(check_rules(borders, words));
  const bool wants_all = std::find(words.begin(), words.end(), kWord) != words.end();
  if (wants_all) PETREL_RETURN_IF_ERROR(check_any(borders));
  for (auto& [name, border] : borders) {
    Method& method = program.methods.at(name);
    for (BorderValue& value : border) {
      if (!value.reason.empty()) continue;
      if (!wants_all && std::none_of(words.begin(), words.end(), [&](const std::string& word) {
            return is_called(value, glob_of(word));
          })) {
        value.reason = "io-dtype does not name it";
      } else if (value.is_input) {
        take_integers(*method.graph, value.place, value.levels.dtype);
      } else {
        give_integers(method, value.place);
      }
    }
    const absl::Status valid = verify_graph(*method.graph);
    if (!valid.ok()) return annotate(valid, absl::StrCat("method '", name, "', its border opened"));
  }
  return borders;
}

absl::Status add_border_methods(Program& program, const BorderByMethod& borders) {
  std::map<std::string, Argument> numbers;
  for (const auto& [method, border] : borders) {
    for (const BorderValue& value : border) {
      if (!value.reason.empty()) continue;
      const std::string prefix =
          absl::StrCat(method, value.is_input ? "_input" : "_output", value.place, "_");
      numbers.emplace(prefix + "scale", Argument(value.levels.scale));
      numbers.emplace(prefix + "zp", Argument(value.levels.zero_point));
      numbers.emplace(prefix + "quant_min", Argument(value.levels.least));
      numbers.emplace(prefix + "quant_max", Argument(value.levels.most));
      numbers.emplace(prefix + "dtype", Argument(static_cast<int64_t>(value.levels.dtype)));
    }
  }
  for (auto& [name, number] : numbers) {
    if (program.methods.count(name) != 0) {
      return absl::InvalidArgumentError(absl::StrCat("io-dtype: a method of the model is called '",
                                                     name,
                                                     "', which must tell what integers stand for"));
    }
    add_number(program, name, std::move(number));
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
