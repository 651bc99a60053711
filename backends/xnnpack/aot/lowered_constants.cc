// SPDX-License-Identifier: Apache-2.0
//
// The constants of a payload: how Lowering adds weights, numbers and levels.
#include <cstring>
#include <set>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/lowering.h"
#include "backends/xnnpack/aot/quantized_weight.h"
#include "backends/xnnpack/format/node_kind.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/status_macros.h"
#include "schema/formats.h"

namespace petrel::backends::xnnpack::aot {
namespace {

Dims to_dims(const exir::Sizes& sizes) { return Dims(sizes.begin(), sizes.end()); }

template <typename T>
exir::Constant literal(const std::vector<T>& values, exir::ScalarType type) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  exir::Constant constant;
  constant.kind = exir::Constant::Kind::kLiteral;
  constant.type = exir::TensorType::contiguous(type, {static_cast<int64_t>(values.size())});
  constant.data = exir::Blob::owned(std::move(bytes));
  return constant;
}

// A constant as an operand of nodes in `layout`.
WeightView view_of_operand(const exir::Constant& constant, Layout layout, size_t rank) {
  // One element goes with all that others have.
  if (constant.type.numel() == 1) return {{1}, {1}};
  const WeightView view = WeightView::of(constant);
  if (layout == Layout::kPlain) return view;
  const WeightView padded = view.padded_to(rank);
  if (rank == 3) return padded.permuted({0, 2, 1}).with_axis(1);
  if (rank == 4) return padded.permuted({0, 2, 3, 1});
  // Of one volume or one plane, or it were plain (layout.h).
  const size_t planes = padded.sizes[0] == 1 ? 2 : 0;
  return padded.permuted({planes, 3, 4, 1});
}

}  // namespace

Datatype float_datatype(exir::ScalarType type) {
  return type == exir::ScalarType::kHalf ? Datatype::FP16 : Datatype::FP32;
}

absl::StatusOr<uint32_t> Lowering::constant_operand(const exir::ConstantPtr& constant,
                                                    Layout layout, size_t rank) {
  if (constant->type.numel() == 1) {
    PETREL_ASSIGN_OR_RETURN(const uint32_t entry,
                            add_entry(*constant, constant->data, "", constant->type));
    return add_constant({1}, entry, constant->type.dtype);
  }
  const WeightView view = view_of_operand(*constant, layout, rank);
  return this->constant(constant, view, to_dims(view.sizes));
}

absl::StatusOr<uint32_t> Lowering::stored_operand(const StoredWeight& stored, Layout layout,
                                                  size_t rank) {
  const exir::ConstantPtr floats = in_floats(stored);
  const WeightView view = view_of_operand(*floats, layout, rank);
  return made_constant(made_in_floats(stored), floats, view, to_dims(view.sizes));
}

absl::StatusOr<uint32_t> Lowering::quantized_operand(const exir::ConstantPtr& source, Layout layout,
                                                     size_t rank, const QuantParams& quant) {
  const WeightView view = view_of_operand(*source, layout, rank);
  return quantized_constant(source, view, to_dims(view.sizes), Datatype::QINT8,
                            Quantization::kPerTensor, quant);
}

absl::StatusOr<uint32_t> Lowering::constant(const exir::Value* value, const WeightView& view) {
  return constant(value, view, to_dims(view.sizes));
}

absl::StatusOr<uint32_t> Lowering::constant(const exir::Value* value, const WeightView& view,
                                            Dims dims) {
  return constant(value->constant(), view, std::move(dims));
}

absl::StatusOr<uint32_t> Lowering::constant(const exir::ConstantPtr& source, const WeightView& view,
                                            Dims dims) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t entry,
                          add_entry(*source, weights_.blob(source, view), view.form(source->type),
                                    view.type(source->type)));
  return add_constant(std::move(dims), entry, source->type.dtype);
}

absl::StatusOr<uint32_t> Lowering::made_constant(const MadeOf& made,
                                                 const exir::ConstantPtr& values,
                                                 const WeightView& view, Dims dims) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t entry,
                          add_made_entry(made, *values, weights_.blob(values, view),
                                         view.form(values->type), view.type(values->type)));
  return add_constant(std::move(dims), entry, values->type.dtype);
}

