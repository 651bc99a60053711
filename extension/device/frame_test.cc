// SPDX-License-Identifier: Apache-2.0
#include "extension/device/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace petrel::extension {
namespace {

using ::testing::ElementsAre;

// The payloads of the messages that come, and how many frames were damaged.
struct Seen {
  std::vector<Bytes> payloads;
  int damaged = 0;
};

void feed(FrameReader& reader, const Bytes& bytes, Seen* seen) {
  reader.feed(bytes, [&](const std::optional<Message>& message, int) {
    if (message.has_value()) seen->payloads.push_back(message->payload);
    seen->damaged += message.has_value() ? 0 : 1;
  });
}

// No byte of it is 0, so that it is one block.
Message without_zeros(const Bytes& payload) { return {1, 2, 0x0101, 0x0101, payload}; }

TEST(FrameReader, GivesMessagesOfBothSums) {
  for (const int bits : {16, 32}) {
    FrameReader reader;
    Seen seen;
    feed(reader, encode_frame({1, 2, 3, 4, {5, 0, 6}}, bits), &seen);
    EXPECT_THAT(seen.payloads, ElementsAre(Bytes{5, 0, 6}));
    EXPECT_EQ(seen.damaged, 0);
  }
}

// What it says it has would be found in memory: it is the frame before.
TEST(FrameReader, AFrameThatEndsEarlyIsDamaged) {
  const Bytes payload(0x101, 7);  // whose length has no 0, either
  const Bytes whole = encode_frame(without_zeros(payload), 32);
  for (size_t cut = 1; cut < 12; ++cut) {
    FrameReader reader;
    Seen seen;
    feed(reader, whole, &seen);
    ASSERT_THAT(seen.payloads, ElementsAre(payload));
    Bytes part(whole.begin(), whole.end() - 1 - static_cast<ptrdiff_t>(cut));
    part.push_back(0);
    feed(reader, part, &seen);
    EXPECT_EQ(seen.payloads.size(), 1u) << "cut off: " << cut;
    EXPECT_EQ(seen.damaged, 1);
    EXPECT_EQ(reader.damaged(), 1u);
  }
}

TEST(FrameReader, FramesWithoutRoomForAHeadAreDamaged) {
  for (size_t size = 1; size < 12; ++size) {
    FrameReader reader;
    Seen seen;
    Bytes frame(size, 1);
    frame.push_back(0);
    feed(reader, frame, &seen);
    EXPECT_EQ(seen.damaged, 1) << size;
  }
}

}  // namespace
}  // namespace petrel::extension
