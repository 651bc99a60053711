// SPDX-License-Identifier: Apache-2.0
//
// testdata/wheel.ptd was written by ExecuTorch's serializer (make_ptd.py).
#include "extension/flat_data/flat_data_map.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "extension/data_loader/buffer_data_loader.h"
#include "extension/data_loader/testing_placed_loader.h"
#include "gtest/gtest.h"
#include "runtime/core/log.h"
#include "schema/flat_data_generated.h"

namespace petrel::extension {
namespace {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::TensorLayout;
namespace flat = schema::flat_data;

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
    const Result<const TensorLayout> layout = map.get_tensor_layout(*key);
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
  Result<const TensorLayout> layout = map->get_tensor_layout("nhwc");
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

// Gives one byte less than it is asked for, but for the head.
class ShortLoader final : public runtime::DataLoader {
 public:
  explicit ShortLoader(const std::string& bytes) : loader_(bytes.data(), bytes.size()) {}
  Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo& info) const override {
    return loader_.load(offset, size > 48 ? size - 1 : size, info);
  }
  Result<size_t> size() const override { return loader_.size(); }

 private:
  BufferDataLoader loader_;
};

TEST(FlatDataMap, RefusesAnIndexThatIsNotWhole) {
  const std::string bytes = golden();
  ShortLoader loader(bytes);
  EXPECT_EQ(FlatDataMap::load(&loader).error(), Error::AccessFailed);
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

TEST(FlatDataMap, TellsThePlaceOfAllBytesOfAKeyAlone) {
  const std::string bytes = golden();
  PlacedLoader loader(bytes);
  Result<FlatDataMap> map = FlatDataMap::load(&loader);
  ASSERT_TRUE(map.ok());
  EXPECT_TRUE(map->find_place("linear.weight", 24).ok());
  EXPECT_EQ(map->find_place("linear.weight", 20).error(), Error::NotSupported);
  EXPECT_EQ(map->find_place("linear", 24).error(), Error::NotFound);
}

// What a file says of one entry; the defaults are right.
struct EntrySpec {
  std::string key;
  uint32_t segment = 0;
  std::vector<int32_t> sizes = {4};
  std::vector<uint8_t> dim_order = {0};
  bool has_key = true;
  bool has_key_of_last = false;  // the same bytes
};

// Where segments are and how long, behind the base.
using Segments = std::vector<std::pair<uint64_t, uint64_t>>;

// A file with these segments, in so many bytes of data, and these entries.
std::string file_of(const std::vector<EntrySpec>& specs, const Segments& in_data = {{0, 16}},
                    uint32_t version = 0, size_t data_bytes = 16) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<flat::NamedData>> rows;
  flatbuffers::Offset<flatbuffers::String> key;
  for (const EntrySpec& spec : specs) {
    if (!spec.has_key_of_last) {
      key = spec.has_key ? builder.CreateString(spec.key)
                         : flatbuffers::Offset<flatbuffers::String>();
    }
    const auto sizes = builder.CreateVector(spec.sizes);
    const auto order = builder.CreateVector(spec.dim_order);
    const auto layout = flat::CreateTensorLayout(builder, flat::ScalarType::FLOAT, sizes, order);
    rows.push_back(flat::CreateNamedData(builder, key, spec.segment, layout));
  }
  std::vector<flatbuffers::Offset<flat::DataSegment>> segments;
  for (const auto& [offset, size] : in_data) {
    segments.push_back(flat::CreateDataSegment(builder, offset, size));
  }
  const auto stored_segments = builder.CreateVector(segments);
  const auto stored_rows = builder.CreateVector(rows);
  builder.Finish(flat::CreateFlatData(builder, version, stored_segments, stored_rows),
                 flat::FlatDataIdentifier());
  // The header stands behind the first eight bytes of the index, the offset of
  // its root, which grows by as much, and "FT01".
  const std::string index(reinterpret_cast<const char*>(builder.GetBufferPointer()),
                          builder.GetSize());
  std::string file;
  const auto number = [&](uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) file += static_cast<char>(value >> 8 * i);
  };
  const uint64_t base = (48 + builder.GetSize() + 15) / 16 * 16;
  number(48 + static_cast<uint8_t>(index[0]) + static_cast<uint8_t>(index[1]) * 256, 4);
  file += index.substr(4, 4) + "FH01";
  number(40, 4);
  number(48, 8);
  number(index.size(), 8);
  number(base, 8);
  number(data_bytes, 8);
  file.resize(8 + 48);
  file += index.substr(8);
  file.resize(base);
  return file + std::string(data_bytes, 'd');
}

