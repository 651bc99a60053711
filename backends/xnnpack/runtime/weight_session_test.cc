// SPDX-License-Identifier: Apache-2.0
//
// The session as XNNPACK calls it: with the filter and the bias that the operator reads, with
// others, and where there is no memory for what is packed.
#include "backends/xnnpack/runtime/weight_session.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace petrel::backends::xnnpack {
namespace {

using runtime::BytePlace;

constexpr size_t kNotFound = SIZE_MAX;
constexpr size_t kBytes = 256;

class WeightSessionTest : public ::testing::Test {
 protected:
  WeightSessionTest() { begin(); }

  void begin(std::shared_ptr<PackedFile> file = nullptr, runtime::Budget* memory = nullptr) {
    WeightSession::FileUse use;
    use.file = std::move(file);
    session_.begin(kBytes, 0, HugePages::kNever, memory, use);
  }

  // With a place that is forgotten again: what is left of it must not be read. Compilers leave
  // out what they see is forgotten.
  static WeightSession::Weight weight(uint32_t value, const std::vector<float>& data,
                                      std::optional<BytePlace> place) {
    static WeightSession::Weight* volatile const kept = new WeightSession::Weight;
    *kept = {value, data.data(), data.size() * sizeof(float), place_of(value)};
    std::optional<BytePlace>* volatile const known = &kept->place;
    if (!place) known->reset();
    return *kept;
  }
  static BytePlace place_of(uint32_t value) { return {77, value}; }

  static xnn_weights_cache_look_up_key key(const void* kernel, const void* bias = nullptr) {
    xnn_weights_cache_look_up_key key = {};
    key.seed = 5;
    key.kernel = kernel;
    key.bias = bias;
    return key;
  }

  size_t look_up(const xnn_weights_cache_look_up_key& key) {
    return session_.provider()->look_up(session_.provider()->context, &key);
  }
  void* reserve(size_t size = kBytes) {
    return session_.provider()->reserve_space(session_.provider()->context, size);
  }
  // As an operator does that packs.
  size_t pack(const xnn_weights_cache_look_up_key& key) {
    void* const memory = reserve();
    if (memory == nullptr) return kNotFound;
    std::memset(memory, 1, kBytes);
    return session_.provider()->look_up_or_insert(session_.provider()->context, &key, memory,
                                                  kBytes);
  }
  bool is_remembered(uint32_t value, const std::vector<float>& data) const {
    return PackedWeights::instance().has(place_of(value), data.size() * sizeof(float), use_);
  }

  WeightSession session_;
  const std::vector<float> filter_ = std::vector<float>(16, 1), other_ = std::vector<float>(16, 2);
  const std::vector<float> bias_ = std::vector<float>(4, 3);
  const std::string use_ = "conv";
};

TEST_F(WeightSessionTest, FindsWhatWasPackedOfTheFilterThatIsRead) {
  session_.reads_filter(weight(1, filter_, std::nullopt), &use_);
  const size_t packed = pack(key(filter_.data()));
  ASSERT_NE(packed, kNotFound);
  EXPECT_EQ(look_up(key(filter_.data())), packed);
  EXPECT_EQ(look_up(key(other_.data())), kNotFound);
  EXPECT_EQ(look_up(key(filter_.data(), bias_.data())), kNotFound);
  session_.reads_nothing();
  EXPECT_EQ(look_up(key(filter_.data())), kNotFound);
}

TEST_F(WeightSessionTest, FindsWhatWasPackedWithTheBiasThatIsRead) {
  session_.reads_filter(weight(1, filter_, std::nullopt), &use_);
  session_.reads_bias(weight(2, bias_, std::nullopt));
  const size_t packed = pack(key(filter_.data(), bias_.data()));
  ASSERT_NE(packed, kNotFound);
  EXPECT_EQ(look_up(key(filter_.data(), bias_.data())), packed);
  EXPECT_EQ(look_up(key(filter_.data(), other_.data())), kNotFound);
}

// Other sessions look for it by the place of its bytes.
TEST_F(WeightSessionTest, IsRememberedWhereAllPlacesAreKnown) {
  session_.reads_filter(weight(10, filter_, place_of(10)), &use_);
  ASSERT_NE(pack(key(filter_.data())), kNotFound);
  EXPECT_TRUE(is_remembered(10, filter_));

  session_.reads_filter(weight(11, filter_, std::nullopt), &use_);
  ASSERT_NE(pack(key(filter_.data())), kNotFound);
  EXPECT_FALSE(is_remembered(11, filter_));

  session_.reads_filter(weight(12, filter_, place_of(12)), &use_);
  session_.reads_bias(weight(13, bias_, std::nullopt));
  ASSERT_NE(pack(key(filter_.data(), bias_.data())), kNotFound);
  EXPECT_FALSE(is_remembered(12, filter_));

  session_.reads_nothing();
  session_.reads_filter(weight(14, filter_, place_of(14)), &use_);
  ASSERT_NE(pack(key(other_.data())), kNotFound);
  EXPECT_FALSE(is_remembered(14, filter_));
}

TEST_F(WeightSessionTest, AFileHasAnIndexOfItsOwn) {
  const auto file = PackedFile::open(::testing::TempDir() + "/session.packed");
  begin(file);
  session_.reads_filter(weight(20, filter_, place_of(20)), &use_);
  ASSERT_NE(pack(key(filter_.data())), kNotFound);
  EXPECT_EQ(file->stats().added, 1u);
  EXPECT_FALSE(is_remembered(20, filter_));
  // What the operator does not read has no name there.
  ASSERT_NE(pack(key(other_.data())), kNotFound);
  session_.reads_nothing();
  ASSERT_NE(pack(key(filter_.data())), kNotFound);
  EXPECT_EQ(file->stats().added, 1u);
}

TEST_F(WeightSessionTest, PacksNothingThatDoesNotCome) {
  bool comes = false;
  int asked = 0;
  const auto fetch = [&] { return ++asked, comes; };
  session_.reads_filter(weight(30, filter_, std::nullopt), &use_, fetch);
  EXPECT_EQ(reserve(), nullptr);
  EXPECT_EQ(asked, 1);
  comes = true;
  session_.reads_filter(weight(30, filter_, std::nullopt), &use_, fetch);
  EXPECT_NE(reserve(), nullptr);
  EXPECT_NE(reserve(), nullptr);
  EXPECT_EQ(asked, 2);
}

TEST_F(WeightSessionTest, PacksNothingBeforeItBeginsAndAfterItsEnd) {
  WeightSession idle;
  EXPECT_EQ(idle.provider()->reserve_space(idle.provider()->context, kBytes), nullptr);
  EXPECT_NE(reserve(), nullptr);
  session_.end();
  EXPECT_EQ(reserve(), nullptr);
}

TEST_F(WeightSessionTest, PacksNothingThatIsNotPaidFor) {
  const uint64_t free = WeightSession::free_bytes(0);
  runtime::Budget memory("bytes", 100);
  begin(nullptr, &memory);
  EXPECT_NE(reserve(free), nullptr);
  EXPECT_FALSE(session_.over_budget());
  EXPECT_EQ(reserve(free + 101), nullptr);
  EXPECT_TRUE(session_.over_budget());
}

}  // namespace
}  // namespace petrel::backends::xnnpack
