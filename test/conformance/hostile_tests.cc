// SPDX-License-Identifier: Apache-2.0
//
// Payloads that nobody compiled: cut, damaged byte by byte and field by field,
// of nothing and of others. Init refuses them, or gives a partition that runs within
// its memory.
#include <cstring>
#include <random>

#include "test/conformance/partition_run.h"
#include "test/conformance/suite.h"

namespace petrel::conformance {
namespace {

using runtime::Error;

class HostilePayloads : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    made_ = compiled({{"forward", steps_with_all_results(fixture_, {"a", "b"})}});
    ASSERT_EQ(made_.partitions.size(), 1u);
  }

  // What a file with this payload can do.
  void attack(PartitionRun& run, const std::vector<uint8_t>& payload) {
    ++attacks_;
    if (run.init(payload) == Error::Ok) {
      ++taken_;
      static_cast<void>(run.execute(attacks_));
    }
    run.destroy();
    ASSERT_TRUE(run.guards_are_whole());
    ASSERT_EQ(run.leaks(), 0);
  }

  void TearDown() override {
    std::printf("%u payloads, %u of them taken for good\n", attacks_, taken_);
  }

  Compiled made_;
  uint32_t attacks_ = 0;
  uint32_t taken_ = 0;
};

TEST_F(HostilePayloads, OfAnyLengthAreRefused) {
  const QuietLog quiet;
  PartitionRun run(made_.partitions[0], made_.store.blobs());
  const std::vector<uint8_t>& whole = run.payload();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    ASSERT_NO_FATAL_FAILURE(attack(run, cut)) << "cut to " << size << " bytes";
  }
  for (const size_t size : {size_t{1}, size_t{16}, size_t{64}, size_t{1000}}) {
    for (const uint8_t fill : {uint8_t{0}, uint8_t{0xFF}, uint8_t{'A'}}) {
      ASSERT_NO_FATAL_FAILURE(attack(run, std::vector<uint8_t>(size, fill)));
    }
  }
}

TEST_F(HostilePayloads, OfNoBackendAreRefused) {
  const QuietLog quiet;
  PartitionRun run(made_.partitions[0], made_.store.blobs());
  EXPECT_NE(run.init({}), Error::Ok);
  EXPECT_NE(run.init(std::vector<uint8_t>(256, 0)), Error::Ok);
  const std::string text = "this was made for somebody else, and is long enough";
  EXPECT_NE(run.init({text.begin(), text.end()}), Error::Ok);
  EXPECT_EQ(run.leaks(), 0);
}

TEST_F(HostilePayloads, WithADamagedByteStayWithinTheirMemory) {
  const QuietLog quiet;
  PartitionRun run(made_.partitions[0], made_.store.blobs());
  const std::vector<uint8_t>& whole = run.payload();
  for (size_t i = 0; i < whole.size(); i += fixture_.mutation_stride) {
    for (const uint8_t byte :
         {uint8_t{0}, uint8_t{1}, uint8_t{0x7F}, uint8_t{0x80}, uint8_t{0xFF},
          static_cast<uint8_t>(whole[i] + 1), static_cast<uint8_t>(whole[i] - 1),
          static_cast<uint8_t>(whole[i] ^ 0x10)}) {
      if (byte == whole[i]) continue;
      std::vector<uint8_t> damaged = whole;
      damaged[i] = byte;
      ASSERT_NO_FATAL_FAILURE(attack(run, damaged)) << "byte " << i << " is " << int{byte};
    }
  }
}

TEST_F(HostilePayloads, WithADamagedFieldStayWithinTheirMemory) {
  const QuietLog quiet;
  PartitionRun run(made_.partitions[0], made_.store.blobs());
  const std::vector<uint8_t>& whole = run.payload();
  for (const size_t width : {size_t{2}, size_t{4}, size_t{8}}) {
    for (size_t i = 0; i + width <= whole.size(); i += width) {
      if (i / width % fixture_.mutation_stride != 0) continue;
      for (const uint64_t value :
           {uint64_t{0}, uint64_t{1}, uint64_t{0x7FFFFFFF}, uint64_t{0xFFFFFFFF}, ~uint64_t{0},
            ~uint64_t{0} >> 1, uint64_t{1} << 31, uint64_t{1} << 62}) {
        std::vector<uint8_t> damaged = whole;
        std::memcpy(damaged.data() + i, &value, width);
        ASSERT_NO_FATAL_FAILURE(attack(run, damaged)) << width << " bytes at " << i;
      }
    }
  }
}

TEST_F(HostilePayloads, DamagedAtRandomStayWithinTheirMemory) {
  const QuietLog quiet;
  PartitionRun run(made_.partitions[0], made_.store.blobs());
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> damaged = run.payload();
    for (uint32_t edit = 0; edit < 1 + random() % 4; ++edit) {
      const size_t at = random() % damaged.size();
      switch (random() % 3) {
        case 0:
          damaged[at] = static_cast<uint8_t>(random());
          break;
        case 1:
          damaged.erase(damaged.begin() + static_cast<ptrdiff_t>(at));
          break;
        default:
          damaged.insert(damaged.begin() + static_cast<ptrdiff_t>(at), damaged[at]);
          break;
      }
      if (damaged.empty()) break;
    }
    ASSERT_NO_FATAL_FAILURE(attack(run, damaged)) << "round " << round;
  }
}

}  // namespace
}  // namespace petrel::conformance
