// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/extended_header.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "runtime/core/log.h"

namespace petrel::runtime {
namespace {

class ExtendedHeaderTest : public ::testing::Test {
 protected:
  ExtendedHeaderTest() : head_(64, 0xaa) {
    previous_ = set_log_hook({});
    // A header of 32 bytes, every number different.
    const uint8_t header[] = {'e',  'h',  '0',  '0',  32,   0,    0, 0,  //
                              0x10, 0x11, 0x12, 0x13, 0,    0,    0, 0,  //
                              0x20, 0x21, 0x22, 0x23, 0x24, 0,    0, 0,  //
                              0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0, 0};
    std::memcpy(head_.data() + 8, header, sizeof(header));
  }
  ~ExtendedHeaderTest() override { set_log_hook(previous_); }

  std::vector<uint8_t> head_;
  LogHook previous_;
};

TEST_F(ExtendedHeaderTest, ReadsLittleEndianNumbers) {
  const auto header = ExtendedHeader::parse(head_);
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->program_size, 0x13121110u);
  EXPECT_EQ(header->segment_base_offset, 0x2423222120u);
  EXPECT_EQ(header->segment_data_size, 0x353433323130u);
}

TEST_F(ExtendedHeaderTest, ReadsOldHeadersWithoutDataSize) {
  head_[12] = 24;
  const auto header = ExtendedHeader::parse(head_);
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->segment_base_offset, 0x2423222120u);
  EXPECT_EQ(header->segment_data_size, 0u);
}

TEST_F(ExtendedHeaderTest, TakesLongerHeaders) {
  head_[13] = 1;
  EXPECT_EQ(ExtendedHeader::parse(head_)->segment_data_size, 0x353433323130u);
}

TEST_F(ExtendedHeaderTest, RefusesShorterHeaders) {
  head_[12] = 23;
  EXPECT_EQ(ExtendedHeader::parse(head_).error(), Error::InvalidProgram);
}

TEST_F(ExtendedHeaderTest, FindsNoneWithoutTheMagic) {
  for (size_t i = 8; i < 12; ++i) {
    std::vector<uint8_t> head = head_;
    head[i] ^= 0x20;
    EXPECT_EQ(ExtendedHeader::parse(head).error(), Error::NotFound);
  }
}

TEST_F(ExtendedHeaderTest, NeedsAllHeadBytes) {
  head_.pop_back();
  EXPECT_EQ(ExtendedHeader::parse(head_).error(), Error::InvalidProgram);
}

TEST_F(ExtendedHeaderTest, ChecksThatPartsFollowEachOther) {
  const auto verify = [](uint64_t program, uint64_t base, uint64_t data, uint64_t file) {
    ExtendedHeader header;
    header.program_size = program;
    header.segment_base_offset = base;
    header.segment_data_size = data;
    return header.verify(file);
  };
  EXPECT_EQ(verify(100, 0, 0, 100), Error::Ok);
  EXPECT_EQ(verify(100, 128, 72, 200), Error::Ok);
  EXPECT_EQ(verify(100, 128, 0, 200), Error::Ok);
  EXPECT_EQ(verify(100, 200, 0, 200), Error::Ok);
  EXPECT_EQ(verify(101, 0, 0, 100), Error::InvalidProgram);
  EXPECT_EQ(verify(63, 0, 0, 100), Error::InvalidProgram);
  EXPECT_EQ(verify(100, 99, 0, 200), Error::InvalidProgram);
  EXPECT_EQ(verify(100, 201, 0, 200), Error::InvalidProgram);
  EXPECT_EQ(verify(100, 128, 73, 200), Error::InvalidProgram);
  EXPECT_EQ(verify(100, 128, UINT64_MAX - 100, 200), Error::InvalidProgram);
  EXPECT_EQ(verify(100, 0, 1, 200), Error::InvalidProgram);
}

}  // namespace
}  // namespace petrel::runtime
