// SPDX-License-Identifier: Apache-2.0
#include "extension/named_data_map/safetensors_map.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "extension/data_loader/buffer_data_loader.h"
#include "extension/data_loader/testing_placed_loader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::extension {
namespace {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::ScalarType;
using runtime::TensorLayout;
using ::testing::HasSubstr;

// A file with this index, which need not be one, and data behind it.
std::string file(const std::string& index, const std::string& data) {
  std::string bytes;
  for (size_t i = 0; i < 8; ++i) {
    bytes.push_back(static_cast<char>(uint64_t{index.size()} >> (8 * i)));
  }
  return bytes + index + data;
}

std::string floats(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string two_tensors() {
  return file(R"({"__metadata__":{"format":"pt"},)"
              R"("w":{"dtype":"F32","shape":[2,3],"data_offsets":[4,28]},)"
              R"("b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}  )",
              "\x01\x02\x03\x04" + floats({1, 2, 3, 4, 5, 6}));
}

class SafetensorsMapTest : public ::testing::Test {
 protected:
  SafetensorsMapTest() {
    runtime::set_log_hook({[](void* context, runtime::LogLevel, const char* text) {
                             *static_cast<std::string*>(context) += text;
                             *static_cast<std::string*>(context) += "\n";
                           },
                           &messages_});
  }
  ~SafetensorsMapTest() override { runtime::set_log_hook(runtime::LogHook{}); }

  // What load() says of a file with this index and 28 bytes of data.
  std::string refusal(const std::string& index) {
    const std::string bytes = file(index, std::string(28, 'x'));
    messages_.clear();
    BufferDataLoader loader(bytes.data(), bytes.size());
    EXPECT_EQ(SafetensorsMap::load(&loader).error(), Error::InvalidExternalData) << index;
    return messages_;
  }

  std::string messages_;
};

TEST_F(SafetensorsMapTest, GivesTensorsWithTheirLayouts) {
  const std::string bytes = two_tensors();
  BufferDataLoader loader(bytes.data(), bytes.size());
  Result<SafetensorsMap> map = SafetensorsMap::load(&loader);
  ASSERT_TRUE(map.ok()) << messages_;
  ASSERT_EQ(*map->get_num_keys(), 2u);
  EXPECT_STREQ(*map->get_key(0), "b");
  EXPECT_STREQ(*map->get_key(1), "w");
  EXPECT_EQ(map->get_key(2).error(), Error::InvalidArgument);

  const Result<const TensorLayout> layout = map->get_tensor_layout("w");
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->scalar_type(), ScalarType::Float);
  ASSERT_EQ(layout->sizes().size(), 2u);
  EXPECT_EQ(layout->sizes()[1], 3);
  EXPECT_EQ(layout->dim_order()[1], 1);

  const Result<FreeableBuffer> w = map->get_data("w");
  ASSERT_TRUE(w.ok());
  ASSERT_EQ(w->size(), 24u);
  // The file has it at an odd place.
  EXPECT_EQ(reinterpret_cast<uintptr_t>(w->data()) % runtime::kDataAlignment, 0u);
  EXPECT_EQ(static_cast<const float*>(w->data())[5], 6.0f);
  float two[2] = {};
  EXPECT_EQ(map->load_data_into("w", two, sizeof(two)), Error::Ok);
  EXPECT_EQ(two[1], 2.0f);
  for (const char* key : {"", "__metadata__", "w ", "x"}) {
    EXPECT_EQ(map->get_data(key).error(), Error::NotFound);
    EXPECT_EQ(map->get_tensor_layout(key).error(), Error::NotFound);
  }
}

TEST_F(SafetensorsMapTest, TellsThePlaceOfAllBytesOfAKeyAlone) {
  const std::string bytes = two_tensors();
  PlacedLoader loader(bytes);
  Result<SafetensorsMap> map = SafetensorsMap::load(&loader);
  ASSERT_TRUE(map.ok()) << messages_;
  EXPECT_TRUE(map->find_place("w", 24).ok());
  EXPECT_EQ(map->find_place("w", 20).error(), Error::NotSupported);
  EXPECT_EQ(map->find_place("x", 24).error(), Error::NotFound);
  EXPECT_FALSE(*map->is_in_place("w"));
  EXPECT_EQ(map->is_in_place("x").error(), Error::NotFound);
  EXPECT_EQ(*map->num_bytes("w"), 24u);
  EXPECT_EQ(map->num_bytes("x").error(), Error::NotFound);
}

