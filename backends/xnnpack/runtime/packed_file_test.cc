// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/packed_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"
#include "runtime/core/log.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;
using Verify = PackedFile::Verify;

// Messages of one test, one per line.
class Messages {
 public:
  Messages() : before_(runtime::set_log_hook({&write, this})) {}
  ~Messages() { runtime::set_log_hook(before_); }
  std::string text;

 private:
  static void write(void* self, runtime::LogLevel, const char* message) {
    static_cast<Messages*>(self)->text += std::string(message) + "\n";
  }
  runtime::LogHook before_;
};

class PackedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/packed_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/weights";
    map_.data = {{"filter", std::vector<float>(54)}, {"bias", {0.5f, -1.0f, 2.0f}}};
    for (size_t i = 0; i < 54; ++i) map_.data["filter"][i] = static_cast<float>(i) / 16;
  }

  // One load and run of a small network. `*mapped` says whether its weights
  // came from the file.
  std::vector<float> run(const TestMap& map, Verify verify = Verify::kFirstUse,
                         bool* mapped = nullptr, bool with_file = true) {
    const std::vector<uint8_t> payload = write_payload(small_cnn());
    Delegate::Options options;
    if (with_file) options.packed_file = PackedFile::open(path_);
    options.verify_packed = verify;
    const size_t before = with_file ? options.packed_file->stats().mapped : 0;
    auto delegate = Delegate::create(payload.data(), payload.size(), &map, options);
    EXPECT_TRUE(delegate.ok());
    if (!delegate.ok()) return {};
    if (mapped != nullptr) *mapped = options.packed_file->stats().mapped > before;
    Arguments args;
    float* in = args.add({1, 4, 4, 2});
    for (size_t i = 0; i < 32; ++i) in[i] = static_cast<float>(i % 7) - 3;
    float* out = args.add({1, 4, 4, 3});
    EXPECT_EQ(args.run(**delegate), Error::Ok);
    return std::vector<float>(out, out + 48);
  }

  std::vector<uint8_t> bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::vector<uint8_t>& bytes) const {
    unlink(path_.c_str());
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  }

  std::string folder_;
  std::string path_;
  TestMap map_;
};

TEST_F(PackedFileTest, TheSecondLoadMapsWhatTheFirstPacked) {
  bool mapped = true;
  const std::vector<float> without = run(map_, Verify::kFirstUse, nullptr, false);
  EXPECT_EQ(run(map_, Verify::kFirstUse, &mapped), without);
  EXPECT_FALSE(mapped);
  struct stat info;
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  const std::vector<uint8_t> first = bytes();
  const uint64_t packed = PackedWeights::instance().stats().packed;
  for (const Verify verify : {Verify::kFirstUse, Verify::kNever}) {
    EXPECT_EQ(run(map_, verify, &mapped), without);
    EXPECT_TRUE(mapped);
  }
  EXPECT_EQ(PackedWeights::instance().stats().packed, packed);
  EXPECT_EQ(bytes(), first) << "nothing to add, so it is not written again";
}

TEST_F(PackedFileTest, EqualKeysWithDifferentBytesNeverMix) {
  TestMap other = map_;
  other.data["filter"][53] += 1;
  TestMap third = map_;
  third.data["bias"][0] += 1;
  const std::vector<float> a = run(map_, Verify::kFirstUse, nullptr, false);
  const std::vector<float> b = run(other, Verify::kFirstUse, nullptr, false);
  const std::vector<float> c = run(third, Verify::kFirstUse, nullptr, false);
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
  for (int round = 0; round < 2; ++round) {
    bool mapped = false;
    EXPECT_EQ(run(map_, Verify::kFirstUse, &mapped), a);
    EXPECT_EQ(mapped, round == 1);
    EXPECT_EQ(run(other, Verify::kFirstUse, &mapped), b);
    EXPECT_EQ(mapped, round == 1);
    EXPECT_EQ(run(third, Verify::kFirstUse, &mapped), c);
    EXPECT_EQ(mapped, round == 1);
  }
}