// The error and the last message of loading a file.
struct Loaded {
  explicit Loaded(const std::string& bytes) {
    const runtime::LogHook before =
        runtime::set_log_hook({[](void* self, runtime::LogLevel, const char* text) {
                                 static_cast<Loaded*>(self)->message = text;
                               },
                               this});
    BufferDataLoader loader(bytes.data(), bytes.size());
    const Result<FlatDataMap> map = FlatDataMap::load(&loader);
    error = map.ok() ? Error::Ok : map.error();
    runtime::set_log_hook(before);
  }
  Error error;
  std::string message;
};

// A check that something behind it would make up for is told by its message.
TEST(FlatDataMap, NamesWhatIsWrongInTheHeader) {
  const auto with = [](size_t at, const std::string& bytes) {
    std::string file = golden();
    return file.replace(at, bytes.size(), bytes);
  };
  const std::string huge(8, '\x7f');
  const struct {
    std::string bytes;
    const char* message;
  } kBad[] = {
      {golden().substr(0, 47), "data file has 47 bytes, must have at least"},
      {with(4, "XX"), "data file does not begin with"},
      {with(8, "XX"), "data file does not begin with"},
      {with(12, std::string("\x27\0\0\0", 4)), "data file header has 39 bytes"},
      {with(16, huge), "data file index ["},
      {with(24, huge), "data file index ["},
      {with(16, std::string(8, '\0') + '\x0a' + std::string(7, '\0')), "data file index [0, +10)"},
      {with(32, huge), "data file segments ["},
      {with(40, huge), "data file segments ["},
  };
  for (const auto& bad : kBad) {
    const Loaded loaded(bad.bytes);
    EXPECT_EQ(loaded.error, Error::InvalidExternalData) << bad.message;
    EXPECT_EQ(loaded.message.rfind(bad.message, 0), 0u) << loaded.message;
  }
}

TEST(FlatDataMap, RefusesEntriesWithoutAKeyOrWithANulInIt) {
  EXPECT_EQ(Loaded(file_of({{"a"}, {"b"}})).error, Error::Ok);
  EntrySpec without{"x"};
  without.has_key = false;
  for (const EntrySpec& spec : {EntrySpec{""}, without}) {
    const Loaded loaded(file_of({{"a"}, spec}));
    EXPECT_EQ(loaded.error, Error::InvalidExternalData);
    EXPECT_EQ(loaded.message, "data file entry 1 has no key");
  }
  const Loaded loaded(file_of({{"a"}, {std::string("b\0c", 3)}}));
  EXPECT_EQ(loaded.error, Error::InvalidExternalData);
  EXPECT_EQ(loaded.message, "data file entry 1 has a NUL in its key");
}

TEST(FlatDataMap, RefusesNewerVersions) {
  const Loaded loaded(file_of({{"a"}}, {{0, 16}}, 1));
  EXPECT_EQ(loaded.error, Error::NotSupported);
  EXPECT_EQ(loaded.message, "data file has version 1, the newest known is 0");
}

TEST(FlatDataMap, FindsNothingWhereThereIsNothing) {
  const std::string bytes = file_of({});
  BufferDataLoader loader(bytes.data(), bytes.size());
  const Result<FlatDataMap> map = FlatDataMap::load(&loader);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->get_data("a").error(), Error::NotFound);
  EXPECT_EQ(map->get_key(0).error(), Error::InvalidArgument);
}

// All keys are compared, and a few megabytes could hold thousands of keys of megabytes
// that lie on each other.
TEST(FlatDataMap, RefusesKeysThatLieOnEachOther) {
  EntrySpec again{""};
  again.has_key_of_last = true;
  const Loaded loaded(file_of({{std::string(1000, 'k')}, again, again}));
  EXPECT_EQ(loaded.error, Error::InvalidExternalData);
  EXPECT_EQ(loaded.message, "data file entry 1 has a key that shares bytes with other keys");
}

