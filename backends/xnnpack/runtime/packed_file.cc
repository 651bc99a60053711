// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/packed_file.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "backends/xnnpack/runtime/tiles.h"
#include "runtime/core/log.h"
#include "runtime/platform/file.h"
#include "runtime/platform/isa_level.h"
#include "runtime/platform/pages.h"
#include "runtime/platform/private_file.h"
#include "runtime/platform/process_mutex.h"
#include "runtime/platform/this_machine.h"
#include "schema/checksum.h"
#include "schema/formats.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr uint64_t kMaxBlobs = 1 << 20;
constexpr size_t kAlignment = PackedArena::kAlignment;
constexpr size_t kSlack = PackedArena::kSlack;

using Configuration = std::array<uint8_t, 32>;

struct Header {
  char magic[schema::kPackedWeightsMagicBytes];
  Configuration configuration;
  KeyedHash::Secret secret;
  uint64_t blobs;
  uint64_t file_bytes;
  KeyedHash::Digest digest;  // of what stands before it, and of the index
};
static_assert(sizeof(Header) == 1112);

struct IndexEntry {
  PackedFile::Key key;
  uint64_t offset;
  uint64_t size;
  KeyedHash::Digest digest;
};
static_assert(sizeof(IndexEntry) == 64);

uint64_t align_up(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

void mix(Configuration* configuration, const void* data, size_t size) {
  uint64_t lanes[4];
  static_assert(sizeof(lanes) == sizeof(Configuration));
  std::memcpy(lanes, configuration->data(), sizeof(lanes));
  for (size_t i = 0; i < 4; ++i) lanes[i] = schema::checksum(data, size, lanes[i] + i);
  std::memcpy(configuration->data(), lanes, sizeof(lanes));
}

bool mix_processor(Configuration* configuration) {
  const std::string lines = runtime::describe_processors();
  mix(configuration, lines.data(), lines.size());
  return !lines.empty();
}

// The binary with this code: another one may pack in another way.
bool mix_program(Configuration* configuration) {
  runtime::FileState file;
  if (!runtime::read_binary_state(reinterpret_cast<const void*>(&mix), &file)) return false;
  const uint64_t parts[] = {file.size, file.modified_ns};
  mix(configuration, parts, sizeof(parts));
  return true;
}

std::optional<Configuration> find_configuration() {
  Configuration configuration = {};
  const uint64_t layout[] = {kAlignment, kSlack, sizeof(void*)};
  mix(&configuration, layout, sizeof(layout));
  // Kernels of another level, and other tiles, read weights in another order.
  const char* const level = runtime::isa_level().name;
  mix(&configuration, level, strlen(level) + 1);
  const std::string& tile = settle_tiles().layout;
  mix(&configuration, tile.c_str(), tile.size() + 1);
  if (!mix_processor(&configuration) || !mix_program(&configuration)) return std::nullopt;
  return configuration;
}

// Found once: it takes as long as loading a small model, and a program that is replaced while it
// runs still packs as the one did that was started.
const std::optional<Configuration>& this_configuration() {
  static const auto* const configuration = new std::optional<Configuration>(find_configuration());
  return *configuration;
}

KeyedHash::Digest digest_of_index(const Header& header, const std::vector<IndexEntry>& index) {
  const size_t head = offsetof(Header, digest);
  std::vector<uint8_t> bytes(head + index.size() * sizeof(IndexEntry));
  std::memcpy(bytes.data(), &header, head);
  if (!index.empty()) {
    std::memcpy(bytes.data() + head, index.data(), index.size() * sizeof(IndexEntry));
  }
  return KeyedHash(header.secret).of(bytes.data(), bytes.size());
}

bool read_all(int fd, void* to, size_t size, uint64_t offset) {
  auto* at = static_cast<uint8_t*>(to);
  while (size > 0) {
    const int64_t got = runtime::read_at(fd, at, size, offset);
    if (got <= 0) return false;
    at += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
  return true;
}

struct CloseFile {
  ~CloseFile() {
    if (fd >= 0) runtime::close_file(fd);
  }
  int fd;
};

// A file as it is on the disk now.
struct FileContent {
  Header header;
  std::vector<IndexEntry> index;
  std::shared_ptr<const uint8_t> bytes;  // the whole file, mapped
};

enum class Found { kNothing, kUsable, kOther };

// kOther, with the reason, for a file that is there and cannot be used;
// `*out_is_foreign` when it must not be replaced either.
Found read_file(const std::string& path, const Configuration& configuration, FileContent* content,
                const char** out_reason, bool* out_is_foreign) {
  *out_is_foreign = false;
  const auto other = [&](const char* reason) {
    *out_reason = reason;
    return Found::kOther;
  };
  const char* reason = nullptr;
  const CloseFile file{runtime::open_private(path.c_str(), &reason)};
  if (file.fd < 0 && reason == nullptr) return Found::kNothing;
  runtime::FileState state;
  if (!runtime::read_state(file.fd, &state)) {  // there is none of a file that is not open
    *out_is_foreign = true;
    return other(file.fd < 0 ? reason : strerror(errno));
  }
  const uint64_t size = state.size;
  Header& header = content->header;
  const size_t head = std::min<uint64_t>(size, sizeof(Header));
  if (!read_all(file.fd, &header, head, 0)) return other("cannot be read");
  // A path that is wrong by one letter, of a model or its data, must not cost the user that file.
  const size_t begin = std::min(head, schema::kPackedWeightsMagicBytes);
  if (std::memcmp(header.magic, schema::kPackedWeightsMagic, begin) != 0) {
    *out_is_foreign = true;
    return other("is a file of another kind, and stays as it is");
  }
  if (size < sizeof(Header)) return other("is cut off");
  if (header.configuration != configuration) {
    return other("was made by another program, for another processor or for another tile");
  }
  if (header.file_bytes != size) return other("is cut off");
  if (header.blobs > kMaxBlobs || header.blobs > (size - sizeof(Header)) / sizeof(IndexEntry)) {
    return other("has a damaged header");
  }
  content->index.resize(header.blobs);
  if (!read_all(file.fd, content->index.data(), header.blobs * sizeof(IndexEntry),
                sizeof(Header)) ||
      digest_of_index(header, content->index) != header.digest) {
    return other("has a damaged index");
  }
  for (const IndexEntry& entry : content->index) {
    if (entry.size == 0 || entry.offset % kAlignment != 0 || entry.offset > size ||
        entry.size > size - entry.offset || kSlack > size - entry.offset - entry.size) {
      return other("has an index that points outside the file");
    }
  }
  const void* const mapped = runtime::map_file(file.fd, size);
  if (mapped == nullptr) return other("cannot be mapped");
  content->bytes = std::shared_ptr<const uint8_t>(
      static_cast<const uint8_t*>(mapped),
      [size](const uint8_t* bytes) { runtime::unmap_file(bytes, size); });
  return Found::kUsable;
}

}  // namespace

struct PackedFile::OpenFiles {
  // Files of the parent may be at work, and then are locked for ever in the child of fork().
  static void forget(void* self) { static_cast<OpenFiles*>(self)->by_path.clear(); }

  runtime::ProcessMutex mutex{&forget, this};
  std::map<std::string, std::weak_ptr<PackedFile>> by_path;
};

std::shared_ptr<PackedFile> PackedFile::read(const std::string& path) {
  const std::optional<Configuration>& configuration = this_configuration();
  FileContent content;
  const char* reason = "cannot be used: this machine does not say what it is";
  bool is_foreign = true;
  Found found = Found::kOther;
  if (configuration) {
    found = read_file(path, *configuration, &content, &reason, &is_foreign);
  }
  bool is_usable = found != Found::kOther || !is_foreign;
  if (found == Found::kOther) {
    PETREL_LOG(Warning, "packed weights '%s' %s; weights are packed again", path.c_str(), reason);
  }
  KeyedHash::Secret secret = {};
  if (found == Found::kUsable) {
    secret = content.header.secret;
  } else if (is_usable && !KeyedHash::random_secret(&secret)) {
    PETREL_LOG(Warning, "packed weights '%s' need random bytes, there are none", path.c_str());
    is_usable = false;
  }
  std::shared_ptr<PackedFile> file(new PackedFile(path, KeyedHash(secret), is_usable));
  if (found == Found::kUsable) {
    for (const IndexEntry& entry : content.index) {
      Blob& blob = file->blobs_[entry.key];
      blob.region =
          PackedRegion::view(content.bytes, content.bytes.get() + entry.offset, entry.size);
      blob.digest = entry.digest;
      blob.has_digest = true;
    }
  }
  return file;
}

// Read without the lock: of two threads that open one path at once the second one's is dropped.
std::shared_ptr<PackedFile> PackedFile::open(const std::string& path) {
  static auto* const files = new OpenFiles;
  std::shared_ptr<PackedFile> opened;
  for (;;) {
    {
      const std::lock_guard<runtime::ProcessMutex> lock(files->mutex);
      std::weak_ptr<PackedFile>& known = files->by_path[path];
      if (std::shared_ptr<PackedFile> file = known.lock()) return file;
      if (opened != nullptr) {
        known = opened;
        return opened;
      }
    }
    opened = read(path);
  }
}

PackedFile::Key PackedFile::key_of(const void* filter, size_t filter_size, const void* bias,
                                   size_t bias_size, const std::string& use) const {
  std::vector<uint8_t> rest(use.begin(), use.end());
  rest.push_back(bias == nullptr ? 0 : 1);
  const auto* const bytes = static_cast<const uint8_t*>(bias);
  if (bias != nullptr) rest.insert(rest.end(), bytes, bytes + bias_size);
  const KeyedHash::Digest first = hash_.of(filter, filter_size);
  const KeyedHash::Digest second = hash_.of(rest.data(), rest.size());
  Key key;
  std::copy(first.begin(), first.end(), key.begin());
  std::copy(second.begin(), second.end(), key.begin() + first.size());
  return key;
}

PackedRegionPtr PackedFile::find(const Key& key, Verify verify) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = blobs_.find(key);
  if (found == blobs_.end()) return nullptr;
  Blob& blob = found->second;
  if (!blob.is_trusted && verify == Verify::kFirstUse) {
    const auto start = std::chrono::steady_clock::now();
    const bool is_whole = hash_.of(blob.region->data(), blob.region->size()) == blob.digest;
    stats_.verify_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!is_whole) {
      PETREL_LOG(Warning, "packed weights '%s': a blob of %zu bytes is damaged; packed again",
                 path_.c_str(), blob.region->size());
      blobs_.erase(found);
      ++stats_.damaged;
      has_unwritten_ = true;
      return nullptr;
    }
    blob.is_trusted = true;
  }
  ++stats_.mapped;
  stats_.mapped_bytes += blob.region->size();
  return blob.region;
}

