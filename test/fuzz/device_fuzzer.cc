// SPDX-License-Identifier: Apache-2.0
//
// Both sides of the device protocol. The first byte says which: a device that gets any bytes, or
// frames with a right CRC whose heads and payloads are any bytes; the host that is told anything
// of a model.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "extension/device/device_info.h"
#include "extension/device/frame.h"
#include "extension/device/testing_model.h"
#include "runtime/micro/device/petrel_rpc.h"
#include "runtime/micro/device/petrel_rpc_protocol.h"
#include "test/fuzz/oracle.h"

namespace petrel::extension {
namespace {

constexpr uint16_t kSession = 1;

int32_t read_nothing(void*, unsigned char*, uint32_t, uint32_t) { return PETREL_BOARD_E_CLOSED; }
int32_t start_timer(void*) { return PETREL_BOARD_OK; }
int32_t stop_timer(void*, uint64_t* ticks) {
  *ticks = 1;
  return PETREL_BOARD_OK;
}

// What the device sends must be frames, whatever it gets.
int32_t write_frames(void* user, const unsigned char* bytes, uint32_t size) {
  static_cast<FrameReader*>(user)->feed(
      {bytes, size}, [](const std::optional<Message>& message, int) {
        fuzz::require(message.has_value(), "the device sends a frame that is none");
      });
  return PETREL_BOARD_OK;
}

// Memory of exactly the sizes that the device was told.
struct Firmware {
  Firmware() {
    board.name = "fuzzed";
    board.user = &sent;
    board.read = read_nothing;
    board.write = write_frames;
    board.timer = {1000, 32, 0, start_timer, stop_timer};
    config.board = &board;
    config.model = testing_metadata();
    config.plan = testing_plan();
    config.context = &context;
    config.pools = pools;
    config.pool_bytes = pool_bytes;
    config.buffer = buffer.get();
    config.buffer_bytes = PETREL_RPC_LEAST_BUFFER_BYTES;
    config.trace = trace.get();
    config.num_trace = 5;
    fuzz::require(petrel_rpc_init(&rpc, &config) == PETREL_RPC_OK, "init");
  }

  petrel_board board = {};
  petrel_rpc_config config = {};
  petrel_rpc rpc = {};
  testing_context context = {};
  std::unique_ptr<uint64_t[]> pool{new uint64_t[TESTING_POOL_BYTES / 8]()};
  void* pools[1] = {pool.get()};
  size_t pool_bytes[1] = {TESTING_POOL_BYTES};
  std::unique_ptr<unsigned char[]> buffer{new unsigned char[PETREL_RPC_LEAST_BUFFER_BYTES]};
  std::unique_ptr<uint32_t[]> trace{new uint32_t[5]()};
  FrameReader sent;
};

void send(Firmware& firmware, const Message& message) {
  const Bytes frame = encode_frame(message, 32);
  petrel_rpc_feed(&firmware.rpc, frame.data(), frame.size());
}

// Each request is: type, number of bytes, bytes.
void send_requests(Firmware& firmware, const uint8_t* data, size_t size) {
  send(firmware, {PETREL_RPC_VERSION, PETREL_RPC_HELLO, kSession, 0, {0, 4}});
  uint16_t sequence = 0;
  while (size >= 2) {
    const size_t bytes = std::min<size_t>(data[1] % 64, size - 2);
    Message message{PETREL_RPC_VERSION, static_cast<uint8_t>(data[0] % 32), kSession, ++sequence,
                    Bytes(data + 2, data + 2 + bytes)};
    // Any number of runs is right, and takes as long as they take.
    if (message.type == PETREL_RPC_TIME && bytes >= 8)
      message.payload[5] = message.payload[6] = message.payload[7] = 0;
    send(firmware, message);
    data += 2 + bytes;
    size -= 2 + bytes;
  }
}

}  // namespace
}  // namespace petrel::extension

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace petrel::extension;
  if (size == 0) return 0;
  if (data[0] % 3 == 2) {
    const auto info = parse_device_info("fuzzed", {data + 1, size - 1});
    (void)info.ok();
    return 0;
  }
  Firmware firmware;
  if (data[0] % 3 == 0) {
    petrel_rpc_feed(&firmware.rpc, data + 1, size - 1);
  } else {
    send_requests(firmware, data + 1, size - 1);
  }
  return 0;
}