TEST_F(SafetensorsMapTest, NamesTheTensorThatIsWrong) {
  const auto tensor = [](const char* fields) { return std::string("{\"w\":{") + fields + "}}"; };
  EXPECT_THAT(refusal(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,32])")),
              HasSubstr("\"w\" has data_offsets that are not inside the file"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])")),
              HasSubstr("\"w\" has data_offsets"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])")),
              HasSubstr("other bytes than its shape"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"F33","shape":[2],"data_offsets":[0,8])")),
              HasSubstr("unknown dtype"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])")),
              HasSubstr("negative"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"F32","shape":[4294967296],"data_offsets":[0,8])")),
              HasSubstr("2^31"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"F32","data_offsets":[0,8])")), HasSubstr("no shape"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])")),
              HasSubstr("list"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"F32","dtype":"F32","shape":[],"data_offsets":[0,4])")),
              HasSubstr("field twice"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[0])")),
              HasSubstr("\"w\" has data_offsets"));
  const std::string ones = "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1";
  const std::string long_shape = R"("dtype":"U8","shape":[)" + ones + R"(],"data_offsets":[0,1])";
  EXPECT_THAT(refusal(tensor(long_shape.c_str())), HasSubstr("too long a list"));
  EXPECT_THAT(refusal(tensor(R"("shape":"U8")")), HasSubstr("a text where none belongs"));
  EXPECT_THAT(refusal("\"U8\""), HasSubstr("damaged"));
  EXPECT_THAT(refusal(R"({"w":"U8"})"), HasSubstr("a text where none belongs"));
  // Behind a tensor that ends with its dtype.
  EXPECT_THAT(refusal(R"({"v":{"shape":[1],"data_offsets":[0,1],"dtype":"U8"},"w":"U8"})"),
              HasSubstr("a text where none belongs"));
  EXPECT_THAT(refusal(tensor(R"("shape":{})")), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal(tensor(R"("shape":[{}])")), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal(R"({"__metadata__":{"a":[1]}})"), HasSubstr("a list too many"));
  EXPECT_THAT(refusal(R"({"w":[1]})"), HasSubstr("a list too many"));
  const char* const kByte = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_THAT(refusal(std::string("{\"w\":") + kByte + ",\"w\":" + kByte + "}"),
              HasSubstr("\"w\" occurs twice"));
  EXPECT_THAT(refusal(std::string("{\"\":") + kByte + "}"), HasSubstr("empty"));
  EXPECT_THAT(refusal(std::string("{\"a\\u0000b\":") + kByte + "}"), HasSubstr("NUL"));
  EXPECT_THAT(refusal("{\"" + std::string(1024, 'k') + "\":" + kByte + "}"), HasSubstr("too long"));
}

// Each that does not begin at a multiple of 16 is copied: a file of a megabyte could name
// gigabytes.
TEST_F(SafetensorsMapTest, RefusesTensorsThatShareBytes) {
  const auto two = [](const char* first, const char* second) {
    const auto tensor = [](const char* name, const char* offsets, int size) {
      return "\"" + std::string(name) + R"(":{"dtype":"U8","shape":[)" + std::to_string(size) +
             R"(],"data_offsets":)" + offsets + "}";
    };
    return "{" + tensor("v", first, 4) + "," + tensor("w", second, 8) + "," +
           tensor("x", "[2,2]", 0) + "}";
  };
  EXPECT_THAT(refusal(two("[0,4]", "[0,8]")), HasSubstr("share bytes"));
  EXPECT_THAT(refusal(two("[7,11]", "[0,8]")),
              HasSubstr("'w' and 'v' of a safetensors file share"));
  const std::string bytes = file(two("[8,12]", "[0,8]"), std::string(12, 'x'));
  BufferDataLoader loader(bytes.data(), bytes.size());
  EXPECT_TRUE(SafetensorsMap::load(&loader).ok()) << messages_;
}

TEST_F(SafetensorsMapTest, CopiesWhatIsNotAlignedOnce) {
  const std::string bytes = file(R"({"w":{"dtype":"U8","shape":[1000],"data_offsets":[1,1001]}} )",
                                 std::string(1001, 'x'));
  BufferDataLoader loader(bytes.data(), bytes.size());
  Result<SafetensorsMap> map = SafetensorsMap::load(&loader);
  ASSERT_TRUE(map.ok()) << messages_;
  const Result<FreeableBuffer> first = map->get_data("w");
  const Result<FreeableBuffer> second = map->get_data("w");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first->data()) % 16, 0u);
  EXPECT_EQ(first->data(), second->data());
}