// Whoever hashes or compares the bytes of each key does so with all of them: a megabyte of
// keys of one megabyte would be hours.
TEST(FlatDataMap, RefusesKeysThatShareTooManyBytes) {
  constexpr size_t kBytes = 1 << 17;
  for (const size_t count : {8000, 20000}) {
    std::vector<EntrySpec> specs;
    for (size_t i = 0; i < count; ++i) specs.push_back({std::to_string(i)});
    const Loaded loaded(file_of(specs, {{0, kBytes}}, 0, kBytes));
    EXPECT_EQ(loaded.error, count == 8000 ? Error::Ok : Error::InvalidExternalData);
    if (count == 8000) continue;
    EXPECT_NE(loaded.message.find("bytes together, the most for its size"), std::string::npos)
        << loaded.message;
  }
}

// Others may write longer keys than we do.
TEST(FlatDataMap, FindsKeysOfAMegabyteAndWithFormatCharacters) {
  const std::string longest(1 << 20, 'k');
  const std::string bytes = file_of({{"%s%n%d"}, {"{}\n\x1b[31m"}, {longest}});
  BufferDataLoader loader(bytes.data(), bytes.size());
  const Result<FlatDataMap> map = FlatDataMap::load(&loader);
  ASSERT_TRUE(map.ok());
  for (const std::string& key : {longest, std::string("%s%n%d"), std::string("{}\n\x1b[31m")}) {
    const Result<FreeableBuffer> data = map->get_data(key);
    ASSERT_TRUE(data.ok());
    EXPECT_EQ(data->size(), 16u);
  }
  EXPECT_EQ(map->get_data(longest + "k").error(), Error::NotFound);
  EXPECT_EQ(map->get_data(longest.substr(1)).error(), Error::NotFound);
}

TEST(FlatDataMap, NamesTheKeyThatIsWrongAndShowsLittleOfIt) {
  const std::string longest(1 << 20, 'k');
  for (const std::string& key : {std::string("%s%n"), longest}) {
    EntrySpec beyond{key};
    beyond.segment = 1;
    EntrySpec large{key};
    large.sizes = {5};
    EntrySpec negative{key};
    negative.sizes = {-4};
    EntrySpec order{key};
    order.dim_order = {1};
    EntrySpec huge{key};
    huge.sizes = {1 << 30, 1 << 30, 1 << 30};
    huge.dim_order = {0, 1, 2};
    for (const std::vector<EntrySpec>& specs : std::initializer_list<std::vector<EntrySpec>>{
             {{key}, {key}}, {beyond}, {large}, {negative}, {order}, {huge}}) {
      const Loaded loaded(file_of(specs));
      EXPECT_EQ(loaded.error, Error::InvalidExternalData);
      EXPECT_NE(loaded.message.find(key.substr(0, 4)), std::string::npos) << loaded.message;
      EXPECT_LT(loaded.message.size(), 400u);
    }
  }
}

TEST(FlatDataMap, RefusesSegmentsBeyondItsData) {
  for (const uint64_t size : {uint64_t{17}, uint64_t{1} << 40, ~uint64_t{0}}) {
    const Loaded loaded(file_of({{"a"}}, {{0, size}}));
    EXPECT_EQ(loaded.error, Error::InvalidExternalData);
    EXPECT_EQ(loaded.message, "data file segment 0 is not inside the data of 16 bytes");
  }
}

// A file of a megabyte could name a terabyte so.
TEST(FlatDataMap, RefusesSegmentsThatShareBytes) {
  for (const Segments& segments : {Segments{{0, 16}, {0, 16}}, Segments{{0, 1}, {0, 16}},
                                   Segments{{0, 16}, {16, 0}, {0, 4}}}) {
    const Loaded loaded(file_of({{"a"}}, segments));
    EXPECT_EQ(loaded.error, Error::InvalidExternalData);
    EXPECT_NE(loaded.message.find(" share the bytes at "), std::string::npos) << loaded.message;
  }
  EXPECT_EQ(Loaded(file_of({{"a"}}, {{0, 16}, {16, 0}, {0, 0}, {0, 0}})).error, Error::Ok);
}

TEST(FlatDataMap, RefusesSegmentsThatBeginBetweenMultiplesOf16) {
  const Loaded loaded(file_of({{"a", 0, {1}}}, {{4, 4}}));
  EXPECT_EQ(loaded.error, Error::InvalidExternalData);
  EXPECT_NE(loaded.message.find("must begin at a multiple of 16"), std::string::npos);
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
