// SPDX-License-Identifier: Apache-2.0
//
// A program as JSON.
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/payload_reader.h"
#include "extension/cli/describe.h"
#include "extension/data_loader/file_data_loader.h"
#include "extension/levels/levels.h"
#include "runtime/core/log.h"
#include "runtime/executor/program.h"

namespace petrel::extension {
namespace {

namespace xnnpack = backends::xnnpack;
using nlohmann::ordered_json;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::InstructionView;
using runtime::MethodView;
using runtime::Program;
using runtime::Result;
using runtime::Tag;

template <typename T>
std::string join(runtime::Span<const T> items, const char* prefix = "") {
  std::vector<std::string> words;
  for (const T item : items) words.push_back(absl::StrCat(prefix, item));
  return absl::StrCat("[", absl::StrJoin(words, ","), "]");
}

std::string describe_tensor(const runtime::TensorView& tensor) {
  std::string out = absl::StrCat(runtime::to_string(tensor.scalar_type), join(tensor.sizes));
  if (tensor.dynamism == runtime::TensorShapeDynamism::DYNAMIC_BOUND) {
    absl::StrAppend(&out, " at most");
  }
  if (!runtime::is_contiguous_dim_order(tensor.dim_order)) {
    const std::vector<int> order(tensor.dim_order.begin(), tensor.dim_order.end());
    absl::StrAppend(&out, " dim order ", absl::StrJoin(order, ","));
  }
  if (tensor.is_external) {
    absl::StrAppend(&out, " external '", std::string(tensor.name), "'");
  } else if (tensor.is_planned()) {
    absl::StrAppend(&out, " arena ", tensor.arena, " offset ", tensor.arena_offset);
    if (tensor.data_index > 0) absl::StrAppend(&out, " initial value ", tensor.data_index);
  } else if (tensor.data_index > 0) {
    absl::StrAppend(&out, " constant ", tensor.data_index);
  } else {
    absl::StrAppend(&out, " memory of the caller");
  }
  return out;
}

std::string describe_value(const runtime::ValueView& value) {
  switch (value.tag()) {
    case Tag::Int:
      return absl::StrCat("int ", value.as_int());
    case Tag::Bool:
      return absl::StrCat("bool ", value.as_bool() ? "true" : "false");
    case Tag::Double:
      return absl::StrCat("double ", value.as_double());
    case Tag::String:
      return absl::StrCat("string \"", std::string(value.as_string()), "\"");
    case Tag::Tensor:
      return absl::StrCat("tensor ", describe_tensor(*value.as_tensor()));
    case Tag::ListInt:
      return absl::StrCat("ints ", join(value.int_items(), "%"));
    case Tag::ListDouble:
      return absl::StrCat("doubles ", join(value.double_items()));
    case Tag::ListBool:
      return "bools";
    case Tag::ListTensor:
      return absl::StrCat("tensors ", join(value.tensor_items(), "%"));
    case Tag::ListOptionalTensor:
      return absl::StrCat("optional tensors ", join(value.tensor_items(), "%"));
    default:
      return "none";
  }
}

std::string describe_instruction(const MethodView& method, const InstructionView& i) {
  switch (i.kind) {
    case InstructionView::Kind::Kernel: {
      const runtime::OperatorView op = method.op(i.target);
      return absl::StrCat("kernel ", std::string(op.name), op.overload.empty() ? "" : ".",
                          std::string(op.overload), " ", join(i.args, "%"));
    }
    case InstructionView::Kind::Delegate:
      return absl::StrCat("delegate ", i.target, " ", join(i.args, "%"));
    case InstructionView::Kind::Move:
      return absl::StrCat("move %", i.from, " to %", i.to);
    case InstructionView::Kind::Jump:
      return absl::StrCat("jump to ", i.target, " unless %", i.from);
    case InstructionView::Kind::Free:
      return absl::StrCat("free %", i.from);
  }
  return "nothing";
}

// The inner graph of an XNNPACK payload, one line per value and node. False
// when the payload is damaged; the reason is logged.
bool describe_xnnpack(const FreeableBuffer& payload, Detail detail, ordered_json* out) {
  xnnpack::Graph graph;
  xnnpack::Problem problem =
      xnnpack::read_payload(static_cast<const uint8_t*>(payload.data()), payload.size(), &graph);
  if (problem.ok()) problem = xnnpack::check_graph(graph);
  if (!problem.ok()) {
    PETREL_LOG(Error, "XNNPACK payload: %s", problem.text().c_str());
    return false;
  }
  if (detail == Detail::kOutline) return true;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const xnnpack::Value& value = graph.values[id];
    std::string line = absl::StrCat("#", id, " ", schema::xnnpack::EnumNameDatatype(value.datatype),
                                    xnnpack::to_string(value.dims));
    if (value.is_constant()) {
      const xnnpack::ConstantData& constant = graph.constants[value.constant];
      absl::StrAppend(&line, constant.is_named() ? absl::StrCat(" key ", constant.key)
                                                 : std::string(" inline constant"));
    }
    if (value.external_id != xnnpack::kNoId) {
      absl::StrAppend(&line, value.is_input() ? " input " : " output ", value.external_id);
    }
    out->push_back(std::move(line));
  }
  for (const xnnpack::Node& node : graph.nodes) {
    const xnnpack::NodeKindInfo* info = xnnpack::find_node_kind(node.kind);
    out->push_back(absl::StrCat(info == nullptr ? "?" : info->name, " #",
                                absl::StrJoin(node.inputs, " #"), " -> #",
                                absl::StrJoin(node.outputs, " #")));
  }
  return true;
}

// The payloads of a program by their places, each with the delegate that had it first and its
// bytes: many delegates may have one, which is read once. What is one of XNNPACK for another
// delegate has yet to be looked at as such.
class Payloads {
 public:
  struct First {
    uint32_t method = 0;
    uint32_t delegate = 0;
    size_t bytes = 0;
  };

