// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/additions.h"

#include <algorithm>

#include "schema/additions_generated.h"

namespace petrel::exir {
namespace {

namespace add = schema::additions;

// Loaders want what they verify at a multiple of it.
constexpr uint64_t kAlignment = 16;

}  // namespace

bool Additions::empty() const {
  return std::all_of(
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
  add::FinishAdditionsBuffer(
      builder, add::CreateAdditions(builder, /*version=*/0,
                                    builder.CreateVector(methods)));
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
