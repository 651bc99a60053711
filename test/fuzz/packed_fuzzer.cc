// SPDX-License-Identifier: Apache-2.0
//
// A file of packed weights that this process has written, changed in any places, and
// used by the delegate that it was written for or by one that has one of its nodes.
// The bytes are changes:
//
//   u8 what: odd: digests are made right again; 2 and 3 of four: digests are not
//            verified; 6 and 7 of eight: the file is cut off; what / 8: which delegate
//   then, as often as there are: a position, a width, a number

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/keyed_hash.h"
#include "backends/xnnpack/runtime/packed_file.h"
#include "runtime/core/log.h"
#include "runtime/threads/thread_count.h"
#include "test/fuzz/choices.h"
#include "test/fuzz/exact_memory.h"

namespace petrel::fuzz {
namespace {

using namespace backends::xnnpack;  // NOLINT: all of it is about one backend
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using File = std::vector<uint8_t>;

// As packed_file.h describes the file.
constexpr size_t kSecret = 40, kBlobs = 1080, kDigest = 1096, kIndex = 1112, kEntry = 64;

class Weights final : public runtime::NamedDataMap {
 public:
  Result<FreeableBuffer> get_data(std::string_view key) const override {
    const auto found = data_.find(std::string(key));
    if (found == data_.end()) return Error::NotFound;
    return FreeableBuffer(found->second.data(), found->second.size() * sizeof(float), nullptr);
  }
  Result<uint32_t> get_num_keys() const override { return static_cast<uint32_t>(data_.size()); }
  Result<const char*> get_key(uint32_t index) const override {
    if (index >= data_.size()) return Error::InvalidArgument;
    return std::next(data_.begin(), index)->first.c_str();
  }

 private:
  const std::map<std::string, std::vector<float>> data_ = {{"f1", std::vector<float>(72, 0.5f)},
                                                           {"b1", std::vector<float>(4, 0.25f)},
                                                           {"f2", std::vector<float>(36, -0.5f)},
                                                           {"f3", std::vector<float>(64, 0.125f)},
                                                           {"w", std::vector<float>(12, 1.0f)}};
};

// Path of a file of this process.
const std::string& path() {
  static const std::string* const name = [] {
    const char* const folder = std::getenv("TEST_TMPDIR");
    return new std::string((folder != nullptr ? std::string(folder) : "/dev/shm") + "/packed_" +
                           std::to_string(::getpid()));
  }();
  return *name;
}

struct Argument {
  explicit Argument(std::vector<int32_t> dims)
      : sizes(std::move(dims)),
        order{0, 1, 2, 3},
        strides(4),
        impl(runtime::ScalarType::Float, static_cast<ssize_t>(sizes.size()), sizes.data(), nullptr,
             order.data(), strides.data(), runtime::TensorShapeDynamism::DYNAMIC_BOUND),
        block(impl.nbytes()) {
    runtime::compute_strides({sizes.data(), sizes.size()}, {}, strides.data());
    require(impl.set_data(block.data(), block.size()) == Error::Ok, "an argument");
  }
  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  std::vector<int64_t> strides;
  runtime::TensorImpl impl;
  Block block;
};

// A delegate and the shapes of its argument and its result.
struct Use {
  File payload;
  std::vector<int32_t> from, to;
};

// A node of each kind that packs weights, and few others: what does not is for `payload`.
class Nodes final {
 public:
  void convolution(uint32_t x, uint32_t y) {
    const uint32_t f = b_.constant({4, 3, 3, 2}, "f1");
    Node& node = b_.node(NodeKind::Conv2d, {x, f, b_.constant({4}, "b1")}, {y});
    node.window = {1, 1, 1, 1, 3, 3, 1, 1, 1, 1};
    node.channels = {1, 2, 4, 0, 0};
  }
  void depthwise(uint32_t x, uint32_t y) {
    const uint32_t f = b_.constant({1, 3, 3, 4}, "f2");
    Node& node = b_.node(NodeKind::DepthwiseConv2d, {x, f, kNoId}, {y});
    node.window = {1, 1, 1, 1, 3, 3, 1, 1, 1, 1};
    node.channels = {4, 1, 1, 0, 0};
  }
  void transposed(uint32_t x, uint32_t y) {
    const uint32_t f = b_.constant({4, 2, 2, 4}, "f3");
    Node& node = b_.node(NodeKind::ConvTranspose2d, {x, f, b_.constant({4}, "b1")}, {y});
    node.window = {0, 0, 0, 0, 2, 2, 2, 2, 1, 1};
    node.channels = {1, 4, 4, 0, 0};
  }
  void product(uint32_t x, uint32_t y) {
    b_.node(NodeKind::FullyConnected, {x, b_.constant({3, 4}, "w"), kNoId}, {y});
  }
  void all(uint32_t x, uint32_t y) {
    const uint32_t convolved = b_.inner({1, 6, 6, 4}), spread = b_.inner({1, 6, 6, 4});
    const uint32_t grown = b_.inner({1, 12, 12, 4}), mean = b_.inner({1, 4});
    convolution(x, convolved);
    depthwise(convolved, spread);
    transposed(spread, grown);
    b_.node(NodeKind::GlobalAvgPooling2d, {grown}, {mean});
    product(mean, y);
  }

  using Add = void (Nodes::*)(uint32_t, uint32_t);
  static Use use(std::vector<int32_t> from, std::vector<int32_t> to, Add add) {
    Nodes nodes;
    const uint32_t x = nodes.b_.input({from.begin(), from.end()});
    const uint32_t y = nodes.b_.output({to.begin(), to.end()});
    (nodes.*add)(x, y);
    return {write_payload(nodes.b_.graph), std::move(from), std::move(to)};
  }

