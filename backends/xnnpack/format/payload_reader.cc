// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/payload_reader.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "backends/xnnpack/format/header.h"
#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/quantization_reader.h"
#include "backends/xnnpack/format/structure_bytes.h"
#include "schema/formats.h"

namespace petrel::backends::xnnpack {
namespace {

namespace fbs = schema::xnnpack;

std::string number(uint64_t value) { return std::to_string(value); }

class Reader {
 public:
  Reader(const uint8_t* payload, const Header& header, const fbs::Graph& root, Graph* out)
      : payload_(payload), header_(header), root_(root), out_(*out) {}

  Problem read() {
    if (root_.version() != nullptr && root_.version()->str() != "0") {
      return Problem::unsupported("version is '" + root_.version()->str() + "', must be '0'");
    }
    out_.num_externs = root_.num_externs();
    if (out_.num_externs > kMaxExternals) {
      return Problem::invalid("num_externs is " + number(out_.num_externs) + ", must be at most " +
                              number(kMaxExternals));
    }
    if (Problem p = read_constants(); !p.ok()) return p;
    if (root_.values() != nullptr) {
      out_.values.reserve(root_.values()->size());
      for (const fbs::Value* value : *root_.values()) {
        const std::string where = "value " + number(out_.values.size());
        if (Problem p = read_value(*value); !p.ok()) return std::move(p).in(where);
      }
    }
    // Every node makes a value of its own; one table may stand for many nodes, which
    // take more memory than that.
    if (root_.nodes() != nullptr && root_.nodes()->size() > out_.values.size()) {
      return Problem::invalid("there are " + number(root_.nodes()->size()) + " nodes for " +
                              number(out_.values.size()) + " values");
    }
    if (root_.nodes() != nullptr) {
      out_.nodes.reserve(root_.nodes()->size());
      for (const fbs::Node* node : *root_.nodes()) {
        std::string where = "node " + number(out_.nodes.size());
        if (Problem p = read_node(*node, &where); !p.ok()) return std::move(p).in(where);
      }
    }
    restate_dims();
    return Problem::none();
  }

 private:
  // Of what is quantised at run time ExecuTorch states the dims in PyTorch's order, even
  // where channels are last.
  void restate_dims() {
    for (const Node& node : out_.nodes) {
      if (node.kind != NodeKind::Convert) continue;
      Value& made = out_.values[node.outputs[0]];
      if (made.datatype == Datatype::QDINT8) made.dims = out_.values[node.inputs[0]].dims;
    }
  }

  Problem read_constants() {
    const auto* named = root_.constant_data();
    if (named != nullptr && named->size() > 0) {
      for (uint32_t i = 1; i < named->size(); ++i) {
        if (Problem p = read_constant(*named->Get(i)); !p.ok()) {
          return std::move(p).in("constant " + number(i));
        }
      }
      return Problem::none();
    }
    const auto* inline_buffers = root_.constant_buffer();
    if (inline_buffers == nullptr) return Problem::none();
    for (uint32_t i = 1; i < inline_buffers->size(); ++i) {
      const auto* bytes = inline_buffers->Get(i)->storage();
      ConstantData constant;
      if (bytes != nullptr) {
        constant.data = bytes->data();
        constant.size = bytes->size();
      }
      out_.constants.push_back(constant);
    }
    return Problem::none();
  }

  Problem read_constant(const fbs::ConstantData& entry) {
    ConstantData constant;
    if (entry.named_key() != nullptr && entry.named_key()->size() > 0) {
      key_bytes_ += entry.named_key()->size();
      if (key_bytes_ > header_.flatbuffer_size) {
        return Problem::invalid("the keys up to it have more bytes than the payload");
      }
      constant.key = entry.named_key()->str();
    } else {
      if (entry.offset() > header_.constants_size ||
          entry.size() > header_.constants_size - entry.offset()) {
        return Problem::invalid("it is at " + number(entry.offset()) + " and has " +
                                number(entry.size()) + " bytes, the constant region has " +
                                number(header_.constants_size));
      }
      constant.data = payload_ + header_.constants_offset + entry.offset();
      constant.size = entry.size();
    }
    out_.constants.push_back(std::move(constant));
    return Problem::none();
  }

