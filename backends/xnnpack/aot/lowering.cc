// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/lowering.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/merge_conversions.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/aot/quantized_weight.h"
#include "backends/xnnpack/format/shape_rules.h"
#include "exir/ops/read_sizes.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

Dims to_dims(const exir::Sizes& sizes) { return Dims(sizes.begin(), sizes.end()); }

bool varies(const exir::rules::Size& size) { return !size.expression().is_constant(); }

// Of sizes that are fixed.
Dims to_dims(const Extents& sizes) {
  Dims dims;
  for (const exir::rules::Size& size : sizes) {
    dims.push_back(static_cast<uint32_t>(size.expression().constant()));
  }
  return dims;
}

Extents padded_sizes(const Extents& sizes, size_t rank) {
  Extents padded(rank > sizes.size() ? rank - sizes.size() : 0, 1);
  padded.insert(padded.end(), sizes.begin(), sizes.end());
  return padded;
}

// Whether an image is put into the other layout without a transpose. A reshape works
// out one size at most.
bool is_moved_by_reshape(const Extents& plain) {
  return is_same_in_both_layouts(plain) && std::count_if(plain.begin(), plain.end(), varies) <= 1;
}

}  // namespace

absl::Status Lowering::run() {
  add_inputs();
  merge_activations();
  plan();
  for (const auto& node : partition_.nodes()) {
    if (merged_into_.count(node.get()) == 0) PETREL_RETURN_IF_ERROR(lower(*node));
  }
  PETREL_RETURN_IF_ERROR(add_outputs());
  PETREL_RETURN_IF_ERROR(part_packed_constants());
  merge_conversions(&graph_, &sizes_);
  return state_dims();
}

void Lowering::add_inputs() {
  for (const exir::Value* input : partition_.inputs()) {
    floats_ = float_datatype(input->tensor().dtype);
    const uint32_t id = add_value(exir::sizes_of(input));
    graph_.values[id].dims = to_dims(input->tensor().sizes);
    graph_.values[id].external_id = graph_.num_externs++;
    graph_.values[id].flags = kExternalInput;
    if (input->tensor().dtype == exir::ScalarType::kChar && !input->users().empty()) {
      const std::optional<TensorQuant> quant = tensor_quant(*input->users().front());
      if (quant) quantize(id, quant->params());
    }
    forms_[input] = {id, Layout::kPlain};
  }
  // The first time a node's result leaves it can be written in place.
  for (size_t i = 0; i < partition_.outputs().size(); ++i) {
    const exir::Value* output = partition_.outputs()[i];
    const auto external_id = static_cast<uint32_t>(graph_.num_externs + i);
    if (output->producer() != nullptr) outputs_.try_emplace(output, external_id);
  }
}

void Lowering::merge_activations() {
  for (const auto& node : partition_.nodes()) {
    const exir::Node* producer = activation_host(*node);
    if (producer == nullptr || merged_into_.count(producer) != 0) continue;
    merged_into_[node.get()] = producer;
    activation_of_[producer] = node.get();
  }
}

const exir::Value* Lowering::effective_result(const exir::Node& node) const {
  const auto activation = activation_of_.find(&node);
  return activation == activation_of_.end() ? node.result() : activation->second->result();
}

void Lowering::plan() {
  LayoutProblem problem;
  for (const auto& node : partition_.nodes()) {
    if (merged_into_.count(node.get()) == 0) problem.nodes.push_back(node.get());
  }
  problem.need = [](const exir::Node& node) {
    const OpRow* row = find_row(node.op());
    return row == nullptr ? LayoutNeed::kPlain : row->need(node);
  };
  problem.result = [this](const exir::Node& node) { return effective_result(node); };
  layouts_ = plan_layouts(problem);
}

absl::Status Lowering::lower(const exir::Node& node) {
  const OpRow* row = find_row(node.op());
  const exir::Support support =
      row == nullptr ? exir::Support::no("XNNPACK has no such operator") : row->check(node);
  if (!support.supported) {
    return absl::InvalidArgumentError(absl::StrCat(node.describe(), ": ", support.reason));
  }
  const auto activation = activation_of_.find(&node);
  range_ = activation == activation_of_.end() ? Range() : *activation_range(*activation->second);
  debug_handle_ = static_cast<uint32_t>(debug_handles_.size());
  debug_handles_[debug_handle_] = effective_result(node)->name();
  floats_ = float_datatype(node.result()->tensor().dtype);
  narrowing_ = {};
  PETREL_RETURN_IF_ERROR(row->lower(*this, node));
  if (narrowing_.to != kNoId) add_node(NodeKind::Convert, {narrowing_.from}, narrowing_.to);
  return absl::OkStatus();
}

