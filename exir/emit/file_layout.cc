// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/file_layout.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr size_t kHeaderPosition = 8;

// Counts what went into the sink.
class Writer {
 public:
  explicit Writer(const ByteSink& sink) : sink_(sink) {}

  uint64_t position() const { return position_; }

  absl::Status write(absl::Span<const uint8_t> bytes) {
    if (bytes.empty()) return absl::OkStatus();
    position_ += bytes.size();
    return sink_(bytes);
  }

  absl::Status pad_to(uint64_t position) {
    static constexpr uint8_t kZeros[4096] = {};
    while (position_ < position) {
      const uint64_t size = std::min<uint64_t>(position - position_, sizeof(kZeros));
      PETREL_RETURN_IF_ERROR(write({kZeros, static_cast<size_t>(size)}));
    }
    return absl::OkStatus();
  }

 private:
  const ByteSink& sink_;
  uint64_t position_ = 0;
};

template <typename T>
void append_little_endian(std::vector<uint8_t>* bytes, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    bytes->push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
}

uint32_t read_u32(const uint8_t* bytes) {
  return static_cast<uint32_t>(bytes[0]) | static_cast<uint32_t>(bytes[1]) << 8 |
         static_cast<uint32_t>(bytes[2]) << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

}  // namespace

void append_u32(std::vector<uint8_t>* bytes, uint32_t value) { append_little_endian(bytes, value); }

void append_u64(std::vector<uint8_t>* bytes, uint64_t value) { append_little_endian(bytes, value); }

absl::StatusOr<uint64_t> write_file(absl::Span<const uint8_t> flatbuffer,
                                    absl::Span<const uint8_t> header, uint64_t segment_base,
                                    const std::vector<Piece>& pieces, const ByteSink& sink) {
  Writer writer(sink);
  std::vector<uint8_t> root;
  append_u32(&root, read_u32(flatbuffer.data()) + static_cast<uint32_t>(header.size()));
  PETREL_RETURN_IF_ERROR(writer.write(root));
  PETREL_RETURN_IF_ERROR(writer.write(flatbuffer.subspan(4, kHeaderPosition - 4)));
  PETREL_RETURN_IF_ERROR(writer.write(header));
  PETREL_RETURN_IF_ERROR(writer.write(flatbuffer.subspan(kHeaderPosition)));
  for (const Piece& piece : pieces) {
    PETREL_RETURN_IF_ERROR(writer.pad_to(segment_base + piece.offset));
    // Dropped before the next one is produced.
    const Blob::Bytes bytes = piece.blob.bytes();
    PETREL_RETURN_IF_ERROR(writer.write(bytes.span()));
  }
  // Readers want the segment base inside the file, also with nothing there.
  PETREL_RETURN_IF_ERROR(writer.pad_to(segment_base));
  return writer.position();
}

}  // namespace petrel::exir