  Problem read_value(const fbs::Value& entry) {
    Value value;
    const fbs::TensorValue* tensor = entry.value_as_TensorValue();
    if (const auto* quantized = entry.value_as_QuantizedTensorValue(); quantized != nullptr) {
      tensor = quantized->tensor_value();
      if (Problem p = read_quantization(*quantized, out_.constants.size(), &value); !p.ok()) {
        return p;
      }
      if (value.quant.scales.inline_data != nullptr) {
        scale_bytes_ += uint64_t{value.quant.scales.count} * sizeof(float);
        if (scale_bytes_ > header_.flatbuffer_size) {
          return Problem::invalid("the scales up to it have more bytes than the payload");
        }
      }
    }
    if (tensor == nullptr) {
      return Problem::invalid("it is of type " + number(static_cast<uint8_t>(entry.value_type())) +
                              " without contents");
    }
    value.datatype = tensor->datatype();
    if (value.datatype <= fbs::Datatype::INVALID || value.datatype > fbs::Datatype::MAX) {
      return Problem::invalid(
          "datatype is " + std::to_string(static_cast<int16_t>(value.datatype)) +
          ", must be in [1, " + std::to_string(static_cast<int16_t>(fbs::Datatype::MAX)) + "]");
    }
    // An older way to say that the value is quantised when it arrives.
    if (tensor->dq_datatype() != fbs::Datatype::INVALID) {
      value.quantization = Quantization::kPerTokenDynamic;
    }
    if (Problem p = read_list("dims", tensor->dims(), tensor->num_dims(), &value.dims); !p.ok()) {
      return p;
    }
    value.constant = tensor->constant_buffer_idx();
    if (value.constant >= out_.constants.size()) {
      return Problem::invalid("constant_buffer_idx is " + number(value.constant) +
                              ", must be below " + number(out_.constants.size()));
    }
    value.external_id = tensor->external_id();
    value.flags = tensor->flags();
    if (!ids_.emplace(tensor->id_out(), static_cast<uint32_t>(out_.values.size())).second) {
      return Problem::invalid("id_out " + number(tensor->id_out()) + " is taken");
    }
    out_.values.push_back(std::move(value));
    return Problem::none();
  }

  Problem read_node(const fbs::Node& entry, std::string* where) {
    const NodeKindInfo* info = find_node_kind(entry.node_type());
    if (info == nullptr || info->kind == kNorm) {
      return Problem::unsupported("kind is " + number(static_cast<uint8_t>(entry.node_type())) +
                                  ", must be in [1, " +
                                  number(static_cast<uint8_t>(NodeKind::MAX)) + "]");
    }
    *where += std::string(" (") + info->name + ")";
    if (entry.node() == nullptr) return Problem::invalid("it has no contents");
    Node node;
    node.kind = info->kind;
    node.debug_handle = entry.debug_handle();
    if (entry.output_min_max() != nullptr) {
      node.output_min = entry.output_min_max()->output_min();
      node.output_max = entry.output_min_max()->output_max();
    }
    if (Problem p = read_contents(*info, entry.node(), &node); !p.ok()) return p;
    for (std::vector<uint32_t>* list : {&node.inputs, &node.outputs}) {
      for (size_t i = 0; i < list->size(); ++i) {
        uint32_t& id = (*list)[i];
        const bool is_bias = list == &node.inputs && info->has_bias && i + 1 == list->size();
        if (is_bias && id == kNoId) continue;
        const auto found = ids_.find(id);
        if (found == ids_.end()) {
          return Problem::invalid(std::string(list == &node.inputs ? "input " : "output ") +
                                  number(i) + " is value " + number(id) + ", which is not there");
        }
        id = found->second;
      }
    }
    out_.nodes.push_back(std::move(node));
    return Problem::none();
  }