absl::Status Lowering::add_outputs() {
  for (const exir::Value* output : partition_.outputs()) {
    const uint32_t external_id = graph_.num_externs++;
    range_ = Range();
    debug_handle_ = static_cast<uint32_t>(debug_handles_.size());
    debug_handles_[debug_handle_] = output->name();
    PETREL_ASSIGN_OR_RETURN(const uint32_t source, operand(output, Layout::kPlain));
    if (graph_.values[source].external_id == external_id) continue;
    const uint32_t id = add_value_like(source, exir::sizes_of(output));
    // A constant of one element is kept as [1], whatever its rank.
    if (exir::is_always(sizes_[source], sizes_[id])) {
      add_node(NodeKind::Copy, {source}, id);
    } else {
      add_reshape(source, id);
    }
    graph_.values[id].external_id = external_id;
    graph_.values[id].flags = kExternalOutput;
  }
  return absl::OkStatus();
}

// Inputs and constants have theirs.
absl::Status Lowering::state_dims() {
  for (const Node& node : graph_.nodes) {
    Value& output = graph_.values[node.outputs[0]];
    const Extents& sizes = sizes_[node.outputs[0]];
    if (std::none_of(sizes.begin(), sizes.end(), varies)) {
      output.dims = to_dims(sizes);
      continue;
    }
    std::vector<const Dims*> inputs;
    for (const uint32_t id : node.inputs) {
      inputs.push_back(id == kNoId ? nullptr : &graph_.values[id].dims);
    }
    if (const Problem p = infer_output_dims(node, inputs, &output.dims); !p.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("'", debug_handles_.at(node.debug_handle),
                                                     "' with the largest sizes: ", p.text()));
    }
  }
  return absl::OkStatus();
}

Layout Lowering::result_layout(const exir::Node& node) const {
  const auto found = layouts_.find(effective_result(node));
  return found == layouts_.end() ? Layout::kPlain : found->second;
}

Extents Lowering::result_sizes(const exir::Node& node) const {
  Extents sizes = exir::sizes_of(effective_result(node));
  return result_layout(node) == Layout::kPlain ? sizes : channels_last_sizes(sizes);
}

uint32_t Lowering::result(const exir::Node& node) {
  const exir::Value* value = effective_result(node);
  const Layout layout = result_layout(node);
  const uint32_t id = add_value(result_sizes(node));
  if (layout == Layout::kPlain) mark_output(value, id);
  forms_[value] = {id, layout};
  const Datatype own = float_datatype(node.result()->tensor().dtype);
  if (graph_.values[id].datatype == own) return id;
  graph_.values[id].datatype = own;
  narrowing_ = {add_value(result_sizes(node)), id};
  return narrowing_.from;
}

uint32_t Lowering::widened(uint32_t id) {
  if (floats_ != Datatype::FP16) return id;
  floats_ = Datatype::FP32;
  const uint32_t wide = add_value(Extents(sizes_[id]));
  add_node(NodeKind::Convert, {id}, wide);
  return wide;
}

uint32_t Lowering::narrowed(uint32_t id) {
  floats_ = Datatype::FP16;
  const uint32_t narrow = add_value(Extents(sizes_[id]));
  add_node(NodeKind::Convert, {id}, narrow);
  return narrow;
}

void Lowering::mark_output(const exir::Value* value, uint32_t id) {
  const auto output = outputs_.find(value);
  if (output == outputs_.end()) return;
  graph_.values[id].external_id = output->second;
  graph_.values[id].flags = kExternalOutput;
}

uint32_t Lowering::add_value(Extents sizes) {
  graph_.values.emplace_back();
  graph_.values.back().datatype = floats_;
  sizes_.push_back(std::move(sizes));
  return static_cast<uint32_t>(graph_.values.size() - 1);
}

uint32_t Lowering::add_value_like(uint32_t id, Extents sizes) {
  const uint32_t made = add_value(std::move(sizes));
  const Value& like = graph_.values[id];
  if (like.datatype == Datatype::QINT8) {
    quantize(made, like.quant);
  } else {
    graph_.values[made].datatype = like.datatype;
  }
  return made;
}

float Lowering::lowest() const {
  constexpr float kLowestHalf = -65504;
  return floats_ == Datatype::FP16 ? kLowestHalf : std::numeric_limits<float>::lowest();
}

Node& Lowering::add_node(NodeKind kind, std::vector<uint32_t> inputs, uint32_t output) {
  Node node;
  node.kind = kind;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  node.debug_handle = debug_handle_;
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back();
}

void Lowering::add_reshape(uint32_t id, uint32_t output) {
  std::vector<uint32_t>& shape = add_node(NodeKind::StaticReshape, {id}, output).list;
  for (const exir::rules::Size& size : sizes_[output]) {
    shape.push_back(varies(size) ? 0 : static_cast<uint32_t>(size.expression().constant()));
  }
}

