// SPDX-License-Identifier: Apache-2.0
//
// What is loaded a second time from the same bytes is not packed again, and what only
// looks the same is: with every loader of files and memory.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/xnnpack/runtime/packed_weights.h"
#include "exir/ir/text.h"
#include "exir/ops/table.h"
#include "extension/data_loader/file_data_loader.h"
#include "extension/data_loader/memory.h"
#include "extension/data_loader/mmap_data_loader.h"
#include "gtest/gtest.h"
#include "test/xnnpack/delegate_run.h"

namespace petrel::test {
namespace {

using backends::xnnpack::PackedWeights;
using runtime::DataLoader;
using runtime::Error;

constexpr size_t kAlignment = 4096;

exir::ConstantPtr constant_of(const std::string& fqn, const exir::TensorType& type) {
  const std::vector<float> ones(static_cast<size_t>(type.numel()), 1);
  auto constant = std::make_shared<exir::Constant>();
  constant->fqn = fqn;
  constant->type = type;
  constant->data = exir::Blob::copy_of(
      {reinterpret_cast<const uint8_t*>(ones.data()), ones.size() * sizeof(float)});
  return constant;
}

// The weights of a payload in one run of bytes.
struct Weights {
  std::vector<char> bytes;
  std::map<std::string, std::pair<size_t, size_t>> places;
};

Weights weights_of(const exir::NamedBlobStore& store) {
  Weights weights;
  for (const auto& [unused, destination] : store.destinations()) {
    for (const auto& entry : destination.entries) {
      const exir::Blob::Bytes blob = destination.buffers[entry.buffer].blob.bytes();
      weights.places[entry.key] = {weights.bytes.size(), blob.size()};
      const auto* from = reinterpret_cast<const char*>(blob.data());
      weights.bytes.insert(weights.bytes.end(), from, from + blob.size());
      weights.bytes.resize((weights.bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
    }
  }
  return weights;
}

class LoaderMap final : public runtime::NamedDataMap {
 public:
  LoaderMap(const Weights& weights, const DataLoader& loader)
      : weights_(weights), loader_(loader) {}

  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override {
    const auto found = weights_.places.find(std::string(key));
    if (found == weights_.places.end()) return Error::NotFound;
    bytes_loaded_ += found->second.second;
    return loader_.load(found->second.first, found->second.second,
                        DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::External));
  }
  Error load_data_into(std::string_view key, void* buffer, size_t size) const override {
    const auto found = weights_.places.find(std::string(key));
    if (found == weights_.places.end()) return Error::NotFound;
    if (fails_late_) return Error::AccessFailed;
    bytes_loaded_ += size;
    return loader_.load_into(found->second.first, size,
                             DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::External),
                             buffer);
  }
  runtime::Result<runtime::BytePlace> find_place(std::string_view key, size_t size) const override {
    const auto found = weights_.places.find(std::string(key));
    if (found == weights_.places.end()) return Error::NotFound;
    return found->second.second == size ? loader_.find_place(found->second.first, size)
                                        : Error::NotSupported;
  }
  // By get_data() and load_data_into().
  size_t bytes_loaded() const { return bytes_loaded_; }
  void fail_late() { fails_late_ = true; }
  runtime::Result<uint32_t> get_num_keys() const override { return Error::NotFound; }
  runtime::Result<const char*> get_key(uint32_t) const override { return Error::NotFound; }

 private:
  const Weights& weights_;
  const DataLoader& loader_;
  mutable size_t bytes_loaded_ = 0;
  bool fails_late_ = false;
};

// Times of files tell nothing of changes within the same tick.
void let_the_file_settle() { std::this_thread::sleep_for(std::chrono::milliseconds(2100)); }

enum class Mode { kMapped, kFile, kMemory };

class SecondLoad : public ::testing::TestWithParam<Mode> {
 protected:
  void SetUp() override {
    auto graph = exir::parse_graph(R"(method @forward(%x: f32[2,64]) {
  %w = constant @w : f32[64,64]
  %v = constant @v : f32[8,64]
  %b = constant @b : f32[8]
  %h = aten.linear.default(%x, %w)
  %y = aten.linear.default(%h, %v, %b)
  return %y
})",
                                   &exir::find_op, &constant_of);
    ASSERT_TRUE(graph.ok()) << graph.status();
    auto lowered = lower(**graph);
    ASSERT_TRUE(lowered.ok()) << lowered.status();
    payload_ = lowered->payload;
    weights_ = weights_of(lowered->store.blobs());
    path_ = ::testing::TempDir() + "/second_load." + std::to_string(getpid());
    write();
    if (GetParam() != Mode::kMemory) let_the_file_settle();
  }
  void TearDown() override { unlink(path_.c_str()); }