  // The tables of one family share their fields.
  Problem read_contents(const NodeKindInfo& info, const void* table, Node* node) {
    switch (info.family) {
      case NodeFamily::kUnary:
        return read_as<fbs::Node1x1>(info, table, node);
      case NodeFamily::kBinary:
        return read_as<fbs::Node2x1>(info, table, node);
      case NodeFamily::kFullyConnected:
        return read_as<fbs::FullyConnected>(info, table, node);
      case NodeFamily::kConvolution:
        return read_as<fbs::Conv>(info, table, node);
      case NodeFamily::kPooling:
        return read_as<fbs::Pooling2d>(info, table, node);
      case NodeFamily::kArgMaxPooling:
        return read_as<fbs::ArgMaxPooling2d>(info, table, node);
      case NodeFamily::kTranspose:
        return read_as<fbs::StaticTranspose>(info, table, node);
      case NodeFamily::kReshape:
        return read_as<fbs::StaticReshape>(info, table, node);
      case NodeFamily::kSlice:
        return read_as<fbs::StaticSlice>(info, table, node);
      case NodeFamily::kPad:
        return read_as<fbs::StaticConstantPad>(info, table, node);
      case NodeFamily::kResize:
        return read_as<fbs::StaticResizeBilinear2d>(info, table, node);
      case NodeFamily::kConcatenate:
        return read_as<fbs::Concatenate>(info, table, node);
      case NodeFamily::kLeakyRelu:
        return read_as<fbs::LeakyRelu>(info, table, node);
      case NodeFamily::kElu:
        return read_as<fbs::Elu>(info, table, node);
      case NodeFamily::kAttention:
        return read_as<fbs::ScaledDotProductAttention>(info, table, node);
      case NodeFamily::kNorm:
        break;
    }
    return Problem::invalid("unknown family");
  }

  template <typename Table>
  Problem read_as(const NodeKindInfo& info, const void* table, Node* node) {
    return read(info, *static_cast<const Table*>(table), node);
  }

  Problem read(const NodeKindInfo&, const fbs::Node1x1& t, Node* node) {
    read_unary(t, node);
    return Problem::none();
  }

  Problem read(const NodeKindInfo&, const fbs::Node2x1& t, Node* node) {
    node->inputs = {t.input1_id(), t.input2_id()};
    node->outputs = {t.output_id()};
    node->flags = t.flags();
    return Problem::none();
  }

  Problem read(const NodeKindInfo&, const fbs::FullyConnected& t, Node* node) {
    node->inputs = {t.input1_id(), t.filter_id(), t.bias_id()};
    node->outputs = {t.output_id()};
    node->flags = t.flags();
    return Problem::none();
  }

  Problem read(const NodeKindInfo&, const fbs::Conv& t, Node* node) {
    read_convolution(t, node);
    return Problem::none();
  }

  Problem read(const NodeKindInfo&, const fbs::Pooling2d& t, Node* node) {
    read_unary(t, node);
    read_padding(t, node);
    Window& w = node->window;
    w.kernel_height = t.pooling_height();
    w.kernel_width = t.pooling_width();
    w.stride_height = t.stride_height();
    w.stride_width = t.stride_width();
    w.dilation_height = t.dilation_height();
    w.dilation_width = t.dilation_width();
    // Average pools have no dilation; some writers leave it out.
    if (node->kind == NodeKind::AvgPooling2d) {
      if (w.dilation_height == 0) w.dilation_height = 1;
      if (w.dilation_width == 0) w.dilation_width = 1;
    }
    return Problem::none();
  }

  Problem read(const NodeKindInfo&, const fbs::ArgMaxPooling2d& t, Node* node) {
    node->inputs = {t.input_id()};
    node->outputs = {t.output_value_id(), t.output_index_id()};
    node->flags = t.flags();
    read_padding(t, node);
    node->window.kernel_height = node->window.stride_height = t.pooling_height();
    node->window.kernel_width = node->window.stride_width = t.pooling_width();
    return Problem::none();
  }

