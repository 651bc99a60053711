// SPDX-License-Identifier: Apache-2.0
//
// Frames of the device protocol on the host's side: bytes that come are told apart into
// messages, messages become bytes (runtime/micro/device/petrel_frame.h is the device's side).
//
//   FrameReader reader;
//   reader.feed(bytes, [](const FrameEvent& event) { ... });
//   transport.write(encode_frame(message, 32));
//
// Invariant: a message that a reader gives has a right CRC and the length that it says.
#ifndef PETREL_EXTENSION_DEVICE_FRAME_H_
#define PETREL_EXTENSION_DEVICE_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace petrel::extension {

using Bytes = std::vector<uint8_t>;

struct Message {
  uint8_t version = 0;
  uint8_t type = 0;
  uint16_t session = 0;
  uint16_t sequence = 0;
  Bytes payload;
};

// The CRC of `bits` 32 or 16 that petrel_crc_add() computes.
uint32_t device_crc(absl::Span<const uint8_t> bytes, int bits);

// With a 0 before and behind it.
Bytes encode_frame(const Message& message, int crc_bits);

class FrameReader {
 public:
  // The next frame; none for one that is damaged. `crc_bits` is what it came with.
  using OnFrame = std::function<void(const std::optional<Message>& message, int crc_bits)>;

  // 0 takes frames of either CRC.
  void set_crc_bits(int bits) { crc_bits_ = bits; }
  void feed(absl::Span<const uint8_t> bytes, const OnFrame& on_frame);
  size_t damaged() const { return damaged_; }

 private:
  void end(const OnFrame& on_frame);

  int crc_bits_ = 0;
  Bytes raw_;  // since the last 0, never more than a frame may have
  bool is_long_ = false;
  size_t damaged_ = 0;
};

inline uint16_t get16(const uint8_t* from) { return static_cast<uint16_t>(from[0] | from[1] << 8); }
inline uint32_t get32(const uint8_t* from) {
  return get16(from) | static_cast<uint32_t>(get16(from + 2)) << 16;
}
inline void put16(Bytes* to, uint32_t value) {
  to->push_back(static_cast<uint8_t>(value));
  to->push_back(static_cast<uint8_t>(value >> 8));
}
inline void put32(Bytes* to, uint32_t value) {
  put16(to, value & 0xffff);
  put16(to, value >> 16);
}

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DEVICE_FRAME_H_
