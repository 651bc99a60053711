// SPDX-License-Identifier: Apache-2.0
//
// testdata/wheel.ptd was written by ExecuTorch's serializer (make_ptd.py).
#include "extension/flat_data/flat_data_map.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "extension/data_loader/buffer_data_loader.h"
#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::extension {
namespace {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::TensorLayout;

std::string golden() {
  std::ifstream in("extension/flat_data/testdata/wheel.ptd", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Uses everything a loaded map offers.
void read_all(const FlatDataMap& map) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < *map.get_num_keys(); ++i) {
    const Result<const char*> key = map.get_key(i);
    ASSERT_TRUE(key.ok());
    const Result<FreeableBuffer> data = map.get_data(*key);
    ASSERT_TRUE(data.ok());
    for (size_t b = 0; b < data->size(); ++b) {
      sum += static_cast<const uint8_t*>(data->data())[b];
    }
    const Result<TensorLayout> layout = map.get_tensor_layout(*key);
    if (layout.ok()) {
      EXPECT_LE(layout->nbytes(), data->size());
    }
  }
  volatile uint64_t keep = sum;
  (void)keep;
}

TEST(FlatDataMap, ReadsAFileOfTheWheel) {
  const std::string bytes = golden();
  BufferDataLoader loader(bytes.data(), bytes.size());
  Result<FlatDataMap> map = FlatDataMap::load(&loader);
  ASSERT_TRUE(map.ok());
  ASSERT_EQ(*map->get_num_keys(), 4u);
  const float expected[] = {0, 1, 2, 3, 4, 5};
  for (const char* key : {"linear.weight", "alias"}) {
    Result<FreeableBuffer> data = map->get_data(key);
    ASSERT_TRUE(data.ok()) << key;
    ASSERT_EQ(data->size(), sizeof(expected));
    EXPECT_EQ(std::memcmp(data->data(), expected, sizeof(expected)), 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data->data()) % runtime::kDataAlignment, 0u);
  }
  Result<FreeableBuffer> blob = map->get_data("blob");
  ASSERT_TRUE(blob.ok());
  EXPECT_EQ(std::string(static_cast<const char*>(blob->data()), blob->size()), "hello");
}

TEST(FlatDataMap, TellsLayouts) {
  const std::string bytes = golden();
  BufferDataLoader loader(bytes.data(), bytes.size());
  Result<FlatDataMap> map = FlatDataMap::load(&loader);
  ASSERT_TRUE(map.ok());
  Result<TensorLayout> layout = map->get_tensor_layout("nhwc");
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->scalar_type(), runtime::ScalarType::Float);
  EXPECT_EQ(layout->nbytes(), 48u);
  ASSERT_EQ(layout->sizes().size(), 4u);
  EXPECT_EQ(layout->sizes()[3], 3);
  EXPECT_EQ(layout->dim_order()[1], 2);
  EXPECT_EQ(map->get_tensor_layout("blob").error(), Error::NotFound);
}

TEST(FlatDataMap, AnswersForMissingKeys) {
  const std::string bytes = golden();
  BufferDataLoader loader(bytes.data(), bytes.size());
  Result<FlatDataMap> map = FlatDataMap::load(&loader);
  ASSERT_TRUE(map.ok());
  for (const char* key : {"", "linear", "linear.weightx", "zzz"}) {
    EXPECT_EQ(map->get_data(key).error(), Error::NotFound);
    EXPECT_EQ(map->get_tensor_layout(key).error(), Error::NotFound);
  }
  EXPECT_EQ(map->get_key(4).error(), Error::InvalidArgument);
}

TEST(FlatDataMap, LoadsIntoMemoryOfTheCaller) {
  const std::string bytes = golden();
  BufferDataLoader loader(bytes.data(), bytes.size());
  Result<FlatDataMap> map = FlatDataMap::load(&loader);
  ASSERT_TRUE(map.ok());
  float out[2] = {};
  ASSERT_EQ(map->load_data_into("linear.weight", out, sizeof(out)), Error::Ok);
  EXPECT_EQ(out[1], 1.0f);
  char big[64];
  EXPECT_EQ(map->load_data_into("linear.weight", big, 25), Error::InvalidArgument);
}

// Every byte to 0, 0xFF and flipped, and every truncation: an error, or a map
// that can be read throughout. The loader's bytes end where the heap block does,
// so AddressSanitizer sees a read past them.
TEST(FlatDataMap, SurvivesDamage) {
  runtime::set_log_hook(runtime::LogHook{});
  const std::string bytes = golden();
  size_t cases = 0, loaded = 0;
  const auto attempt = [&](const std::string& damaged) {
    ++cases;
    const std::string exact(damaged.begin(), damaged.end());
    BufferDataLoader loader(exact.data(), exact.size());
    Result<FlatDataMap> map = FlatDataMap::load(&loader);
    if (!map.ok()) return;
    ++loaded;
    read_all(*map);
  };
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int change : {0, 1, 2}) {
      std::string damaged = bytes;
      damaged[i] = change == 0 ? '\0' : change == 1 ? '\xff' : static_cast<char>(~damaged[i]);
      attempt(damaged);
    }
    attempt(bytes.substr(0, i));
  }
  attempt(bytes);
  printf("%zu damaged files, %zu of them loaded and were read\n", cases, loaded);
  EXPECT_EQ(cases, bytes.size() * 4 + 1);
  EXPECT_GT(loaded, 0u);
  EXPECT_LT(loaded, cases);
}

}  // namespace
}  // namespace petrel::extension