TEST_F(PackedFileTest, DamagedAnywhereIsPackedAgainAndReplaced) {
  const std::vector<float> expected = run(map_);
  const std::vector<uint8_t> whole = bytes();
  ASSERT_GT(whole.size(), 1112u);
  size_t fell_back = 0;
  // The first eight bytes tell what file it is.
  for (size_t i = 8; i < whole.size(); i += i < 64 || i >= 1080 ? 1 : 37) {
    std::vector<uint8_t> damaged = whole;
    damaged[i] ^= 0x55;
    put(damaged);
    const Messages messages;
    bool mapped = true;
    ASSERT_EQ(run(map_, Verify::kFirstUse, &mapped), expected) << "byte " << i;
    fell_back += !mapped;
    // A byte between blobs is nobody's; all others are noticed and replaced.
    if (mapped) continue;
    EXPECT_NE(messages.text.find(path_), std::string::npos) << "byte " << i;
    ASSERT_EQ(run(map_, Verify::kFirstUse, &mapped), expected);
    EXPECT_TRUE(mapped) << "byte " << i;
  }
  EXPECT_GT(fell_back, 150u);
}

TEST_F(PackedFileTest, FieldsOfAnyValueAreNoticed) {
  const std::vector<float> expected = run(map_);
  const std::vector<uint8_t> whole = bytes();
  for (size_t i = 1080; i + 8 <= 1112 + 64; i += 8) {
    for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{128}, ~uint64_t{0},
                                 ~uint64_t{0} >> 1, uint64_t{1} << 40}) {
      std::vector<uint8_t> damaged = whole;
      std::memcpy(damaged.data() + i, &value, sizeof(value));
      if (damaged == whole) continue;
      put(damaged);
      const Messages messages;
      bool mapped = true;
      ASSERT_EQ(run(map_, Verify::kFirstUse, &mapped), expected);
      EXPECT_FALSE(mapped) << "field at " << i << " is " << value;
    }
  }
}