void PackedFile::discard(const Key& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = blobs_.find(key);
  if (found == blobs_.end()) return;
  PETREL_LOG(Warning, "packed weights '%s': a blob of %zu bytes has the wrong size; packed again",
             path_.c_str(), found->second.region->size());
  --stats_.mapped;
  stats_.mapped_bytes -= found->second.region->size();
  ++stats_.damaged;
  has_unwritten_ = true;
  blobs_.erase(found);
}

void PackedFile::add(const Key& key, PackedRegionPtr region) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!is_usable_) return;
  Blob& blob = blobs_[key];
  if (blob.region != nullptr) return;
  blob.region = std::move(region);
  blob.is_trusted = true;
  ++stats_.added;
  has_unwritten_ = true;
}

void PackedFile::write() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!has_unwritten_ || !is_usable_) return;
  has_unwritten_ = false;
  // What another process wrote meanwhile stays, if its keys are ours.
  const std::optional<Configuration>& configuration = this_configuration();
  FileContent content;
  const char* reason = "";
  bool is_foreign = false;
  if (!configuration) return;
  const Found found = read_file(path_, *configuration, &content, &reason, &is_foreign);
  if (is_foreign) return;
  std::map<Key, Blob> blobs = blobs_;
  if (found == Found::kUsable) {
    if (std::memcmp(&content.header.secret, &hash_.secret(), sizeof(KeyedHash::Secret)) != 0) {
      return;  // another process was first; the next one adds to its file
    }
    for (const IndexEntry& entry : content.index) {
      Blob& blob = blobs[entry.key];
      if (blob.region != nullptr) continue;
      const uint8_t* const data = content.bytes.get() + entry.offset;
      if (hash_.of(data, entry.size) != entry.digest) {
        blobs.erase(entry.key);
        continue;
      }
      blob.region = PackedRegion::view(content.bytes, data, entry.size);
      blob.digest = entry.digest;
      blob.has_digest = true;
    }
  }
  if (!write_file(blobs)) {
    PETREL_LOG(Warning, "packed weights '%s' cannot be written: %s", path_.c_str(),
               strerror(errno));
  }
}