  Problem read(const NodeKindInfo&, const fbs::StaticTranspose& t, Node* node) {
    read_unary(t, node);
    return read_list("perm", t.perm(), t.num_dims(), &node->list);
  }

  Problem read(const NodeKindInfo&, const fbs::StaticReshape& t, Node* node) {
    read_unary(t, node);
    return read_list("new_shape", t.new_shape(), t.num_dims(), &node->list);
  }

  Problem read(const NodeKindInfo&, const fbs::StaticSlice& t, Node* node) {
    read_unary(t, node);
    if (Problem p = read_list("offsets", t.offsets(), t.num_dims(), &node->list); !p.ok()) {
      return p;
    }
    return read_list("sizes", t.sizes(), t.num_dims(), &node->list2);
  }

  Problem read(const NodeKindInfo&, const fbs::StaticConstantPad& t, Node* node) {
    read_unary(t, node);
    node->scalar = t.padding_value();
    if (Problem p = read_list("pre_paddings", t.pre_paddings(), &node->list); !p.ok()) return p;
    return read_list("post_paddings", t.post_paddings(), &node->list2);
  }

  Problem read(const NodeKindInfo&, const fbs::StaticResizeBilinear2d& t, Node* node) {
    read_unary(t, node);
    node->new_height = t.new_height();
    node->new_width = t.new_width();
    return Problem::none();
  }

  Problem read(const NodeKindInfo& info, const fbs::Concatenate& t, Node* node) {
    node->inputs = {t.input1_id(), t.input2_id(), t.input3_id(), t.input4_id(), t.input5_id()};
    node->inputs.resize(info.num_inputs);
    node->outputs = {t.output_id()};
    node->flags = t.flags();
    node->axis = t.axis();
    return Problem::none();
  }

  Problem read(const NodeKindInfo&, const fbs::LeakyRelu& t, Node* node) {
    read_unary(t, node);
    node->scalar = t.negative_slope();
    return Problem::none();
  }

  Problem read(const NodeKindInfo&, const fbs::Elu& t, Node* node) {
    read_unary(t, node);
    node->scalar = t.alpha();
    return Problem::none();
  }

  Problem read(const NodeKindInfo&, const fbs::ScaledDotProductAttention& t, Node* node) {
    node->inputs = {t.query_id(), t.key_id(), t.value_id(), t.scale_id(), t.mask_id()};
    node->outputs = {t.output_id()};
    node->flags = t.flags();
    return Problem::none();
  }

  template <typename Table>
  static void read_unary(const Table& t, Node* node) {
    node->inputs = {t.input_id()};
    node->outputs = {t.output_id()};
    node->flags = t.flags();
  }

  template <typename Table>
  static void read_padding(const Table& t, Node* node) {
    node->window.padding_top = t.padding_top();
    node->window.padding_right = t.padding_right();
    node->window.padding_bottom = t.padding_bottom();
    node->window.padding_left = t.padding_left();
  }

  static void read_convolution(const fbs::Conv& t, Node* node) {
    node->inputs = {t.input1_id(), t.filter_id(), t.bias_id()};
    node->outputs = {t.output_id()};
    node->flags = t.flags();
    read_padding(t, node);
    Window& w = node->window;
    w.kernel_height = t.kernel_height();
    w.kernel_width = t.kernel_width();
    w.stride_height = t.subsampling_height();
    w.stride_width = t.subsampling_width();
    w.dilation_height = t.dilation_height();
    w.dilation_width = t.dilation_width();
    node->channels = {t.groups(), t.group_input_channels(), t.group_output_channels(),
                      t.adjustment_height(), t.adjustment_width()};
  }

