// SPDX-License-Identifier: Apache-2.0
//
// A million frames that nobody would send: the device answers or is silent, and writes nowhere
// but where it may. Under AddressSanitizer this finds every byte beyond; test/fuzz/rpc_fuzzer.cc
// goes on from here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "extension/device/frame.h"
#include "extension/device/testing_device.h"
#include "runtime/micro/device/petrel_rpc_protocol.h"

namespace petrel::extension {
namespace {

constexpr int kFrames = 1'000'000;
constexpr uint16_t kSession = 77;

// Numbers near the limits of what a request may say.
uint32_t edge(std::mt19937& random) {
  constexpr uint32_t kEdges[] = {0,      1,          2,          3,          4,         5,
                                 12,     15,         16,         63,         64,        65,
                                 0xffff, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff};
  return kEdges[random() % std::size(kEdges)];
}

Message hello() {
  Message message{PETREL_RPC_VERSION, PETREL_RPC_HELLO, kSession, 0, {}};
  put16(&message.payload, 1024);
  return message;
}

// A request of the session that is nearly right.
Message request(std::mt19937& random, uint16_t sequence) {
  Message message{
      PETREL_RPC_VERSION, static_cast<uint8_t>(1 + random() % 20), kSession, sequence, {}};
  // A run of 2^32 runs is right, and takes years.
  if (message.type == PETREL_RPC_TIME) {
    message.payload = {0, 0, 0, 0};
    put32(&message.payload, random() % 4);
    return message;
  }
  while (message.payload.size() < random() % 60) {
    switch (random() % 3) {
      case 0:
        message.payload.push_back(static_cast<uint8_t>(random() % 5));
        break;
      case 1:
        put16(&message.payload, edge(random));
        break;
      default:
        put32(&message.payload, edge(random));
    }
  }
  return message;
}

TEST(RpcFuzz, AMillionFrames) {
  // The buffer ends where the memory does, so that a byte beyond is noticed.
  TestingDevice device(testing_metadata(), PETREL_RPC_LEAST_BUFFER_BYTES);
  std::mt19937 random(20);
  uint64_t answers = 0;
  device.on_sent = [&](const uint8_t*, size_t) { ++answers; };
  uint16_t sequence = 0;
  for (int i = 0; i < kFrames; ++i) {
    if (i % 1000 == 0) {
      device.start();
      const Bytes frame = encode_frame(hello(), 32);
      device.feed(frame.data(), frame.size());
      sequence = 0;
    }
    if (random() % 16 != 0) ++sequence;
    Message message = request(random, sequence);
    if (random() % 16 == 0) message.version = static_cast<uint8_t>(random());
    if (random() % 16 == 0) message.session = static_cast<uint16_t>(random());
    if (random() % 16 == 0) message.type = static_cast<uint8_t>(random());
    Bytes frame = encode_frame(message, 32);
    if (random() % 8 == 0) frame[random() % frame.size()] ^= static_cast<uint8_t>(random());
    if (random() % 32 == 0) frame.resize(random() % frame.size());
    if (random() % 64 == 0) frame.insert(frame.begin(), 300, static_cast<uint8_t>(random()));
    device.feed(frame.data(), frame.size());
  }
  EXPECT_GT(answers, kFrames / 2u);
  // It still works.
  device.start();
  answers = 0;
  const Bytes frame = encode_frame(hello(), 32);
  device.feed(frame.data(), frame.size());
  EXPECT_GT(answers, 0u);
}

}  // namespace
}  // namespace petrel::extension
