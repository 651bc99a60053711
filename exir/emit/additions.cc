// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/additions.h"

#include <algorithm>

#include "schema/additions_generated.h"

namespace petrel::exir {
namespace {

namespace add = schema::additions;

// Loaders want what they verify at a multiple of it.
constexpr uint64_t kAlignment = 16;

flatbuffers::Offset<add::Weight> write_weight(
    flatbuffers::FlatBufferBuilder& builder, const WeightAddition& weight) {
  const auto key = builder.CreateString(weight.key);
  flatbuffers::Offset<flatbuffers::Vector<int32_t>> sizes;
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> dim_order;
  int8_t scalar_type = 0;
  if (weight.layout) {
    sizes = builder.CreateVector(std::vector<int32_t>(
        weight.layout->sizes.begin(), weight.layout->sizes.end()));
    dim_order = builder.CreateVector(weight.layout->dim_order);
    scalar_type = static_cast<int8_t>(weight.layout->dtype);
  }
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> digest;
  if (weight.digest) {
    digest =
        builder.CreateVector(weight.digest->data(), weight.digest->size());
  }
  return add::CreateWeight(builder, key, scalar_type, sizes, dim_order,
                           weight.bytes, digest);
}

}  // namespace

bool Additions::empty() const {
  return weights.empty() && !structure && std::all_of(
      methods.begin(), methods.end(),
      [](const MethodAdditions& method) { return method.scratch.empty(); });
}

Blob additions_blob(const Additions& additions) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<add::MethodAdditions>> methods;
  for (const MethodAdditions& method : additions.methods) {
    std::vector<add::ScratchPlace> places;
    for (const ScratchPlace& place : method.scratch) {
      places.emplace_back(static_cast<uint64_t>(place.offset),
                          static_cast<uint64_t>(place.bytes), /*chain=*/0,
                          place.instruction, place.arena);
    }
    flatbuffers::Offset<flatbuffers::Vector<const add::ScratchPlace*>> scratch;
    if (!places.empty()) scratch = builder.CreateVectorOfStructs(places);
    methods.push_back(add::CreateMethodAdditions(builder, scratch));
  }
  std::vector<flatbuffers::Offset<add::Weight>> weights;
  for (const WeightAddition& weight : additions.weights) {
    weights.push_back(write_weight(builder, weight));
  }
  const auto stored_methods = builder.CreateVector(methods);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<add::Weight>>>
      stored_weights;
  if (!weights.empty() || additions.structure) {
    stored_weights = builder.CreateVector(weights);
  }
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> structure;
  flatbuffers::Offset<
      flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>>
      recipe;
  if (additions.structure) {
    structure = builder.CreateVector(additions.structure->data(),
                                     additions.structure->size());
    recipe = builder.CreateVectorOfStrings(additions.recipe);
  }
  add::FinishAdditionsBuffer(
      builder,
      add::CreateAdditions(builder, /*version=*/0, stored_methods,
                           stored_weights, structure, recipe));
  return Blob::copy_of({builder.GetBufferPointer(), builder.GetSize()});
}

void store_additions(const Additions& additions,
                     NamedBlobStore::Destination* named) {
  NamedBlobStore::Entry entry;
  entry.key = NamedBlobStore::kProgramKey;
  entry.buffer = named->buffers.size();
  named->buffers.push_back({additions_blob(additions), kAlignment});
  named->entries.push_back(std::move(entry));
}

}  // namespace petrel::exir
