// SPDX-License-Identifier: Apache-2.0
#include "extension/device/frame.h"

#include <algorithm>

#include "runtime/micro/device/petrel_rpc_protocol.h"

namespace petrel::extension {
namespace {

// Of a length of 16 bits, stuffed.
constexpr size_t kLongestFrame = (1 << 16) + 1024;

uint32_t crc32(absl::Span<const uint8_t> bytes) {
  uint32_t crc = 0xffffffff;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
  }
  return ~crc;
}

uint32_t crc16(absl::Span<const uint8_t> bytes) {
  uint32_t crc = 0xffff;
  for (const uint8_t byte : bytes) {
    crc ^= static_cast<uint32_t>(byte) << 8;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc << 1 ^ (0x1021u & (0u - (crc >> 15)))) & 0xffff;
    }
  }
  return crc;
}

// COBS: each block says how many bytes there are before the next 0.
std::optional<Bytes> unstuff(const Bytes& raw) {
  Bytes bytes;
  size_t at = 0;
  while (at < raw.size()) {
    const size_t code = raw[at++];
    if (code - 1 > raw.size() - at) return std::nullopt;
    bytes.insert(bytes.end(), raw.begin() + at, raw.begin() + at + code - 1);
    at += code - 1;
    if (code < 255 && at < raw.size()) bytes.push_back(0);
  }
  return bytes;
}

void stuff(const Bytes& bytes, Bytes* frame) {
  size_t at = 0;
  while (true) {
    const auto begin = bytes.begin() + at;
    const auto most = begin + std::min<size_t>(254, bytes.size() - at);
    const auto zero = std::find(begin, most, 0);
    frame->push_back(static_cast<uint8_t>(zero - begin + 1));
    frame->insert(frame->end(), begin, zero);
    at += zero - begin;
    if (at == bytes.size()) return;
    if (zero - begin < 254) ++at;
  }
}

bool has_right_crc(const Bytes& bytes, int bits) {
  const size_t size = static_cast<size_t>(bits) / 8;
  if (bytes.size() < PETREL_RPC_HEAD_BYTES + size) return false;
  const absl::Span<const uint8_t> body(bytes.data(), bytes.size() - size);
  const uint8_t* const end = bytes.data() + body.size();
  return device_crc(body, bits) == (bits == 16 ? get16(end) : get32(end)) &&
         get16(bytes.data() + 6) == body.size() - PETREL_RPC_HEAD_BYTES;
}

}  // namespace

uint32_t device_crc(absl::Span<const uint8_t> bytes, int bits) {
  return bits == 16 ? crc16(bytes) : crc32(bytes);
}

Bytes encode_frame(const Message& message, int crc_bits) {
  Bytes bytes = {message.version, message.type};
  put16(&bytes, message.session);
  put16(&bytes, message.sequence);
  put16(&bytes, static_cast<uint32_t>(message.payload.size()));
  bytes.insert(bytes.end(), message.payload.begin(), message.payload.end());
  const uint32_t crc = device_crc(bytes, crc_bits);
  crc_bits == 16 ? put16(&bytes, crc) : put32(&bytes, crc);
  Bytes frame = {0};
  stuff(bytes, &frame);
  frame.push_back(0);
  return frame;
}

void FrameReader::end(const OnFrame& on_frame) {
  const std::optional<Bytes> bytes = is_long_ ? std::nullopt : unstuff(raw_);
  for (const int bits : {32, 16}) {
    if (!bytes.has_value() || (crc_bits_ != 0 && crc_bits_ != bits)) continue;
    if (!has_right_crc(*bytes, bits)) continue;
    Message message;
    message.version = (*bytes)[0];
    message.type = (*bytes)[1];
    message.session = get16(bytes->data() + 2);
    message.sequence = get16(bytes->data() + 4);
    message.payload.assign(bytes->begin() + PETREL_RPC_HEAD_BYTES, bytes->end() - bits / 8);
    on_frame(message, bits);
    return;
  }
  ++damaged_;
  on_frame(std::nullopt, 0);
}

void FrameReader::feed(absl::Span<const uint8_t> bytes, const OnFrame& on_frame) {
  for (const uint8_t byte : bytes) {
    if (byte != 0) {
      is_long_ = is_long_ || raw_.size() >= kLongestFrame;
      if (!is_long_) raw_.push_back(byte);
      continue;
    }
    if (!raw_.empty()) end(on_frame);
    raw_.clear();
    is_long_ = false;
  }
}

}  // namespace petrel::extension