  Payloads(const Program& program, uint64_t file_size)
      : program_(program), left_{file_size, file_size} {}

  // Null when no delegate before it has this payload.
  const First* find(const runtime::DelegateView& delegate) const {
    const auto found = seen_.find(place_of(delegate));
    return found == seen_.end() ? nullptr : &found->second;
  }

  // The payload of the first delegate that has it.
  Result<FreeableBuffer> read(const runtime::DelegateView& delegate, uint32_t method,
                              uint32_t index) {
    FreeableBuffer payload;
    PETREL_RETURN_IF_ERROR(program_.load_delegate_data(delegate, &payload));
    uint64_t& left = left_[is_xnnpack(delegate)];
    if (payload.size() > left) {
      PETREL_LOG(Error, "payloads up to delegate %u overlap: they have more bytes than the file",
                 index);
      return Error::InvalidProgram;
    }
    left -= payload.size();
    seen_[place_of(delegate)] = {method, index, payload.size()};
    return payload;
  }

  static bool is_xnnpack(const runtime::DelegateView& delegate) {
    return delegate.backend() == "XnnpackBackend";
  }

 private:
  // Whose it is, whether it is a segment, and where that lies or which one of the others it is.
  using Place = std::tuple<bool, bool, uint64_t, uint64_t>;

  Place place_of(const runtime::DelegateView& delegate) const {
    if (!delegate.is_segment()) return {is_xnnpack(delegate), false, delegate.payload(), 0};
    const runtime::SegmentView segment = program_.view().segment(delegate.payload());
    return {is_xnnpack(delegate), true, segment.offset, segment.size};
  }

