// SPDX-License-Identifier: Apache-2.0
//
// What is believed of a data loader: nothing that can be checked.
#include "runtime/program/segment.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::runtime {
namespace {

// Returns memory that is not what it was asked for.
class WrongLoader final : public DataLoader {
 public:
  Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo&) const override {
    return FreeableBuffer(is_null ? nullptr : memory_ + offset + shift, size - missing, nullptr);
  }
  Result<size_t> size() const override { return sizeof(memory_); }

  size_t missing = 0;
  size_t shift = 0;
  bool is_null = false;

 private:
  alignas(16) uint8_t memory_[64] = {};
};

class SegmentTest : public ::testing::Test {
 protected:
  SegmentTest() : previous_(set_log_hook({})) {}
  ~SegmentTest() override { set_log_hook(previous_); }

  Error load(uint64_t offset, uint64_t size) {
    FreeableBuffer buffer;
    return load_range(loader_, offset, size,
                      DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Program), &buffer);
  }

  WrongLoader loader_;

 private:
  LogHook previous_;
};

TEST_F(SegmentTest, TakesWhatWasAskedFor) {
  EXPECT_EQ(load(16, 32), Error::Ok);
  // What begins anywhere may lie anywhere.
  EXPECT_EQ(load(17, 3), Error::Ok);
}

TEST_F(SegmentTest, RefusesFewerBytes) {
  loader_.missing = 1;
  EXPECT_EQ(load(16, 32), Error::AccessFailed);
}

TEST_F(SegmentTest, RefusesNoMemory) {
  loader_.is_null = true;
  EXPECT_EQ(load(16, 32), Error::AccessFailed);
  EXPECT_EQ(load(16, 0), Error::Ok);
}

TEST_F(SegmentTest, RefusesMemoryAtOddAddresses) {
  loader_.shift = 1;
  EXPECT_EQ(load(16, 32), Error::AccessFailed);
  EXPECT_EQ(load(16, 0), Error::Ok);
}

}  // namespace
}  // namespace petrel::runtime