TEST_F(PackedFileTest, CutAnywhereIsPackedAgain) {
  const std::vector<float> expected = run(map_);
  const std::vector<uint8_t> whole = bytes();
  for (size_t size = 0; size < whole.size(); size += 41) {
    put(std::vector<uint8_t>(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
    const Messages messages;
    bool mapped = true;
    ASSERT_EQ(run(map_, Verify::kFirstUse, &mapped), expected) << size;
    EXPECT_FALSE(mapped) << size;
  }
  std::vector<uint8_t> longer = whole;
  longer.push_back(0);
  put(longer);
  const Messages messages;
  bool mapped = true;
  EXPECT_EQ(run(map_, Verify::kFirstUse, &mapped), expected);
  EXPECT_FALSE(mapped);
}

TEST_F(PackedFileTest, ADigestOfABlobIsOnlyLookedAtWhenAskedFor) {
  const std::vector<float> expected = run(map_);
  std::vector<uint8_t> damaged = bytes();
  // The first byte of the bias, which stands at the head of the packed weights.
  uint64_t offset = 0;
  std::memcpy(&offset, damaged.data() + 1112 + 32, sizeof(offset));
  damaged[offset + 3] ^= 0x40;
  put(damaged);
  bool mapped = false;
  EXPECT_NE(run(map_, Verify::kNever, &mapped), expected) << "verify_packed=never believes it";
  EXPECT_TRUE(mapped);
  const Messages messages;
  EXPECT_EQ(run(map_, Verify::kFirstUse, &mapped), expected);
  EXPECT_FALSE(mapped);
}

// As packed_file.cc lays the file out.
constexpr size_t kSecretAt = 40;
constexpr size_t kBlobsAt = 1080;
constexpr size_t kFileBytesAt = 1088;
constexpr size_t kDigestAt = 1096;
constexpr size_t kIndexAt = 1112;
constexpr size_t kEntrySize = 64;
// Of an entry.
constexpr size_t kOffsetAt = 32;
constexpr size_t kSizeAt = 40;

uint64_t number_at(const std::vector<uint8_t>& file, size_t at) {
  uint64_t number = 0;
  std::memcpy(&number, file.data() + at, sizeof(number));
  return number;
}

void set_number(std::vector<uint8_t>* file, size_t at, uint64_t number) {
  std::memcpy(file->data() + at, &number, sizeof(number));
}

// Whoever writes a file can make all of its digests right: the key is in it.
KeyedHash hash_of_file(const std::vector<uint8_t>& file) {
  KeyedHash::Secret secret;
  std::memcpy(&secret, file.data() + kSecretAt, sizeof(secret));
  return KeyedHash(secret);
}

void forge_index_digest(std::vector<uint8_t>* file) {
  const auto index_end = static_cast<ptrdiff_t>(kIndexAt + number_at(*file, kBlobsAt) * kEntrySize);
  std::vector<uint8_t> head(file->begin(), file->begin() + kDigestAt);
  head.insert(head.end(), file->begin() + kIndexAt, file->begin() + index_end);
  const KeyedHash::Digest digest = hash_of_file(*file).of(head.data(), head.size());
  std::memcpy(file->data() + kDigestAt, digest.data(), digest.size());
}

std::vector<uint8_t> forge_sizes(std::vector<uint8_t> file, uint64_t size) {
  for (size_t i = 0; i < number_at(file, kBlobsAt); ++i) {
    const size_t entry = kIndexAt + i * kEntrySize;
    // The last place in the file that a blob of this size can have.
    const uint64_t offset = (file.size() - PackedArena::kSlack - size) / 128 * 128;
    const KeyedHash::Digest digest = hash_of_file(file).of(file.data() + offset, size);
    set_number(&file, entry + kOffsetAt, offset);
    set_number(&file, entry + kSizeAt, size);
    std::memcpy(file.data() + entry + 48, digest.data(), digest.size());
  }
  forge_index_digest(&file);
  return file;
}

TEST_F(PackedFileTest, EachReasonNotToUseAFileIsTold) {
  const std::vector<float> expected = run(map_);
  const std::vector<uint8_t> whole = bytes();
  ASSERT_GT(whole.size(), kIndexAt + kEntrySize);
  const auto refused = [&](const std::vector<uint8_t>& file, const char* reason) {
    put(file);
    const Messages messages;
    bool mapped = true;
    EXPECT_EQ(run(map_, Verify::kFirstUse, &mapped), expected) << reason;
    EXPECT_FALSE(mapped) << reason;
    EXPECT_NE(messages.text.find(reason), std::string::npos) << messages.text;
  };
  const auto with = [&](size_t at, uint64_t number) {
    std::vector<uint8_t> file = whole;
    set_number(&file, at, number);
    if (at >= kIndexAt) forge_index_digest(&file);
    return file;
  };
  refused({}, "is cut off");
  refused({whole.begin(), whole.begin() + 100}, "is cut off");
  for (const std::vector<uint8_t>& kept : {with(0, 0), std::vector<uint8_t>(5, 'x')}) {
    refused(kept, "is a file of another kind, and stays as it is");
    EXPECT_EQ(bytes(), kept);
  }
  refused(with(kFileBytesAt, whole.size() + 1), "is cut off");
  refused(with(kBlobsAt, whole.size() / kEntrySize + 1), "has a damaged header");
  refused(with(kDigestAt, 0), "has a damaged index");

  constexpr char kOutside[] = "has an index that points outside the file";
  const uint64_t offset = number_at(whole, kIndexAt + kOffsetAt);
  refused(with(kIndexAt + kSizeAt, 0), kOutside);
  refused(with(kIndexAt + kOffsetAt, offset - 64), kOutside);
  refused(with(kIndexAt + kOffsetAt, uint64_t{1} << 40), kOutside);
  refused(with(kIndexAt + kSizeAt, uint64_t{1} << 40), kOutside);
  refused(with(kIndexAt + kSizeAt, whole.size() - offset), kOutside);

  // More weights than anybody has, in a file that is long enough for them.
  std::vector<uint8_t> many = whole;
  many.resize(kIndexAt + ((1 << 20) + 1) * kEntrySize);
  set_number(&many, kBlobsAt, (1 << 20) + 1);
  set_number(&many, kFileBytesAt, many.size());
  refused(many, "has a damaged header");
}

struct Network {
  const char* name;
  Graph graph;
  TestMap map;
};

// One for each way in which XNNPACK packs.
std::vector<Network> networks() {
  std::vector<Network> all;
  const auto add = [&](const char* name, NodeKind kind, const Dims& x, const Dims& filter,
                       const Dims& y, const std::function<void(Node&)>& apply) {
    GraphBuilder b;
    const uint32_t in = b.input(x);
    const uint32_t weights = b.constant(filter, "filter");
    Node& node = b.node(kind, {in, weights, kNoId}, {b.output(y)});
    apply(node);
    Network network{name, std::move(b.graph), {}};
    network.map.data["filter"].resize(count_elements(filter));
    float value = -1;
    for (float& weight : network.map.data["filter"]) weight = value += 0.125f;
    all.push_back(std::move(network));
  };
  const auto square = [](uint32_t groups, uint32_t from, uint32_t to, uint32_t stride) {
    return [=](Node& node) {
      node.window.kernel_height = node.window.kernel_width = 3;
      node.window.stride_height = node.window.stride_width = stride;
      node.channels = {groups, from, to, 0, 0};
    };
  };
  add("product", NodeKind::FullyConnected, {2, 40}, {64, 40}, {2, 64}, [](Node&) {});
  add("convolution", NodeKind::Conv2d, {1, 5, 5, 8}, {64, 3, 3, 8}, {1, 3, 3, 64},
      square(1, 8, 64, 1));
  add("depthwise", NodeKind::DepthwiseConv2d, {1, 5, 5, 64}, {1, 3, 3, 64}, {1, 3, 3, 64},
      square(64, 1, 1, 1));
  add("transposed", NodeKind::ConvTranspose2d, {1, 3, 3, 8}, {64, 3, 3, 8}, {1, 5, 5, 64},
      square(1, 8, 64, 1));
  add("subconvolutions", NodeKind::ConvTranspose2d, {1, 3, 3, 8}, {64, 3, 3, 8}, {1, 7, 7, 64},
      square(1, 8, 64, 2));
  return all;
}

TEST_F(PackedFileTest, BlobsOfAnotherSizeThanIsReadArePackedAgain) {
  int tried = 0;
  for (const Network& network : networks()) {
    SCOPED_TRACE(network.name);
    const auto run_network = [&](bool* is_mapped) {
      const std::vector<uint8_t> payload = write_payload(network.graph);
      Delegate::Options options;
      options.packed_file = PackedFile::open(path_);
      const size_t before = options.packed_file->stats().mapped;
      auto delegate = Delegate::create(payload.data(), payload.size(), &network.map, options);
      EXPECT_TRUE(delegate.ok());
      if (!delegate.ok()) return std::vector<float>();
      *is_mapped = options.packed_file->stats().mapped > before;
      Arguments args;
      for (const Value& value : network.graph.values) {
        if (value.is_constant()) continue;
        float* const data = args.add({value.dims.begin(), value.dims.end()});
        for (size_t i = 0; i < count_elements(value.dims); ++i) data[i] = static_cast<float>(i % 5);
      }
      EXPECT_EQ(args.run(**delegate), Error::Ok);
      const runtime::Tensor out = args.value(1).toTensor();
      return std::vector<float>(out.const_data_ptr<float>(),
                                out.const_data_ptr<float>() + out.numel());
    };
    unlink(path_.c_str());
    bool is_mapped = true;
    const std::vector<float> expected = run_network(&is_mapped);
    EXPECT_FALSE(is_mapped);
    const std::vector<uint8_t> whole = bytes();
    if (whole.empty()) continue;  // This processor packs it without the session.
    ++tried;
    for (const uint64_t size : {uint64_t{1}, uint64_t{128}, uint64_t{256}}) {
      put(forge_sizes(whole, size));
      const Messages messages;
      EXPECT_EQ(run_network(&is_mapped), expected) << size;
      EXPECT_FALSE(is_mapped) << size;
      EXPECT_NE(messages.text.find("has the wrong size"), std::string::npos) << messages.text;
      EXPECT_EQ(run_network(&is_mapped), expected) << size;
      EXPECT_TRUE(is_mapped) << size;
    }
  }
  EXPECT_GE(tried, 3);
}

TEST_F(PackedFileTest, FilesOfOthersAreLeftAlone) {
  const std::vector<float> expected = run(map_);
  const std::vector<uint8_t> whole = bytes();
  const auto not_used = [&](const char* reason) {
    Messages messages;
    bool mapped = true;
    EXPECT_EQ(run(map_, Verify::kFirstUse, &mapped), expected);
    EXPECT_FALSE(mapped) << reason;
    EXPECT_NE(messages.text.find(reason), std::string::npos) << messages.text;
  };
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  not_used("its mode must be 0600");
  EXPECT_EQ(bytes(), whole);

  const std::string target = folder_ + "/target";
  put(whole);
  ASSERT_EQ(rename(path_.c_str(), target.c_str()), 0);
  ASSERT_EQ(symlink(target.c_str(), path_.c_str()), 0);
  not_used("is a symbolic link");
  struct stat info;
  ASSERT_EQ(lstat(path_.c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  ASSERT_EQ(unlink(path_.c_str()), 0);
  ASSERT_EQ(symlink((folder_ + "/nothing").c_str(), path_.c_str()), 0);
  not_used("is a symbolic link");
  EXPECT_NE(access((folder_ + "/nothing").c_str(), F_OK), 0);
  ASSERT_EQ(unlink(path_.c_str()), 0);

  ASSERT_EQ(mkdir(path_.c_str(), 0700), 0);
  not_used("is not a regular file");
  ASSERT_EQ(rmdir(path_.c_str()), 0);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  not_used("is not a regular file");
  ASSERT_EQ(unlink(path_.c_str()), 0);

  put(whole);
  if (chown(path_.c_str(), 1, 1) == 0) not_used("belongs to another user");
}

TEST_F(PackedFileTest, AFolderThatTakesNoFilesIsNoError) {
  path_ = folder_ + "/no/such/folder/weights";
  const Messages messages;
  EXPECT_EQ(run(map_), run(map_, Verify::kFirstUse, nullptr, false));
}

// As on a disk that is full.
TEST_F(PackedFileTest, WhatCannotBeWrittenWholeIsNotThere) {
  const std::vector<float> expected = run(map_, Verify::kFirstUse, nullptr, false);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 512;
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Messages messages;
  const std::vector<float> got = run(map_);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(got, expected);
  EXPECT_NE(messages.text.find("cannot be written: File too large"), std::string::npos)
      << messages.text;
  EXPECT_NE(access(path_.c_str(), F_OK), 0);
}

TEST_F(PackedFileTest, ManyProcessesAndThreadsAtOnceLeaveAWholeFile) {
  constexpr int kProcesses = 6;
  constexpr int kRounds = 12;
  const auto network = [&](int n) {
    TestMap map = map_;
    map.data["filter"][0] = static_cast<float>(n);
    return map;
  };
  for (int p = 0; p < kProcesses; ++p) {
    if (fork() == 0) {
      int failures = 0;
      for (int round = 0; round < kRounds; ++round) {
        const TestMap map = network((p + round) % 5);
        failures += run(map) != run(map, Verify::kFirstUse, nullptr, false);
      }
      _exit(failures);
    }
  }
  int bad = 0;
  for (int p = 0; p < kProcesses; ++p) {
    int status = 0;
    wait(&status);
    bad += status != 0;
  }
  EXPECT_EQ(bad, 0);

  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        const TestMap map = network((static_cast<int>(t) + round) % 7);
        wrong[t] += run(map) != run(map, Verify::kFirstUse, nullptr, false);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
  // What is left is a file with these weights and no other thing.
  bool mapped = false;
  const Messages messages;
  run(network(6), Verify::kFirstUse, &mapped);
  EXPECT_EQ(messages.text, "");
  EXPECT_EQ(system(("test $(ls -A " + folder_ + " | wc -l) = 1").c_str()), 0);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
