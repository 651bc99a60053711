// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/additions.h"

#include <algorithm>

#include "schema/additions_generated.h"
#include "schema/formats.h"

namespace petrel::exir {
namespace {

namespace add = schema::additions;

flatbuffers::Offset<add::Weight> write_weight(flatbuffers::FlatBufferBuilder& builder,
                                              const WeightAddition& weight) {
  const auto key = builder.CreateString(weight.key);
  flatbuffers::Offset<flatbuffers::Vector<int32_t>> sizes;
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> dim_order;
  int8_t scalar_type = 0;
  if (weight.layout) {
    sizes = builder.CreateVector(
        std::vector<int32_t>(weight.layout->sizes.begin(), weight.layout->sizes.end()));
    dim_order = builder.CreateVector(weight.layout->dim_order);
    scalar_type = static_cast<int8_t>(weight.layout->dtype);
  }
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> digest;
  if (weight.digest) {
    digest = builder.CreateVector(weight.digest->data(), weight.digest->size());
  }
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> made_of;
  if (!weight.made_of.empty()) {
    std::vector<flatbuffers::Offset<flatbuffers::String>> names;
    for (const std::string& name : weight.made_of) {
      names.push_back(builder.CreateString(name));
    }
    made_of = builder.CreateVector(names);
  }
  return add::CreateWeight(builder, key, scalar_type, sizes, dim_order, weight.bytes, digest,
                           made_of);
}

std::optional<Sha256> read_digest(const flatbuffers::Vector<uint8_t>* bytes) {
  Sha256 digest = {};
  if (bytes == nullptr || bytes->size() != digest.size()) return std::nullopt;
  std::copy(bytes->begin(), bytes->end(), digest.begin());
  return digest;
}

WeightAddition read_weight(const add::Weight& from) {
  WeightAddition weight;
  if (from.key() != nullptr) weight.key = from.key()->str();
  weight.bytes = from.bytes();
  weight.digest = read_digest(from.sha256());
  if (from.made_of() != nullptr) {
    for (const auto* name : *from.made_of()) weight.made_of.push_back(name->str());
  }
  if (from.sizes() != nullptr && from.dim_order() != nullptr) {
    TensorType type;
    type.dtype = static_cast<ScalarType>(from.scalar_type());
    type.sizes.assign(from.sizes()->begin(), from.sizes()->end());
    type.dim_order.assign(from.dim_order()->begin(), from.dim_order()->end());
    weight.layout = std::move(type);
  }
  return weight;
}

MethodAdditions read_method(const add::MethodAdditions& from) {
  MethodAdditions method;
  if (from.scratch() != nullptr) {
    for (const add::ScratchPlace* place : *from.scratch()) {
      method.scratch.push_back({place->instruction(), place->memory_id(),
                                static_cast<int64_t>(place->offset()),
                                static_cast<int64_t>(place->size())});
    }
  }
  if (from.least_sizes() != nullptr) {
    for (const add::LeastSize* least : *from.least_sizes()) {
      method.least_sizes.push_back({least->input(), least->dim(), least->size()});
    }
  }
  if (from.names() != nullptr && from.named_values() != nullptr) {
    for (uint32_t i = 0; i < from.names()->size(); ++i) {
      method.names[from.named_values()->Get(i)] = from.names()->Get(i)->str();
    }
  }
  return method;
}

}  // namespace

bool Additions::empty() const {
  return weights.empty() && !structure &&
         std::all_of(methods.begin(), methods.end(), [](const MethodAdditions& method) {
           return method.scratch.empty() && method.least_sizes.empty() && method.names.empty();
         });
}

Additions read_additions(const Blob& entry) {
  const Blob::Bytes bytes = entry.bytes();
  const add::Additions& table = *add::GetAdditions(bytes.data());
  Additions additions;
  if (table.methods() != nullptr) {
    for (const add::MethodAdditions* method : *table.methods()) {
      additions.methods.push_back(read_method(*method));
    }
  }
  if (table.weights() != nullptr) {
    for (const add::Weight* weight : *table.weights()) {
      additions.weights.push_back(read_weight(*weight));
    }
  }
  additions.structure = read_digest(table.structure());
  if (table.recipe() != nullptr) {
    for (const auto* line : *table.recipe()) {
      additions.recipe.push_back(line->str());
    }
  }
  return additions;
}

Blob additions_blob(const Additions& additions) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<add::MethodAdditions>> methods;
  for (const MethodAdditions& method : additions.methods) {
    std::vector<add::ScratchPlace> places;
    for (const ScratchPlace& place : method.scratch) {
      places.emplace_back(static_cast<uint64_t>(place.offset), static_cast<uint64_t>(place.bytes),
                          /*chain=*/0, place.instruction, place.arena);
    }
    flatbuffers::Offset<flatbuffers::Vector<const add::ScratchPlace*>> scratch;
    if (!places.empty()) scratch = builder.CreateVectorOfStructs(places);
    flatbuffers::Offset<flatbuffers::Vector<const add::LeastSize*>> least_sizes;
    if (!method.least_sizes.empty()) {
      std::vector<add::LeastSize> least;
      for (const LeastSize& row : method.least_sizes) {
        least.emplace_back(row.input, row.dim, row.size);
      }
      least_sizes = builder.CreateVectorOfStructs(least);
    }
    flatbuffers::Offset<flatbuffers::Vector<uint32_t>> named_values;
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> names;
    if (!method.names.empty()) {
      std::vector<uint32_t> values;
      std::vector<std::string> texts;
      for (const auto& [value, name] : method.names) {
        values.push_back(value);
        texts.push_back(name);
      }
      named_values = builder.CreateVector(values);
      names = builder.CreateVectorOfStrings(texts);
    }
    methods.push_back(
        add::CreateMethodAdditions(builder, scratch, least_sizes, named_values, names));
  }
  std::vector<flatbuffers::Offset<add::Weight>> weights;
  for (const WeightAddition& weight : additions.weights) {
    weights.push_back(write_weight(builder, weight));
  }
  const auto stored_methods = builder.CreateVector(methods);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<add::Weight>>> stored_weights;
  if (!weights.empty() || additions.structure) {
    stored_weights = builder.CreateVector(weights);
  }
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> structure;
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> recipe;
  if (additions.structure) {
    structure = builder.CreateVector(additions.structure->data(), additions.structure->size());
    recipe = builder.CreateVectorOfStrings(additions.recipe);
  }
  add::FinishAdditionsBuffer(builder, add::CreateAdditions(builder, /*version=*/0, stored_methods,
                                                           stored_weights, structure, recipe));
  return Blob::copy_of({builder.GetBufferPointer(), builder.GetSize()});
}

void store_additions(const Additions& additions, NamedBlobStore::Destination* named) {
  NamedBlobStore::Entry entry;
  entry.key = schema::kAdditionsKey;
  entry.buffer = named->buffers.size();
  named->buffers.push_back({additions_blob(additions), schema::kDataAlignment});
  named->entries.push_back(std::move(entry));
}

}  // namespace petrel::exir