absl::StatusOr<uint32_t> Lowering::quantized_constant(const exir::ConstantPtr& source,
                                                      const WeightView& view, Dims dims,
                                                      Datatype datatype, Quantization quantization,
                                                      const QuantParams& quant) {
  if (datatype != Datatype::QCINT4 && datatype != Datatype::QBINT4) {
    PETREL_ASSIGN_OR_RETURN(const uint32_t entry,
                            add_entry(*source, weights_.blob(source, view), view.form(source->type),
                                      view.type(source->type)));
    return add_quantized(std::move(dims), entry, datatype, quantization, quant);
  }
  PETREL_ASSIGN_OR_RETURN(const exir::Blob packed, weights_.in_4_bits(source, view));
  const auto type = exir::TensorType::contiguous(
      exir::ScalarType::kByte,
      {view.sizes[0], static_cast<int64_t>(packed.size()) / view.sizes[0]});
  PETREL_ASSIGN_OR_RETURN(
      const uint32_t entry,
      add_entry(*source, packed, absl::StrCat(view.form(source->type), "4bit"), type));
  return add_quantized(std::move(dims), entry, datatype, quantization, quant);
}

absl::StatusOr<uint32_t> Lowering::integers(const MadeOf& made, const std::vector<int32_t>& values,
                                            Datatype datatype, Quantization quantization,
                                            const QuantParams& quant) {
  const exir::Constant source = literal(values, exir::ScalarType::kInt);
  PETREL_ASSIGN_OR_RETURN(const uint32_t entry,
                          add_made_entry(made, source, source.data, "", source.type));
  return add_quantized({static_cast<uint32_t>(values.size())}, entry, datatype, quantization,
                       quant);
}

absl::StatusOr<Scales> Lowering::scales(const MadeOf& made, const std::vector<float>& values,
                                        exir::ScalarType type) {
  exir::Constant source;
  source.kind = exir::Constant::Kind::kLiteral;
  source.type = exir::TensorType::contiguous(type, {static_cast<int64_t>(values.size())});
  PETREL_ASSIGN_OR_RETURN(source.data, exir::encode_constant({values.begin(), values.end()}, type));
  Scales scales;
  if (made.weights.size() == 1) {
    const exir::Constant& weight = *made.weights[0];
    PETREL_ASSIGN_OR_RETURN(scales.constant,
                            add_entry(weight, source.data, made.recipe,
                                      made.recipe.empty() ? weight.type : source.type));
  } else {
    PETREL_ASSIGN_OR_RETURN(scales.constant, add_entry(source, source.data, "", source.type));
  }
  scales.count = static_cast<uint32_t>(values.size());
  return scales;
}

uint32_t Lowering::add_quantized(Dims dims, uint32_t entry, Datatype datatype,
                                 Quantization quantization, const QuantParams& quant) {
  const uint32_t id = add_value(Extents(dims.begin(), dims.end()));
  Value& value = graph_.values[id];
  value.dims = std::move(dims);
  value.constant = entry;
  value.datatype = datatype;
  value.quantization = quantization;
  value.quant = quant;
  return id;
}

absl::StatusOr<uint32_t> Lowering::scalar(double value) {
  return floats({}, {1}, {static_cast<float>(value)});
}

absl::StatusOr<uint32_t> Lowering::floats(const MadeOf& made, Dims dims,
                                          const std::vector<float>& values) {
  exir::Constant source = literal(values, exir::ScalarType::kFloat);
  const auto type = floats_ == Datatype::FP16 ? exir::ScalarType::kHalf : exir::ScalarType::kFloat;
  source.type = exir::TensorType::contiguous(type, exir::Sizes(dims.begin(), dims.end()));
  if (type == exir::ScalarType::kHalf) {
    PETREL_ASSIGN_OR_RETURN(source.data,
                            exir::encode_constant({values.begin(), values.end()}, type));
  }
  PETREL_ASSIGN_OR_RETURN(const uint32_t entry,
                          add_made_entry(made, source, source.data, "", source.type));
  return add_constant(std::move(dims), entry, type);
}