  void write() const {
    const int fd = open(path_.c_str(), O_WRONLY | O_CREAT, 0600);
    ASSERT_EQ(::write(fd, weights_.bytes.data(), weights_.bytes.size()),
              static_cast<ssize_t>(weights_.bytes.size()));
    close(fd);
  }

  std::unique_ptr<DataLoader> open_weights() const {
    switch (GetParam()) {
      case Mode::kMapped:
        return std::make_unique<extension::MmapDataLoader>(
            std::move(extension::MmapDataLoader::from(path_.c_str()).get()));
      case Mode::kFile:
        return std::make_unique<extension::FileDataLoader>(
            std::move(extension::FileDataLoader::from(path_.c_str()).get()));
      default:
        return extension::open_memory(weights_.bytes.data(), weights_.bytes.size());
    }
  }

  std::unique_ptr<Handle> load(const DataLoader& loader) const {
    const LoaderMap map(weights_, loader);
    auto handle = std::make_unique<Handle>(payload_, &map);
    EXPECT_EQ(handle->error(), Error::Ok);
    return handle;
  }

  // Of ones: 64 * 64 + 1 with the weights as they were made.
  static float run(Handle* handle) {
    const CaseTensor x = {{2, 64}, std::vector<float>(128, 1)};
    std::vector<CaseTensor> outputs = {{{2, 8}, std::vector<float>(16)}};
    EXPECT_EQ(handle->execute({x}, &outputs), Error::Ok);
    return outputs[0].values[0];
  }

  static uint64_t packed() { return PackedWeights::instance().stats().packed; }
  static uint64_t found() { return PackedWeights::instance().stats().found; }

  // Twice the weights, at the same places.
  void change_weights() {
    for (size_t at = 0; at < weights_.bytes.size(); at += sizeof(float)) {
      float value = 0;
      std::memcpy(&value, &weights_.bytes[at], sizeof(value));
      value *= 2;
      std::memcpy(&weights_.bytes[at], &value, sizeof(value));
    }
    if (GetParam() != Mode::kMemory) write();
  }

  std::vector<uint8_t> payload_;
  Weights weights_;
  std::string path_;
};

constexpr float kAsMade = 64 * 64 + 1;
constexpr float kDoubled = 4 * 64 * 64 + 2;

TEST_P(SecondLoad, PacksNothingFromTheSameLoader) {
  const auto loader = open_weights();
  const auto first = load(*loader);
  const uint64_t before = packed();
  const uint64_t found_before = found();
  const auto second = load(*loader);
  EXPECT_EQ(packed(), before);
  EXPECT_EQ(found(), found_before + 2);
  EXPECT_EQ(run(first.get()), kAsMade);
  EXPECT_EQ(run(second.get()), kAsMade);
}

TEST_P(SecondLoad, PacksNothingFromAnotherLoaderOfTheSameBytes) {
  const auto loader = open_weights();
  const auto first = load(*loader);
  const auto other = open_weights();
  const uint64_t before = found();
  const auto second = load(*other);
  EXPECT_EQ(found(), before + 2);
  EXPECT_EQ(run(second.get()), kAsMade);
}