 private:
  GraphBuilder b_;
};

// The first has the nodes of all others, and writes the file.
const std::vector<Use>& uses() {
  static const auto* const made =
      new std::vector<Use>{Nodes::use({1, 6, 6, 2}, {1, 3}, &Nodes::all),
                           Nodes::use({1, 6, 6, 2}, {1, 6, 6, 4}, &Nodes::convolution),
                           Nodes::use({1, 6, 6, 4}, {1, 6, 6, 4}, &Nodes::depthwise),
                           Nodes::use({1, 6, 6, 4}, {1, 12, 12, 4}, &Nodes::transposed),
                           Nodes::use({1, 4}, {1, 3}, &Nodes::product)};
  return *made;
}

// Makes the delegate with the file at path() and runs it.
PackedFile::Stats use_file(const Use& use, PackedFile::Verify verify, bool write) {
  static const Weights weights;
  Delegate::Options options;
  options.packed_file = PackedFile::open(path());
  options.verify_packed = verify;
  const File& payload = use.payload;
  auto delegate = Delegate::create(payload.data(), payload.size(), &weights, options);
  require(delegate.ok(), "a file of packed weights decides whether a payload is right");
  Argument x(use.from), y(use.to);
  runtime::EValue values[] = {runtime::EValue(runtime::Tensor(&x.impl)),
                              runtime::EValue(runtime::Tensor(&y.impl))};
  runtime::EValue* pointers[] = {&values[0], &values[1]};
  const runtime::BackendExecutionContext context(nullptr, nullptr, "forward", nullptr);
  require((*delegate)->execute(context, {pointers, 2}) == Error::Ok, "a delegate that runs");
  if (write) options.packed_file->write();
  return options.packed_file->stats();
}

File read_file() {
  std::ifstream file(path(), std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  return {chars.begin(), chars.end()};
}

void write_file(const File& bytes) {
  ::unlink(path().c_str());
  const int fd = ::open(path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  require(fd >= 0 && ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "a file that can be written");
  ::close(fd);
}

void change(File* file, Choices* choices) {
  static constexpr uint64_t kNumbers[] = {0,   1,     64,         128, 129, 1 << 20, 0xffffffff,
                                          127, ~0ull, 1ull << 63, 16,  32,  256};
  const uint64_t blobs = file->size() < kIndex ? 0 : file->data()[kBlobs];
  const size_t position = choices->below(1 << 16);
  // Mostly in the index, where bytes mean much.
  const size_t start = position % 2 == 0 ? kIndex : position % 4 == 1 ? 0 : kIndex + blobs * kEntry;
  const size_t at = start + position / 2 % (kEntry * 16);
  const size_t width = choices->one_in(2) ? 8 : 1;
  const uint64_t which = choices->below(16);
  const uint64_t number = which < 13 ? kNumbers[which] : choices->below(256);
  if (at + width <= file->size()) std::memcpy(file->data() + at, &number, width);
}

// As one does who may write the file.
void make_digests_right(File* file) {
  if (file->size() < kIndex) return;
  KeyedHash::Secret secret;
  std::memcpy(&secret, file->data() + kSecret, sizeof(secret));
  const KeyedHash hash(secret);
  uint64_t blobs = 0;
  std::memcpy(&blobs, file->data() + kBlobs, sizeof(blobs));
  blobs = std::min<uint64_t>(blobs, (file->size() - kIndex) / kEntry);
  for (uint64_t i = 0; i < blobs; ++i) {
    uint8_t* const entry = file->data() + kIndex + i * kEntry;
    uint64_t offset = 0, size = 0;
    std::memcpy(&offset, entry + 32, sizeof(offset));
    std::memcpy(&size, entry + 40, sizeof(size));
    if (offset > file->size() || size > file->size() - offset) continue;
    const KeyedHash::Digest digest = hash.of(file->data() + offset, size);
    std::memcpy(entry + 48, digest.data(), digest.size());
  }
  File hashed(file->begin(), file->begin() + kDigest);
  hashed.insert(hashed.end(), file->begin() + kIndex,
                file->begin() + static_cast<ptrdiff_t>(kIndex + blobs * kEntry));
  const KeyedHash::Digest digest = hash.of(hashed.data(), hashed.size());
  std::memcpy(file->data() + kDigest, digest.data(), digest.size());
}

const File& whole_file() {
  static const File* const file = [] {
    runtime::set_log_hook({[](void*, runtime::LogLevel, const char*) {}, nullptr});
    require(runtime::set_thread_count(1) == Error::Ok, "one thread");
    ::unlink(path().c_str());
    const size_t blobs = use_file(uses()[0], PackedFile::Verify::kFirstUse, true).added;
    auto* bytes = new File(read_file());
    require(bytes->size() > kIndex, "packed weights that are written");
    size_t found = 0;
    for (size_t i = 1; i < uses().size(); ++i) {
      found += use_file(uses()[i], PackedFile::Verify::kFirstUse, false).mapped;
    }
    require(found == blobs, "a blob of the file that no delegate of one node uses");
    std::atexit([] { ::unlink(path().c_str()); });
    return bytes;
  }();
  return *file;
}

}  // namespace
}  // namespace petrel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace petrel::fuzz;
  File file = whole_file();
  Choices choices(data, size);
  const uint64_t what = choices.below(8 * uses().size());
  if (what % 8 >= 6) file.resize(choices.below(file.size() + 1));
  while (!choices.is_over()) change(&file, &choices);
  if (what % 2 == 1) make_digests_right(&file);
  write_file(file);
  use_file(uses()[what / 8],
           what % 4 >= 2 ? PackedFile::Verify::kNever : PackedFile::Verify::kFirstUse, false);
  return 0;
}