absl::StatusOr<uint32_t> Lowering::add_entry(const exir::Constant& source, const exir::Blob& blob,
                                             const std::string& form,
                                             const exir::TensorType& type) {
  PETREL_ASSIGN_OR_RETURN(const std::string key,
                          store_.add_weight(source, blob, schema::kDataAlignment, form, type));
  return entry_of(key, blob);
}

absl::StatusOr<uint32_t> Lowering::add_made_entry(const MadeOf& made, const exir::Constant& values,
                                                  const exir::Blob& blob, const std::string& form,
                                                  const exir::TensorType& type) {
  if (made.weights.empty()) return add_entry(values, blob, form, type);
  const exir::Constant& first = *made.weights[0];
  const std::string recipe = made.recipe + form;
  // Keys that tell the bytes need no other weights to be at hand: it goes with the first.
  if (store_.routes().keys == exir::WeightKeys::kContent) {
    return add_entry(first, blob, recipe, type);
  }
  PETREL_ASSIGN_OR_RETURN(const std::string key, store_.add_derived(first.fqn, made.weights, recipe,
                                                                    blob, schema::kDataAlignment));
  return entry_of(key, blob);
}

uint32_t Lowering::entry_of(const std::string& key, const exir::Blob& blob) {
  const auto [index, is_new] =
      constant_index_.try_emplace(key, static_cast<uint32_t>(graph_.constants.size()));
  if (is_new) {
    ConstantData data;
    data.key = key;
    graph_.constants.push_back(std::move(data));
    blobs_.push_back(blob);
  }
  return index->second;
}

// ExecuTorch's runtime gives the bytes of a key back once a product has packed them, while sums
// read them in each run. Keys that are names have other bytes for each.
absl::Status Lowering::part_packed_constants() {
  if (store_.routes().keys != exir::WeightKeys::kContent) return absl::OkStatus();
  const auto is_packed = [](const Node& node, size_t input) {
    return input > 0 && find_node_kind(node.kind)->has_bias;
  };
  std::set<uint32_t> packed;
  for (const Node& node : graph_.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const uint32_t id = node.inputs[i];
      if (id != kNoId && is_packed(node, i)) packed.insert(graph_.values[id].constant);
    }
  }
  packed.erase(0);
  for (Node& node : graph_.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const uint32_t id = node.inputs[i];
      if (id == kNoId || is_packed(node, i)) continue;
      const Value value = graph_.values[id];
      if (packed.count(value.constant) == 0) continue;
      const std::string& packed_key = graph_.constants[value.constant].key;
      const std::string key = absl::StrCat("kept_", packed_key);
      const exir::Blob blob = blobs_[value.constant];
      const std::string* const file = store_.blobs().destination_of(packed_key);
      PETREL_RETURN_IF_ERROR(
          store_.add_named_blob(key, blob, schema::kDataAlignment, file == nullptr ? "" : *file)
              .status());
      const uint32_t entry = entry_of(key, blob);
      const auto [place, is_new] = constants_.try_emplace({entry, value.dims}, 0);
      if (is_new) {
        place->second = static_cast<uint32_t>(graph_.values.size());
        graph_.values.push_back(value);
        graph_.values.back().constant = entry;
        sizes_.push_back(Extents(sizes_[id]));
      }
      node.inputs[i] = place->second;
    }
  }
  return absl::OkStatus();
}

uint32_t Lowering::add_constant(Dims dims, uint32_t entry, exir::ScalarType type) {
  const auto [place, is_new] = constants_.try_emplace({entry, dims}, 0);
  if (!is_new) return place->second;
  const uint32_t id = add_value(Extents(dims.begin(), dims.end()));
  graph_.values[id].datatype = float_datatype(type);
  graph_.values[id].dims = std::move(dims);
  graph_.values[id].constant = entry;
  place->second = id;
  return id;
}

}  // namespace petrel::backends::xnnpack::aot
