// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/flat_data_writer.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "schema/flat_data_generated.h"
#include "schema/formats.h"

namespace petrel::exir {
namespace {

namespace fb = schema::flat_data;

constexpr uint32_t kHeaderBytes = 40;
constexpr uint64_t kPaddedHeaderBytes = 48;

flatbuffers::Offset<fb::TensorLayout> write_layout(flatbuffers::FlatBufferBuilder& builder,
                                                   const TensorType& type) {
  const std::vector<int32_t> sizes(type.sizes.begin(), type.sizes.end());
  const auto stored_sizes = builder.CreateVector(sizes);
  const auto dim_order = builder.CreateVector(type.dim_order);
  return fb::CreateTensorLayout(builder, static_cast<fb::ScalarType>(type.dtype), stored_sizes,
                                dim_order);
}

}  // namespace

absl::StatusOr<uint64_t> write_flat_data(const NamedBlobStore::Destination& data,
                                         uint64_t segment_alignment, const ByteSink& sink) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<Piece> pieces;
  std::vector<flatbuffers::Offset<fb::DataSegment>> segments;
  uint64_t end = 0;
  uint64_t base_alignment = segment_alignment;
  for (const NamedBlobStore::Buffer& buffer : data.buffers) {
    const uint64_t alignment = std::lcm(segment_alignment, buffer.alignment);
    base_alignment = std::lcm(base_alignment, alignment);
    const uint64_t offset = align_up(end, alignment);
    const uint64_t size = buffer.blob.size();
    segments.push_back(fb::CreateDataSegment(builder, offset, size));
    if (size == 0) continue;
    pieces.push_back({offset, buffer.blob});
    end = offset + size;
  }
  std::vector<flatbuffers::Offset<fb::NamedData>> rows;
  for (const NamedBlobStore::Entry* entry : data.sorted_entries()) {
    const auto key = builder.CreateString(entry->key);
    flatbuffers::Offset<fb::TensorLayout> layout;
    if (entry->layout) layout = write_layout(builder, *entry->layout);
    rows.push_back(fb::CreateNamedData(builder, key, static_cast<uint32_t>(entry->buffer), layout));
  }
  const auto stored_segments = builder.CreateVector(segments);
  const auto stored_rows = builder.CreateVector(rows);
  builder.Finish(fb::CreateFlatData(builder, /*version=*/0, stored_segments, stored_rows),
                 fb::FlatDataIdentifier());

  const uint64_t flatbuffer_end = kPaddedHeaderBytes + builder.GetSize();
  const uint64_t base = align_up(flatbuffer_end, base_alignment);
  std::vector<uint8_t> header(schema::kDataFileHeaderMagic,
                              schema::kDataFileHeaderMagic + schema::kMagicBytes);
  append_u32(&header, kHeaderBytes);
  append_u64(&header, kPaddedHeaderBytes);
  append_u64(&header, builder.GetSize());
  append_u64(&header, base);
  append_u64(&header, end);
  header.resize(kPaddedHeaderBytes);
  return write_file({builder.GetBufferPointer(), builder.GetSize()}, header, base, pieces, sink);
}

}  // namespace petrel::exir