  const Program& program_;
  uint64_t left_[2];  // of those that are not XNNPACK's, and of those that are
  std::map<Place, First> seen_;
};

Error describe_delegate(const runtime::DelegateView& delegate, uint32_t method, uint32_t index,
                        Detail detail, Payloads* payloads, ordered_json* out) {
  ordered_json json = {{"index", index},
                       {"id", std::string(delegate.backend())},
                       {"payload_bytes", 0},
                       {"compile_specs", ordered_json::array()},
                       {"graph", ordered_json::array()}};
  for (uint32_t k = 0; k < delegate.num_specs(); ++k) {
    const runtime::CompileSpecView spec = delegate.spec(k);
    json["compile_specs"].push_back({{"key", std::string(spec.key)}, {"bytes", spec.value.size()}});
  }
  if (const Payloads::First* first = payloads->find(delegate)) {
    json["payload_bytes"] = first->bytes;
    std::string text = absl::StrCat("as of delegate ", first->delegate);
    if (first->method != method) absl::StrAppend(&text, " of method ", first->method);
    json["graph"].push_back(std::move(text));
  } else {
    PETREL_ASSIGN_OR_RETURN(const FreeableBuffer payload, payloads->read(delegate, method, index));
    json["payload_bytes"] = payload.size();
    if (Payloads::is_xnnpack(delegate) && !describe_xnnpack(payload, detail, &json["graph"])) {
      return Error::DelegateInvalidCompatibility;
    }
  }
  out->push_back(std::move(json));
  return Error::Ok;
}

// Temporary memory of kernels, one entry per instruction that has some.
ordered_json describe_scratch(const Program& program, uint32_t method) {
  ordered_json json = ordered_json::array();
  for (uint32_t i = 0; i < program.additions().num_scratch(method); ++i) {
    const runtime::ScratchView place = program.additions().scratch(method, i);
    json.push_back({{"chain", place.chain},
                    {"instruction", place.instruction},
                    {"arena", place.arena},
                    {"offset", place.offset},
                    {"bytes", place.size}});
  }
  return json;
}

void describe_parts(const MethodView& method, ordered_json* out) {
  ordered_json& json = *out;
  for (uint32_t i = 0; i < method.num_values(); ++i) {
    json["values"].push_back(absl::StrCat("%", i, " ", describe_value(method.value(i))));
  }
  for (uint32_t c = 0; c < method.num_chains(); ++c) {
    const runtime::ChainView chain = method.chain(c);
    for (uint32_t i = 0; i < chain.num_instructions(); ++i) {
      json["instructions"].push_back(absl::StrCat(
          json["instructions"].size(), " ", describe_instruction(method, chain.instruction(i))));
    }
  }
}

// One entry per input or output whose integers stand for numbers.
Error describe_levels(const ProgramLevels& told, const MethodView& method, ordered_json* out) {
  for (const bool is_input : {true, false}) {
    const size_t count = is_input ? method.inputs().size() : method.outputs().size();
    for (size_t i = 0; i < count; ++i) {
      PETREL_ASSIGN_OR_RETURN(
          const std::optional<Levels> levels,
          is_input ? told.input(method.name(), i) : told.output(method.name(), i));
      if (!levels) continue;
      out->push_back({{"kind", is_input ? "input" : "output"},
                      {"index", i},
                      {"dtype", runtime::to_string(levels->type)},
                      {"scale", levels->scale},
                      {"zero_point", levels->zero_point},
                      {"quant_min", levels->least},
                      {"quant_max", levels->most}});
    }
  }
  return Error::Ok;
}

Error describe_method(const Program& program, const ProgramLevels& told, const MethodView& method,
                      Detail detail, Payloads* payloads, ordered_json* out) {
  const auto list = [](runtime::Span<const int32_t> items) {
    return std::vector<int>(items.begin(), items.end());
  };
  // All keys before any content: an object that grows copies what it holds.
  ordered_json json = {
      {"name", std::string(method.name())}, {"inputs", list(method.inputs())},
      {"outputs", list(method.outputs())},  {"levels", ordered_json::array()},
      {"arenas", ordered_json::array()},    {"scratch", describe_scratch(program, method.index())},
      {"values", ordered_json::array()},    {"instructions", ordered_json::array()},
      {"delegates", ordered_json::array()}};
  if (told.is_told_by(method.name())) json["tells_levels"] = true;
  PETREL_RETURN_IF_ERROR(describe_levels(told, method, &json["levels"]));
  for (uint32_t i = 1; i <= method.num_arenas(); ++i) {
    json["arenas"].push_back(method.arena_bytes(i));
  }
  if (detail == Detail::kAll) describe_parts(method, &json);
  for (uint32_t i = 0; i < method.num_delegates(); ++i) {
    PETREL_RETURN_IF_ERROR(describe_delegate(method.delegate(i), method.index(), i, detail,
                                             payloads, &json["delegates"]));
  }
  out->push_back(std::move(json));
  return Error::Ok;
}

}  // namespace

DescribeResult describe_program(const std::string& path, const runtime::Limits& limits,
                                Detail detail) {
  DescribeResult result;
  Result<FileDataLoader> loader = FileDataLoader::from(path.c_str());
  if (!loader.ok()) {
    result.error = loader.error();
    return result;
  }
  runtime::ProgramOptions options;
  options.limits = limits;
  const Result<Program> program = Program::load(&*loader, options);
  if (!program.ok()) {
    result.error = program.error();
    return result;
  }
  const runtime::ProgramView& view = program->view();
  result.json = {{"file", path},
                 {"kind", "program"},
                 {"bytes", *loader->size()},
                 {"version", 0},
                 {"segments", ordered_json::array()},
                 {"named_data", ordered_json::array()},
                 {"methods", ordered_json::array()}};
  for (uint32_t i = 0; i < view.num_segments(); ++i) {
    const runtime::SegmentView segment = view.segment(i);
    result.json["segments"].push_back(
        {{"index", i}, {"offset", segment.offset}, {"bytes", segment.size}});
  }
  for (uint32_t i = 0; i < view.num_named_data(); ++i) {
    const runtime::NamedDataView entry = view.named_data(i);
    result.json["named_data"].push_back({{"key", std::string(entry.key)},
                                         {"segment", entry.segment},
                                         {"bytes", view.segment(entry.segment).size}});
  }
  const ProgramLevels told(*program);
  Payloads payloads(*program, *loader->size());
  for (uint32_t i = 0; i < view.num_methods(); ++i) {
    result.error =
        describe_method(*program, told, view.method(i), detail, &payloads, &result.json["methods"]);
    if (result.error != Error::Ok) return result;
  }
  return result;
}

}  // namespace petrel::extension
