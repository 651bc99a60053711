// SPDX-License-Identifier: Apache-2.0
#include "test/diff/planted_faults.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/format/header.h"
#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/payload_reader.h"
#include "runtime/core/scalar_type.h"
#include "runtime/core/span.h"
#include "schema/program_generated.h"
#include "schema/xnnpack_generated.h"

namespace petrel::test {
namespace {

namespace fb = schema::program;
namespace xf = schema::xnnpack;
namespace xnnpack = backends::xnnpack;
using runtime::ScalarType;

template <typename T>
std::vector<uint8_t> bytes_of(T value) {
  std::vector<uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <typename T>
T read(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// Another number of the same field, far enough off to count.
double far_from(double value) { return value * 1.5 + 0.25; }

// Where a field of a table is; null where the file leaves it out.
const uint8_t* address_of(const void* table, flatbuffers::voffset_t field) {
  return static_cast<const flatbuffers::Table*>(table)->GetAddressOf(field);
}

// The elements of a vector where they lie in the file.
template <typename T>
runtime::Span<const T> items_of(const flatbuffers::Vector<T>& vector) {
  return {vector.data(), vector.size()};
}

// Operators that take the same arguments, under names of one length.
constexpr std::pair<const char*, const char*> kTwins[] = {
    {"aten::add", "aten::sub"},         {"aten::mul", "aten::div"},    {"aten::amax", "aten::amin"},
    {"aten::maximum", "aten::minimum"}, {"aten::tanh", "aten::relu"},  {"aten::sqrt", "aten::tanh"},
    {"aten::exp", "aten::sin"},         {"aten::rsqrt", "aten::floor"}};

const char* twin_of(const std::string& name) {
  for (const auto& [one, other] : kTwins) {
    if (name == one) return other;
    if (name == other) return one;
  }
  return nullptr;
}

// Nodes of payloads with the same fields.
constexpr std::pair<xf::NodeUnion, xf::NodeUnion> kNodeTwins[] = {
    {xf::NodeUnion::Add, xf::NodeUnion::Subtract},
    {xf::NodeUnion::Multiply, xf::NodeUnion::Div},
    {xf::NodeUnion::Maximum, xf::NodeUnion::Minimum},
    {xf::NodeUnion::Sigmoid, xf::NodeUnion::Tanh},
    {xf::NodeUnion::Abs, xf::NodeUnion::Negate},
    {xf::NodeUnion::Gelu, xf::NodeUnion::Abs},
    {xf::NodeUnion::Exp, xf::NodeUnion::Square},
    {xf::NodeUnion::Hardswish, xf::NodeUnion::Sigmoid},
    {xf::NodeUnion::SquareRoot, xf::NodeUnion::ReciprocalSquareRoot},
    {xf::NodeUnion::Softmax, xf::NodeUnion::Sigmoid}};

class Planter {
 public:
  explicit Planter(const std::string& program)
      : bytes_(reinterpret_cast<const uint8_t*>(program.data())),
        size_(program.size()),
        program_(*fb::GetProgram(bytes_)),
        plan_(*program_.execution_plan()->Get(0)),
        // Behind the magic and the length of the header come the size of the flatbuffer
        // and the base of the segments.
        segment_base_(read<uint64_t>(bytes_ + 24)) {}

  std::vector<Fault> plant() {
    const auto& instructions = *plan_.chains()->Get(0)->instructions();
    count_uses(instructions);
    for (uint32_t i = 0; i < instructions.size(); ++i) {
      const fb::Instruction& instruction = *instructions.Get(i);
      place_ = "0:" + std::to_string(i);
      if (const auto* call = instruction.instr_args_as_KernelCall()) plant_in_kernel(*call);
      if (const auto* call = instruction.instr_args_as_DelegateCall()) plant_in_payload(*call);
    }
    return std::move(faults_);
  }

 private:
  using Instructions = flatbuffers::Vector<flatbuffers::Offset<fb::Instruction>>;

  void count_use(int64_t value) {
    if (value < 0) return;
    ++uses_[value];
    const fb::EValue& entry = *plan_.values()->Get(static_cast<uint32_t>(value));
    if (const auto* list = entry.val_as_IntList()) {
      for (const int64_t item : *list->items()) count_use(item);
    }
    if (const auto* tensor = entry.val_as_Tensor()) ++uses_at_[find(*tensor)];
  }

  void count_uses(const Instructions& instructions) {
    for (const fb::Instruction* instruction : instructions) {
      if (const auto* call = instruction->instr_args_as_KernelCall()) {
        ++uses_of_operator_[static_cast<uint32_t>(call->op_index())];
        for (const int32_t arg : *call->args()) count_use(arg);
      } else if (const auto* call = instruction->instr_args_as_DelegateCall()) {
        for (const int32_t arg : *call->args()) count_use(arg);
        count_operands(*call);
      }
    }
  }

  // Equal bytes are stored once: a weight of a payload may be one of a kernel, too.
  void count_operands(const fb::DelegateCall& call) {
    const Payload payload = read_payload(call);
    for (const xnnpack::Node& node : payload.graph.nodes) {
      for (const uint32_t id : node.inputs) {
        if (id == xnnpack::kNoId || !payload.graph.values[id].is_constant()) continue;
        const xnnpack::Value& value = payload.graph.values[id];
        ++uses_at_[find(payload.graph.constants[value.constant])];
        if (value.quant.scales.constant == 0) continue;
        ++uses_at_[find(payload.graph.constants[value.quant.scales.constant])];
      }
    }
  }

  void add(Fault::Kind kind, const std::string& place, const std::string& what, const void* at,
           std::vector<uint8_t> bytes) {
    const auto offset = static_cast<size_t>(static_cast<const uint8_t*>(at) - bytes_);
    if (offset + bytes.size() > size_ ||
        std::memcmp(bytes_ + offset, bytes.data(), bytes.size()) == 0) {
      return;
    }
    faults_.push_back({kind, place, what, offset, std::move(bytes)});
  }

  // One element in the middle becomes larger than all others.
  void change_weight(Fault::Kind kind, const std::string& place, const std::string& what,
                     const uint8_t* data, size_t count, ScalarType type) {
    if (count == 0) return;
    const size_t middle = count / 2;
    if (type == ScalarType::Float) {
      float largest = 0;
      for (size_t i = 0; i < count; ++i) {
        const float element = std::fabs(read<float>(data + i * sizeof(float)));
        if (std::isfinite(element)) largest = std::max(largest, element);
      }
      const uint8_t* at = data + middle * sizeof(float);
      add(kind, place, what, at, bytes_of(read<float>(at) + 3 * largest + 0.5f));
      add(kind, place, what + " NaN", at, bytes_of(std::numeric_limits<float>::quiet_NaN()));
    } else if (type == ScalarType::Int) {
      // A bias, in steps of a product: as large as some hundred of them.
      const uint8_t* at = data + middle * sizeof(int32_t);
      add(kind, place, what, at, bytes_of<int32_t>(read<int32_t>(at) + 4'000'000));
    } else if (type == ScalarType::Half) {
      const uint8_t* at = data + middle * sizeof(uint16_t);
      add(kind, place, what, at, bytes_of<uint16_t>(0x4900));  // 10
    } else if (type == ScalarType::Char) {
      // As far as one element can be told from others.
      const auto old = read<int8_t>(data + middle);
      add(kind, place, what, data + middle, bytes_of<int8_t>(old > 0 ? -127 : 127));
    }
  }

  void plant_in_kernel(const fb::KernelCall& call) {
    const fb::Operator& op = *plan_.operators()->Get(static_cast<uint32_t>(call.op_index()));
    const std::string name = op.name()->str() + "." + op.overload()->str();
    const bool is_scale = name.find("quantize_per_") != std::string::npos;
    run_another(op, static_cast<uint32_t>(call.op_index()), name);
    swap_operands(call, name);
    for (const int32_t& arg : items_of(*call.args())) {
      const fb::EValue& value = *plan_.values()->Get(static_cast<uint32_t>(arg));
      const std::string what = name + " value " + std::to_string(arg);
      if (value.val_as_Int() != nullptr || value.val_as_Bool() != nullptr) {
        take_another(&arg, arg, what);
        continue;
      }
      if (uses_[arg] != 1) continue;
      if (const auto* number = value.val_as_Double()) {
        add(is_scale ? Fault::Kind::kScale : Fault::Kind::kArgument, place_, what,
            address_of(number, fb::Double::VT_DOUBLE_VAL),
            bytes_of(far_from(number->double_val())));
      } else if (const auto* list = value.val_as_IntList()) {
        for (const int64_t& item : items_of(*list->items())) take_another(&item, item, what);
      } else if (const auto* tensor = value.val_as_Tensor()) {
        change_constant(*tensor, is_scale ? Fault::Kind::kScale : Fault::Kind::kWeight, what);
      }
    }
  }

  // The operator of one call alone: it runs a kernel that takes the same arguments.
  void run_another(const fb::Operator& op, uint32_t index, const std::string& name) {
    const char* twin = twin_of(op.name()->str());
    if (twin == nullptr || uses_of_operator_[index] != 1) return;
    add(Fault::Kind::kKernel, place_, name + " runs " + twin, op.name()->Data(),
        std::vector<uint8_t>(twin, twin + std::strlen(twin)));
  }

  // Operators whose operands do not change places.
  void swap_operands(const fb::KernelCall& call, const std::string& name) {
    const bool has_order = name.find("::sub.") != std::string::npos ||
                           name.find("::div.") != std::string::npos ||
                           name.find("::bmm.") != std::string::npos;
    if (!has_order || call.args()->size() < 2) return;
    const int32_t swapped[] = {call.args()->Get(1), call.args()->Get(0)};
    std::vector<uint8_t> bytes(sizeof(swapped));
    std::memcpy(bytes.data(), swapped, sizeof(swapped));
    add(Fault::Kind::kArgument, place_, name + " with its operands swapped", call.args()->data(),
        std::move(bytes));
  }

  // Numbers and flags that are equal share a value, so a call is given another one of the
  // same type instead: the next one of the table.
  template <typename Index>
  void take_another(const Index* at, Index index, const std::string& what) {
    const auto& values = *plan_.values();
    for (uint32_t step = 1; step < values.size(); ++step) {
      const uint32_t other = (static_cast<uint32_t>(index) + step) % values.size();
      if (values.Get(other)->val_type() != values.Get(static_cast<uint32_t>(index))->val_type()) {
        continue;
      }
      add(Fault::Kind::kArgument, place_, what, at, bytes_of(static_cast<Index>(other)));
      return;
    }
  }

  void change_constant(const fb::Tensor& tensor, Fault::Kind kind, const std::string& what) {
    const uint8_t* data = find(tensor);
    if (data == nullptr || uses_at_[data] != 1) return;
    size_t count = 1;
    for (const int32_t size : *tensor.sizes()) count *= static_cast<size_t>(size);
    change_weight(kind, place_, what, data, count, static_cast<ScalarType>(tensor.scalar_type()));
  }

  // Where a constant lies in the file; null for other tensors.
  const uint8_t* find(const fb::Tensor& tensor) const {
    const uint32_t index = tensor.data_buffer_idx();
    if (index == 0 || tensor.allocation_info() != nullptr) return nullptr;
    const fb::SubsegmentOffsets& constants = *program_.constant_segment();
    const fb::DataSegment& segment = *program_.segments()->Get(constants.segment_index());
    return bytes_ + segment_base_ + segment.offset() + constants.offsets()->Get(index);
  }

  // Where a constant of a payload lies in the file; null outside of it.
  const uint8_t* find(const xnnpack::ConstantData& constant) const {
    if (!constant.is_named()) return constant.data;
    for (const fb::NamedData* entry : *program_.named_data()) {
      if (entry->key()->str() != constant.key) continue;
      return bytes_ + segment_base_ + program_.segments()->Get(entry->segment_index())->offset();
    }
    return nullptr;
  }

  struct Payload {
    const xf::Graph* root = nullptr;
    xnnpack::Graph graph;  // empty for what is no payload of XNNPACK
  };

  Payload read_payload(const fb::DelegateCall& call) const {
    const fb::BackendDelegate& delegate =
        *plan_.delegates()->Get(static_cast<uint32_t>(call.delegate_index()));
    Payload payload;
    if (delegate.processed()->location() != fb::DataLocation::SEGMENT) return payload;
    const fb::DataSegment& segment = *program_.segments()->Get(delegate.processed()->index());
    const uint8_t* bytes = bytes_ + segment_base_ + segment.offset();
    xnnpack::Header header;
    if (!xnnpack::read_header(bytes, segment.size(), &header).ok() ||
        !xnnpack::read_payload(bytes, segment.size(), &payload.graph).ok()) {
      return {};
    }
    payload.root = xf::GetGraph(bytes + header.flatbuffer_offset);
    return payload;
  }

  void plant_in_payload(const fb::DelegateCall& call) {
    const Payload payload = read_payload(call);
    const xnnpack::Graph& graph = payload.graph;
    for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
      const xnnpack::Node& node = graph.nodes[n];
      const std::string place = place_ + "/" + std::to_string(n);
      const std::string what = xnnpack::find_node_kind(node.kind)->name;
      for (const uint32_t id : node.inputs) {
        if (id == xnnpack::kNoId || !graph.values[id].is_constant()) continue;
        change_operand(graph, graph.values[id], place, what);
      }
      change_clamp(*payload.root->nodes()->Get(n), place, what);
      change_number(*payload.root->nodes()->Get(n), place, what);
      change_kind(*payload.root->nodes()->Get(n), place, what);
      for (const uint32_t id : node.outputs)
        change_scale(*payload.root->values()->Get(id), place, what);
    }
  }

  void change_operand(const xnnpack::Graph& graph, const xnnpack::Value& value,
                      const std::string& place, const std::string& what) {
    const uint8_t* data = find(graph.constants[value.constant]);
    if (data == nullptr || uses_at_[data] != 1) return;
    const auto count = static_cast<size_t>(xnnpack::count_elements(value.dims));
    if (value.datatype == xnnpack::Datatype::FP32) {
      change_weight(Fault::Kind::kPayloadWeight, place, what, data, count, ScalarType::Float);
    } else if (value.datatype == xnnpack::Datatype::QCINT8 ||
               value.datatype == xnnpack::Datatype::QINT8) {
      change_weight(Fault::Kind::kPayloadWeight, place, what, data, count, ScalarType::Char);
    } else if (value.datatype == xnnpack::Datatype::FP16) {
      change_weight(Fault::Kind::kPayloadWeight, place, what, data, count, ScalarType::Half);
    } else if (value.datatype == xnnpack::Datatype::QINT32 ||
               value.datatype == xnnpack::Datatype::QCINT32) {
      change_weight(Fault::Kind::kPayloadWeight, place, what + " bias", data, count,
                    ScalarType::Int);
    } else if (value.datatype == xnnpack::Datatype::QBINT4 ||
               value.datatype == xnnpack::Datatype::QCINT4) {
      change_row(value, data, place, what);
    }
    if (value.quantization == xnnpack::Quantization::kPerGroup) {
      change_group(graph, value, place, what);
      return;
    }
    const xnnpack::Scales& scales = value.quant.scales;
    if (value.quantization != xnnpack::Quantization::kPerChannel || scales.count == 0) return;
    const uint8_t* first =
        scales.constant == 0 ? scales.inline_data : find(graph.constants[scales.constant]);
    if (first == nullptr || (scales.constant != 0 && uses_at_[first] != 1)) return;
    // Scales of biases follow from those of filters and are not read.
    if (value.datatype == xnnpack::Datatype::QCINT32) return;
    const uint8_t* at = first + scales.count / 2 * sizeof(float);
    add(Fault::Kind::kPayloadScale, place, what + " scale of a channel", at,
        bytes_of(read<float>(at) * 8));
  }

  // Eight levels of 4 bits in the middle, each as far away as it goes.
  void change_row(const xnnpack::Value& value, const uint8_t* data, const std::string& place,
                  const std::string& what) {
    const auto size = static_cast<size_t>(xnnpack::count_bytes(value));
    std::vector<uint8_t> levels(std::min<size_t>(size, 4));
    const uint8_t* at = data + size / 2 / levels.size() * levels.size();
    for (size_t i = 0; i < levels.size(); ++i) levels[i] = at[i] ^ 0x88;
    add(Fault::Kind::kPayloadWeight, place, what + " levels", at, std::move(levels));
  }

  // Scales of groups are bfloat16: the exponent is 3 larger.
  void change_group(const xnnpack::Graph& graph, const xnnpack::Value& value,
                    const std::string& place, const std::string& what) {
    const xnnpack::Scales& scales = value.quant.scales;
    if (scales.constant == 0 || scales.count == 0) return;
    const uint8_t* first = find(graph.constants[scales.constant]);
    if (first == nullptr || uses_at_[first] != 1) return;
    const uint8_t* at = first + scales.count / 2 * sizeof(uint16_t);
    add(Fault::Kind::kPayloadScale, place, what + " scale of a group", at,
        bytes_of(static_cast<uint16_t>(read<uint16_t>(at) + 3 * 0x80)));
  }

  void change_clamp(const xf::Node& node, const std::string& place, const std::string& what) {
    const auto* range = node.output_min_max();
    if (range == nullptr) return;
    const auto low = range->output_min();
    const auto high = range->output_max();
    const uint8_t* at = address_of(range, xf::OutputMinMax::VT_OUTPUT_MIN);
    if (at != nullptr && std::isfinite(low)) {
      add(Fault::Kind::kPayloadClamp, place, what + " min", at, bytes_of(low + 0.5f));
    }
    at = address_of(range, xf::OutputMinMax::VT_OUTPUT_MAX);
    if (at != nullptr && low < 0.125f) {
      add(Fault::Kind::kPayloadClamp, place, what + " max", at,
          bytes_of(std::isfinite(high) ? std::max(high * 0.25f, low) : 0.25f));
    }
  }

  // What a node takes beside its values.
  void change_number(const xf::Node& node, const std::string& place, const std::string& what) {
    const uint8_t* at = nullptr;
    if (const auto* leaky = node.node_as_LeakyRelu()) {
      at = address_of(leaky, xf::LeakyRelu::VT_NEGATIVE_SLOPE);
    } else if (const auto* elu = node.node_as_Elu()) {
      at = address_of(elu, xf::Elu::VT_ALPHA);
    } else if (const auto* pad = node.node_as_StaticConstantPad()) {
      at = address_of(pad, xf::StaticConstantPad::VT_PADDING_VALUE);
    }
    if (at == nullptr) return;
    add(Fault::Kind::kArgument, place, what, at, bytes_of(read<float>(at) * 1.5f + 0.25f));
  }

  void change_kind(const xf::Node& node, const std::string& place, const std::string& what) {
    const uint8_t* at = address_of(&node, xf::Node::VT_NODE_TYPE);
    for (const auto& [one, other] : kNodeTwins) {
      if (node.node_type() != one && node.node_type() != other) continue;
      const xf::NodeUnion twin = node.node_type() == one ? other : one;
      add(Fault::Kind::kPayloadKernel, place, what + " runs " + xf::EnumNameNodeUnion(twin), at,
          bytes_of(twin));
    }
    const xf::Node2x1* pair = node.node_as_Subtract();
    if (pair == nullptr) pair = node.node_as_Div();
    if (pair == nullptr) return;
    const uint8_t* first = address_of(pair, xf::Node2x1::VT_INPUT1_ID);
    const uint8_t* second = address_of(pair, xf::Node2x1::VT_INPUT2_ID);
    if (first == nullptr || second == nullptr) return;
    // A fault is one place in the file, so both operands are the second.
    add(Fault::Kind::kPayloadKernel, place, what + " of one operand", first,
        bytes_of(pair->input2_id()));
  }

  // A quarter of the range: what lies outside is cut off by the node that computes it.
  void change_scale(const xf::Value& value, const std::string& place, const std::string& what) {
    const auto* quantized = value.value_as_QuantizedTensorValue();
    if (quantized == nullptr) return;
    const auto* scale = quantized->quant_params_as_PerTensorQuant();
    if (scale == nullptr) return;
    add(Fault::Kind::kPayloadScale, place, what + " scale of the result",
        address_of(scale, xf::PerTensorQuant::VT_SCALE), bytes_of(scale->scale() * 0.25f));
    const uint8_t* at = address_of(scale, xf::PerTensorQuant::VT_ZERO_POINT);
    if (at == nullptr) return;
    const int32_t zero = scale->zero_point();
    add(Fault::Kind::kPayloadScale, place, what + " zero point of the result", at,
        bytes_of<int32_t>(zero > 0 ? zero - 60 : zero + 60));
  }

  const uint8_t* bytes_;
  const size_t size_;
  const fb::Program& program_;
  const fb::ExecutionPlan& plan_;
  const uint64_t segment_base_;
  std::map<int64_t, int> uses_;
  std::map<uint32_t, int> uses_of_operator_;
  std::map<const uint8_t*, int> uses_at_;  // of constants, by place in the file
  std::string place_;
  std::vector<Fault> faults_;
};

}  // namespace

std::vector<Fault> faults_of(const std::string& program) { return Planter(program).plant(); }

std::string with(std::string program, const Fault& fault) {
  std::copy(fault.bytes.begin(), fault.bytes.end(),
            program.begin() + static_cast<ptrdiff_t>(fault.offset));
  return program;
}

const char* to_string(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::kWeight:
      return "weight";
    case Fault::Kind::kScale:
      return "scale";
    case Fault::Kind::kArgument:
      return "argument";
    case Fault::Kind::kKernel:
      return "kernel";
    case Fault::Kind::kPayloadWeight:
      return "weight of a payload";
    case Fault::Kind::kPayloadScale:
      return "scale of a payload";
    case Fault::Kind::kPayloadClamp:
      return "clamp of a payload";
    case Fault::Kind::kPayloadKernel:
      return "kernel of a payload";
  }
  return "";
}

}  // namespace petrel::test