uint32_t Lowering::reshape(uint32_t id, const Extents& sizes) {
  if (exir::is_always(sizes_[id], sizes)) return id;
  const uint32_t out = add_value_like(id, sizes);
  add_reshape(id, out);
  return out;
}

absl::StatusOr<uint32_t> Lowering::operand(const exir::Value* value, Layout layout, size_t rank) {
  const Extents sizes = exir::sizes_of(value);
  if (rank == 0) rank = sizes.size();
  if (value->is_constant()) return constant_operand(value->constant(), layout, rank);
  const auto found = forms_.find(value);
  if (found == forms_.end()) {
    const std::optional<StoredWeight> stored = stored_constant(value);
    if (stored) return stored_operand(*stored, layout, rank);
    return absl::InvalidArgumentError(
        absl::StrCat("value '", value->name(), "' is used before it is made"));
  }
  const Form form = found->second;
  if (form.layout == layout && (layout == Layout::kPlain || rank == sizes.size())) return form.id;
  const auto key = std::make_tuple(value, layout, rank);
  const auto done = converted_.find(key);
  if (done != converted_.end()) return done->second;

  uint32_t id = form.id;
  if (form.layout == Layout::kChannelsLast) id = convert(id, sizes, Layout::kPlain);
  if (layout == Layout::kChannelsLast) {
    const Extents padded = padded_sizes(sizes, rank);
    // A move of axes of one element does the padding as well.
    if (!is_moved_by_reshape(padded)) id = reshape(id, padded);
    id = convert(id, padded, Layout::kChannelsLast);
  }
  if (layout == Layout::kPlain) mark_output(value, id);
  converted_[key] = id;
  return id;
}

Layout Lowering::layout_of(const exir::Value* value) const {
  const auto found = forms_.find(value);
  return found == forms_.end() ? Layout::kPlain : found->second.layout;
}

absl::StatusOr<uint32_t> Lowering::any_operand(const exir::Value* value) {
  return operand(value, layout_of(value));
}

absl::StatusOr<uint32_t> Lowering::quantized_at_run_time(const exir::Value* value, Layout layout) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t id, operand(value, layout));
  const auto [place, is_new] = quantized_.try_emplace({id, layout}, 0);
  if (!is_new) return uint32_t{place->second};
  place->second = add_value(Extents(sizes_[id]));
  Value& made = graph_.values[place->second];
  made.datatype = Datatype::QDINT8;
  made.quantization = Quantization::kPerTokenDynamic;
  made.quant.nonbatch_dims = layout == Layout::kPlain ? 1 : 3;
  add_node(NodeKind::Convert, {id}, place->second);
  return uint32_t{place->second};
}

// `plain` are the sizes of the IR; at most two nodes.
uint32_t Lowering::convert(uint32_t id, const Extents& plain, Layout to) {
  const Extents channels_last = channels_last_sizes(plain);
  const bool to_plain = to == Layout::kPlain;
  if (is_moved_by_reshape(plain)) return reshape(id, to_plain ? plain : channels_last);
  if (plain.size() == 5) {
    const Extents planes = {plain[0], plain[2], plain[3], plain[4], plain[1]};
    if (to_plain) id = reshape(id, planes);
    const uint32_t out = add_value_like(id, to_plain ? plain : planes);
    add_node(NodeKind::StaticTranspose, {id}, out).list =
        to_plain ? std::vector<uint32_t>{0, 4, 1, 2, 3} : std::vector<uint32_t>{0, 2, 3, 4, 1};
    return reshape(out, to_plain ? plain : channels_last);
  }
  const bool is_image = plain.size() == 4;
  std::vector<uint32_t> perm = {0, 2, 1};
  if (is_image)
    perm = to_plain ? std::vector<uint32_t>{0, 3, 1, 2} : std::vector<uint32_t>{0, 2, 3, 1};
  // Rank 3 is transposed as it is; its channels-last form has an axis more.
  const Extents rows = {plain[0], plain[2], plain[1]};
  if (!is_image && to_plain) id = reshape(id, rows);
  const uint32_t out = add_value_like(id, to_plain ? plain : is_image ? channels_last : rows);
  add_node(NodeKind::StaticTranspose, {id}, out).list = perm;
  return reshape(out, to_plain ? plain : channels_last);
}

void Lowering::quantize(uint32_t id, const QuantParams& quant) {
  graph_.values[id].datatype = Datatype::QINT8;
  graph_.values[id].quantization = Quantization::kPerTensor;
  graph_.values[id].quant = quant;
}

}  // namespace petrel::backends::xnnpack::aot