bool PackedFile::write_file(std::map<Key, Blob>& blobs) {
  const std::optional<Configuration>& configuration = this_configuration();
  if (!configuration || blobs.size() > kMaxBlobs) return false;
  Header header = {};
  std::memcpy(header.magic, schema::kPackedWeightsMagic, schema::kPackedWeightsMagicBytes);
  header.configuration = *configuration;
  header.secret = hash_.secret();
  header.blobs = blobs.size();
  std::vector<IndexEntry> index;
  uint64_t end = sizeof(Header) + blobs.size() * sizeof(IndexEntry);
  for (auto& [key, blob] : blobs) {
    if (!blob.has_digest) blob.digest = hash_.of(blob.region->data(), blob.region->size());
    const uint64_t offset = align_up(end);
    index.push_back({key, offset, blob.region->size(), blob.digest});
    end = offset + blob.region->size() + kSlack;
  }
  header.file_bytes = end;
  header.digest = digest_of_index(header, index);

  runtime::NewPrivateFile file(path_);
  static constexpr uint8_t kZeros[kAlignment + kSlack] = {};
  bool is_good = file.is_open() && file.write(&header, sizeof(header)) &&
                 file.write(index.data(), index.size() * sizeof(IndexEntry));
  uint64_t at = sizeof(Header) + index.size() * sizeof(IndexEntry);
  size_t i = 0;
  for (const auto& [key, blob] : blobs) {
    is_good = is_good && file.write(kZeros, index[i].offset - at) &&
              file.write(blob.region->data(), blob.region->size()) && file.write(kZeros, kSlack);
    at = index[i].offset + blob.region->size() + kSlack;
    ++i;
  }
  return is_good && file.put_in_place();
}

PackedFile::Stats PackedFile::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

}  // namespace petrel::backends::xnnpack