  // A list may be shared by all tables, so its length is checked before it is
  // copied for one.
  static Problem read_list(const char* name, const flatbuffers::Vector<uint32_t>* list,
                           std::vector<uint32_t>* out) {
    if (list == nullptr) return Problem::none();
    if (list->size() > kMaxValueRank) {
      return Problem::invalid(std::string(name) + " has " + number(list->size()) +
                              " entries, must have at most " + number(kMaxValueRank));
    }
    for (uint32_t i = 0; i < list->size(); ++i) out->push_back(list->Get(i));
    return Problem::none();
  }

  static Problem read_list(const char* name, const flatbuffers::Vector<uint32_t>* list,
                           uint32_t num_dims, std::vector<uint32_t>* out) {
    const uint32_t count = list == nullptr ? 0 : list->size();
    if (count != num_dims) {
      return Problem::invalid("num_dims is " + number(num_dims) + ", " + name + " has " +
                              number(count) + " entries");
    }
    return read_list(name, list, out);
  }

  const uint8_t* payload_;
  const Header& header_;
  const fbs::Graph& root_;
  Graph& out_;
  // Ordered: ids of a file could all have one place in a hash table.
  std::map<uint32_t, uint32_t> ids_;
  uint64_t key_bytes_ = 0;
  uint64_t scale_bytes_ = 0;
};

uint64_t structure_bytes_of(const fbs::Graph& root) {
  const auto size_of = [](const auto* list) { return list == nullptr ? 0 : list->size(); };
  return structure_bytes(size_of(root.values()), size_of(root.nodes()),
                         std::max(size_of(root.constant_data()), size_of(root.constant_buffer())));
}

}  // namespace

Problem read_payload(const uint8_t* payload, size_t size, Graph* out, const MayTake& may_take) {
  *out = Graph();
  Header header;
  if (Problem p = read_header(payload, size, &header); !p.ok()) return p;
  const uint8_t* flatbuffer = payload + header.flatbuffer_offset;
  if (header.flatbuffer_size < 8 || header.flatbuffer_size >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    return Problem::invalid("the flatbuffer has " + number(header.flatbuffer_size) +
                            " bytes, must be in [8, 2^31)");
  }
  // Copied before it is verified: a payload may lie in a mapped file, which
  // another process may write to. Constants behind it are read as numbers only.
  struct alignas(schema::kDataAlignment) Block {
    uint8_t bytes[schema::kDataAlignment];
  };
  const size_t blocks =
      (header.flatbuffer_size + schema::kDataAlignment - 1) / schema::kDataAlignment;
  auto copied = std::make_shared<std::vector<Block>>(blocks);
  std::memcpy(copied->data(), flatbuffer, header.flatbuffer_size);
  flatbuffer = copied->front().bytes;
  out->storage = copied;
  const char* identifier = reinterpret_cast<const char*>(flatbuffer) + schema::kIdentifierOffset;
  const auto is = [&](const char* magic) {
    return std::memcmp(identifier, magic, schema::kMagicBytes) == 0;
  };
  const bool is_old = is(schema::kXnnpackOldIdentifier);
  if (!is_old && !is(schema::kXnnpackIdentifier)) {
    return Problem::unsupported("the flatbuffer's identifier is neither XN00 nor XN01");
  }
  flatbuffers::Verifier verifier(flatbuffer, header.flatbuffer_size);
  if (!verifier.VerifyBuffer<fbs::Graph>(is_old ? schema::kXnnpackOldIdentifier
                                                : schema::kXnnpackIdentifier)) {
    return Problem::invalid("the flatbuffer is damaged");
  }
  const fbs::Graph& root = *flatbuffers::GetRoot<fbs::Graph>(flatbuffer);
  if (const uint64_t bytes = structure_bytes_of(root); may_take && !may_take(bytes)) {
    return Problem::invalid("it takes " + number(bytes) + " bytes, which it may not");
  }
  return Reader(payload, header, root, out).read();
}

}  // namespace petrel::backends::xnnpack
