// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/segments.h"

#include <algorithm>
#include <numeric>

#include "schema/formats.h"

namespace petrel::exir {
namespace {

// Payloads are read by code that expects what a flatbuffer would give it.

}  // namespace

uint64_t align_up(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

uint32_t ProgramSegments::add_constant(const Blob& blob) {
  return static_cast<uint32_t>(constants_.add(blob) + 1);
}

uint32_t ProgramSegments::add_initial_state(const Blob& blob) {
  return static_cast<uint32_t>(states_.add(blob) + 1);
}

size_t ProgramSegments::add_payload(const Blob& blob) { return payloads_.add(blob); }

uint32_t ProgramSegments::payload_segment(size_t payload) const {
  return payload_segments_[payload];
}

uint32_t ProgramSegments::named_segment(size_t buffer) const { return named_segments_[buffer]; }

uint32_t ProgramSegments::append_segment(const Blob& blob, uint64_t alignment) {
  base_alignment_ = std::lcm(base_alignment_, alignment);
  const uint64_t offset = align_up(total_bytes_, alignment);
  segments_.push_back({offset, blob.size()});
  if (blob.size() > 0) {
    pieces_.push_back({offset, blob});
    total_bytes_ = offset + blob.size();
  }
  return static_cast<uint32_t>(segments_.size() - 1);
}

void ProgramSegments::layout(const NamedBlobStore::Destination& named, uint64_t segment_alignment,
                             uint64_t constant_alignment) {
  base_alignment_ = segment_alignment;

  // Which constants named buffers share, and how they must then be aligned.
  std::vector<uint64_t> alignments(constants_.blobs().size(), constant_alignment);
  const size_t named_count = named.buffers.size();
  std::vector<int64_t> shared(named_count, -1);
  for (size_t i = 0; i < named_count; ++i) {
    const NamedBlobStore::Buffer& buffer = named.buffers[i];
    shared[i] = constants_.find(buffer.blob);
    if (shared[i] < 0) continue;
    merged_bytes_ += buffer.blob.size();
    uint64_t& alignment = alignments[static_cast<size_t>(shared[i])];
    alignment = std::lcm(std::lcm(alignment, segment_alignment), buffer.alignment);
  }

  for (size_t i = 0; i < constants_.blobs().size(); ++i) {
    const Blob& blob = constants_.blobs()[i];
    base_alignment_ = std::lcm(base_alignment_, alignments[i]);
    // What has no bytes lies nowhere; behind the last constant it would lie outside of the segment.
    const uint64_t offset = blob.size() == 0 ? 0 : align_up(total_bytes_, alignments[i]);
    constant_offsets_.push_back(offset);
    if (blob.size() == 0) continue;
    constant_bytes_ += blob.size();
    pieces_.push_back({offset, blob});
    total_bytes_ = offset + blob.size();
  }
  // ExecuTorch's runtime takes constants in a segment without bytes for ones that are nowhere.
  if (total_bytes_ == 0 && !constants_.blobs().empty()) {
    pieces_.push_back({0, Blob::owned({0})});
    total_bytes_ = 1;
  }
  segments_.push_back({0, total_bytes_});

  if (has_state()) {
    const uint64_t begin = align_up(total_bytes_, segment_alignment);
    uint64_t end = begin;
    for (const Blob& blob : states_.blobs()) {
      state_offsets_.push_back(end - begin);
      if (blob.size() == 0) continue;
      pieces_.push_back({end, blob});
      end += blob.size();
      total_bytes_ = end;
    }
    segments_.push_back({begin, end - begin});
  }
  for (const Blob& payload : payloads_.blobs()) {
    payload_segments_.push_back(
        append_segment(payload, std::lcm(segment_alignment, schema::kDataAlignment)));
  }
  for (size_t i = 0; i < named_count; ++i) {
    const NamedBlobStore::Buffer& buffer = named.buffers[i];
    if (shared[i] < 0) {
      named_segments_.push_back(
          append_segment(buffer.blob, std::lcm(segment_alignment, buffer.alignment)));
      continue;
    }
    const auto constant = static_cast<size_t>(shared[i]);
    named_segments_.push_back(static_cast<uint32_t>(segments_.size()));
    segments_.push_back({constant_offsets_[constant + 1], buffer.blob.size()});
  }
}

}  // namespace petrel::exir