TEST_F(SafetensorsMapTest, RefusesWhatIsNoIndex) {
  for (const char* index : {"", "[]", "3", "{", "{\"w\":3}", "{\"w\":\"x\"}", "{\"w\":[]}",
                            "{\"w\":{\"dtype\":{}}}", "{} {}", "\"{}\""}) {
    EXPECT_THAT(refusal(index), HasSubstr("damaged")) << index;
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"a\":";
  EXPECT_THAT(refusal(deep), HasSubstr("damaged"));

  std::string huge = two_tensors();
  huge.replace(0, 8, "\xff\xff\xff\xff\xff\xff\xff\xff");
  for (const std::string& bytes : {huge, std::string("1234567"), std::string()}) {
    BufferDataLoader loader(bytes.data(), bytes.size());
    EXPECT_EQ(SafetensorsMap::load(&loader).error(), Error::InvalidExternalData);
  }
}

// A file of one terabyte, of which there are eight bytes.
class VastLoader final : public runtime::DataLoader {
 public:
  Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo&) const override {
    asked = std::max(asked, offset + size);
    return size == 8 ? Result<FreeableBuffer>(FreeableBuffer(kLength, 8, nullptr))
                     : Result<FreeableBuffer>(Error::AccessFailed);
  }
  Result<size_t> size() const override { return size_t{1} << 40; }

  mutable size_t asked = 0;

 private:
  static constexpr uint8_t kLength[8] = {0, 0, 0, 0, 1};  // 4 GB
};

TEST_F(SafetensorsMapTest, ReadsNoIndexThatIsTooLong) {
  VastLoader vast;
  EXPECT_EQ(SafetensorsMap::load(&vast).error(), Error::InvalidExternalData);
  EXPECT_EQ(vast.asked, 8u);
  EXPECT_THAT(messages_, HasSubstr("index of 4294967296 bytes is larger than 104857600"));
  // One byte more than the file has.
  std::string bytes = two_tensors();
  bytes[0] = static_cast<char>(bytes.size() - 7);
  bytes[1] = 0;
  ASSERT_LT(bytes.size(), 256u + 7);
  messages_.clear();
  BufferDataLoader loader(bytes.data(), bytes.size());
  EXPECT_EQ(SafetensorsMap::load(&loader).error(), Error::InvalidExternalData);
  EXPECT_THAT(messages_, HasSubstr("or than the file"));
}

// Every byte to 0, 0xFF and flipped, and every truncation: an error, or a map
// that can be read throughout.
TEST_F(SafetensorsMapTest, SurvivesDamage) {
  runtime::set_log_hook(runtime::LogHook{});
  const std::string bytes = two_tensors();
  size_t cases = 0, loaded = 0;
  uint64_t sum = 0;
  const auto attempt = [&](const std::string& damaged) {
    ++cases;
    const std::string exact(damaged.begin(), damaged.end());
    BufferDataLoader loader(exact.data(), exact.size());
    const Result<SafetensorsMap> map = SafetensorsMap::load(&loader);
    if (!map.ok()) return;
    ++loaded;
    for (uint32_t i = 0; i < *map->get_num_keys(); ++i) {
      const char* key = *map->get_key(i);
      const Result<FreeableBuffer> data = map->get_data(key);
      ASSERT_TRUE(data.ok());
      const Result<const TensorLayout> layout = map->get_tensor_layout(key);
      ASSERT_TRUE(layout.ok());
      EXPECT_EQ(layout->nbytes(), data->size());
      for (size_t b = 0; b < data->size(); ++b) {
        sum += static_cast<const uint8_t*>(data->data())[b];
      }
    }
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
  EXPECT_GT(loaded, 0u);
  EXPECT_LT(loaded, cases);
  EXPECT_GT(sum, 0u);
}

}  // namespace
}  // namespace petrel::extension