TEST_P(SecondLoad, LoadsNoFilterThatIsPacked) {
  const auto loader = open_weights();
  const LoaderMap map(weights_, *loader);
  Handle first(payload_, &map);
  ASSERT_EQ(first.error(), Error::Ok);
  const size_t of_the_first = map.bytes_loaded();
  Handle second(payload_, &map);
  ASSERT_EQ(second.error(), Error::Ok);
  constexpr size_t kBias = 8 * sizeof(float);
  EXPECT_EQ(of_the_first, (64 * 64 + 8 * 64) * sizeof(float) + kBias);
  EXPECT_EQ(map.bytes_loaded(), of_the_first + kBias);
  EXPECT_EQ(run(&second), kAsMade);
}

// The bias decides, too, and is known after the filter's address was given.
TEST_P(SecondLoad, LoadsAFilterThatIsPackedWithAnotherBias) {
  const auto loader = open_weights();
  const auto first = load(*loader);
  Weights others = weights_;
  const auto of_size = [&others](size_t size) -> std::pair<size_t, size_t>& {
    for (auto& [unused, place] : others.places) {
      if (place.second == size) return place;
    }
    ADD_FAILURE() << "no weight of " << size << " bytes";
    return others.places.begin()->second;
  };
  // Ones as well, but from elsewhere.
  of_size(8 * sizeof(float)).first = of_size(8 * 64 * sizeof(float)).first;
  LoaderMap map(others, *loader);
  {
    Handle second(payload_, &map);
    ASSERT_EQ(second.error(), Error::Ok);
    EXPECT_EQ(map.bytes_loaded(), (8 * 64 + 8) * sizeof(float));
    EXPECT_EQ(run(&second), kAsMade);
  }
  map.fail_late();
  Handle third(payload_, &map);
  EXPECT_EQ(third.error(), Error::AccessFailed);
}

TEST_P(SecondLoad, KeepsWhatASharerHasWhenTheFirstIsGone) {
  const auto loader = open_weights();
  auto first = load(*loader);
  const auto second = load(*loader);
  first.reset();
  const uint64_t before = found();
  const auto third = load(*loader);
  EXPECT_EQ(found(), before + 2);
  EXPECT_EQ(run(second.get()), kAsMade);
  EXPECT_EQ(run(third.get()), kAsMade);
}

TEST_P(SecondLoad, PacksAgainWhatWasChangedInPlace) {
  auto loader = open_weights();
  const auto first = load(*loader);
  EXPECT_EQ(run(first.get()), kAsMade);
  // Memory must not change while a loader has it.
  if (GetParam() == Mode::kMemory) loader.reset();
  change_weights();
  for (const bool settles : {false, true}) {
    if (settles && GetParam() != Mode::kMemory) let_the_file_settle();
    const auto fresh = open_weights();
    const uint64_t before = found();
    const auto second = load(*fresh);
    EXPECT_EQ(found(), before);
    EXPECT_EQ(run(second.get()), kDoubled);
    if (loader == nullptr) continue;
    const auto third = load(*loader);
    EXPECT_EQ(found(), before);
    EXPECT_EQ(run(third.get()), kDoubled);
  }
}

// The new file may have the inode of the old one, and its mapping the address.
TEST_P(SecondLoad, PacksAgainWhatTookThePlaceOfAFile) {
  auto loader = open_weights();
  const auto first = load(*loader);
  loader.reset();
  unlink(path_.c_str());
  change_weights();
  if (GetParam() != Mode::kMemory) let_the_file_settle();
  const auto fresh = open_weights();
  const auto second = load(*fresh);
  EXPECT_EQ(run(second.get()), kDoubled);
}

INSTANTIATE_TEST_SUITE_P(All, SecondLoad,
                         ::testing::Values(Mode::kMapped, Mode::kFile, Mode::kMemory),
                         [](const auto& info) {
                           return info.param == Mode::kMapped ? "Mapped"
                                  : info.param == Mode::kFile ? "File"
                                                              : "Memory";
                         });

}  // namespace
}  // namespace petrel::test
