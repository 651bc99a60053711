// SPDX-License-Identifier: Apache-2.0
//
// Damages the golden programs in every small way and loads what comes out, and
// runs it where it loads. Nothing is expected but an answer: no crash, no read
// or write outside (the sanitizers watch), nothing left behind.

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "test/faults/golden.h"
#include "test/faults/runner.h"
#include "test/faults/test_kernels.h"

namespace petrel::faults {
namespace {

using runtime::Error;

struct Count {
  int64_t cases = 0;
  int64_t loaded = 0;
  int64_t ran = 0;
};

class MutationTest : public ::testing::TestWithParam<std::string> {
 protected:
  MutationTest() : golden_(load_golden(GetParam())) {}
  ~MutationTest() override {
    std::printf("%s: %" PRId64 " cases, %" PRId64 " loaded, %" PRId64 " ran\n",
                golden_.name.c_str(), count_.cases, count_.loaded, count_.ran);
    total_.cases += count_.cases;
    std::printf("all so far: %" PRId64 " cases\n", total_.cases);
  }

  // False, with failures noted, if `bytes` are not handled properly.
  bool handles(const std::vector<uint8_t>& bytes, const char* what, size_t position) {
    Faults faults;
    QuietLog::clear();
    const Report report = run_program(bytes, golden_, &faults);
    ++count_.cases;
    count_.loaded += report.load == Error::Ok;
    count_.ran += report.all_ok();
    const bool explained = report.all_ok() || !QuietLog::last().empty();
    const bool known = report.load == Error::Ok || report.load == Error::InvalidProgram ||
                       report.load == Error::NotSupported || report.load == Error::OutOfResources;
    if (report.leaked_buffers == 0 && live_handles() == 0 && explained && known) return true;
    ADD_FAILURE() << golden_.name << ", " << what << " at " << position << ": "
                  << report.leaked_buffers << " buffers and " << live_handles()
                  << " handles left, load gave " << to_string(report.load) << ", message \""
                  << QuietLog::last() << '"';
    return false;
  }

  // Writes `value` over the bytes at `position`, unless they are that already.
  template <typename T>
  bool handles_value(size_t position, T value, const char* what) {
    std::vector<uint8_t> bytes = golden_.bytes;
    if (std::memcmp(bytes.data() + position, &value, sizeof(value)) == 0) return true;
    std::memcpy(bytes.data() + position, &value, sizeof(value));
    return handles(bytes, what, position);
  }

  const Golden golden_;
  QuietLog quiet_;
  Count count_;
  static Count total_;
};

Count MutationTest::total_;

TEST_P(MutationTest, SurvivesEveryByteDamaged) {
  for (size_t i = 0; i < golden_.bytes.size(); ++i) {
    const uint8_t byte = golden_.bytes[i];
    ASSERT_TRUE(handles_value(i, uint8_t{0x00}, "byte zeroed"));
    ASSERT_TRUE(handles_value(i, uint8_t{0xff}, "byte set"));
    ASSERT_TRUE(handles_value(i, static_cast<uint8_t>(~byte), "byte inverted"));
    for (int bit = 0; bit < 8; ++bit) {
      ASSERT_TRUE(handles_value(i, static_cast<uint8_t>(byte ^ 1 << bit), "bit flipped"));
    }
  }
}

TEST_P(MutationTest, SurvivesEveryTruncation) {
  for (size_t size = 0; size < golden_.bytes.size(); ++size) {
    const std::vector<uint8_t> bytes(golden_.bytes.begin(),
                                     golden_.bytes.begin() + static_cast<ptrdiff_t>(size));
    Faults faults;
    ASSERT_TRUE(handles(bytes, "cut off", size));
    ASSERT_NE(run_program(bytes, golden_, &faults).load, Error::Ok) << "cut off at " << size;
  }
}

TEST_P(MutationTest, SurvivesEveryExtremeNumber) {
  const auto size = static_cast<uint32_t>(golden_.bytes.size());
  for (size_t i = 0; i + 4 <= golden_.bytes.size(); i += 4) {
    for (const uint32_t value : {0u, 1u, 2u, 8u, size - 1, size, size + 1, 0x7fffffffu, 0x80000000u,
                                 0xfffffffeu, 0xffffffffu}) {
      ASSERT_TRUE(handles_value(i, value, "32-bit number"));
    }
    for (const uint16_t value : {0, 1, 4, 0x7fff, 0x8000, 0xffff}) {
      ASSERT_TRUE(handles_value(i, value, "16-bit number"));
      ASSERT_TRUE(handles_value(i + 2, value, "16-bit number"));
    }
  }
  for (size_t i = 0; i + 8 <= golden_.bytes.size(); i += 8) {
    for (const uint64_t value :
         {uint64_t{0}, uint64_t{1}, uint64_t{size}, uint64_t{1} << 31, uint64_t{1} << 32,
          uint64_t{1} << 63, (uint64_t{1} << 63) - 1, UINT64_MAX - 1, UINT64_MAX}) {
      ASSERT_TRUE(handles_value(i, value, "64-bit number"));
    }
  }
}

// Neighbours are the interesting ones: an offset that points into the next
// table, an index of the next list.
TEST_P(MutationTest, SurvivesEverySwapOfNearNumbers) {
  for (size_t i = 0; i + 4 <= golden_.bytes.size(); i += 4) {
    for (size_t k = i + 4; k + 4 <= golden_.bytes.size() && k < i + 64; k += 4) {
      std::vector<uint8_t> bytes = golden_.bytes;
      uint8_t number[4];
      std::memcpy(number, bytes.data() + i, 4);
      std::memcpy(bytes.data() + i, bytes.data() + k, 4);
      std::memcpy(bytes.data() + k, number, 4);
      ASSERT_TRUE(handles(bytes, "numbers swapped", i));
    }
  }
}

TEST_P(MutationTest, TakesBytesAfterTheEnd) {
  for (const size_t extra : {1, 15, 16, 4096}) {
    std::vector<uint8_t> bytes = golden_.bytes;
    bytes.resize(bytes.size() + extra, 0xab);
    Faults faults;
    EXPECT_TRUE(run_program(bytes, golden_, &faults).all_ok()) << extra;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MutationTest, ::testing::ValuesIn(golden_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace petrel::faults
