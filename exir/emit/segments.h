// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a program behind its flatbuffer: which segments there are, where
// they lie, and which Blobs they are made of. Used in three steps: every method
// registers its data, layout() fixes all places, the writer streams pieces().
//
//   segment  0            1              2 ...            ...
//            constants    initial state  payloads         named data
//            (always)     (if any)       one each         one per buffer
//
// Equal constants, states and payloads are kept once. A named buffer that is
// also a constant gets no bytes of its own: its segment lies inside segment 0.
#ifndef PETREL_EXIR_EMIT_SEGMENTS_H_
#define PETREL_EXIR_EMIT_SEGMENTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exir/backend/named_blob_store.h"
#include "exir/ir/blob.h"
#include "exir/ir/blob_set.h"

namespace petrel::exir {

// Smallest multiple of `alignment` that is at least `offset`.
uint64_t align_up(uint64_t offset, uint64_t alignment);

struct Segment {
  uint64_t offset = 0;  // from the segment base
  uint64_t size = 0;
};

// Bytes to write at `offset` from the segment base.
struct Piece {
  uint64_t offset = 0;
  Blob blob;
};

class ProgramSegments {
 public:
  // Tensor.data_buffer_idx of a constant, of an initial state.
  uint32_t add_constant(const Blob& blob);
  uint32_t add_initial_state(const Blob& blob);
  // Number of a payload that is not empty.
  size_t add_payload(const Blob& blob);

  // `named`: what lies in the program. Nothing may be added afterwards but what
  // is known.
  void layout(const NamedBlobStore::Destination& named, uint64_t segment_alignment,
              uint64_t constant_alignment);

  // After layout():
  const std::vector<Segment>& segments() const { return segments_; }
  const std::vector<uint64_t>& constant_offsets() const { return constant_offsets_; }
  bool has_state() const { return !states_.blobs().empty(); }
  static constexpr uint32_t kStateSegment = 1;
  const std::vector<uint64_t>& state_offsets() const { return state_offsets_; }
  uint32_t payload_segment(size_t payload) const;
  uint32_t named_segment(size_t buffer) const;
  // Ascending, not overlapping.
  const std::vector<Piece>& pieces() const { return pieces_; }
  uint64_t total_bytes() const { return total_bytes_; }
  // Bytes of the distinct constants, and of the named buffers among them.
  uint64_t constant_bytes() const { return constant_bytes_; }
  uint64_t merged_bytes() const { return merged_bytes_; }
  // What the segment base must be a multiple of.
  uint64_t base_alignment() const { return base_alignment_; }

 private:
  uint32_t append_segment(const Blob& blob, uint64_t alignment);

  BlobSet constants_;
  BlobSet states_;
  BlobSet payloads_;
  std::vector<Segment> segments_;
  std::vector<uint64_t> constant_offsets_ = {0};
  std::vector<uint64_t> state_offsets_ = {0};
  std::vector<uint32_t> payload_segments_;
  std::vector<uint32_t> named_segments_;
  std::vector<Piece> pieces_;
  uint64_t total_bytes_ = 0;
  uint64_t constant_bytes_ = 0;
  uint64_t merged_bytes_ = 0;
  uint64_t base_alignment_ = 1;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_SEGMENTS_H_
