// SPDX-License-Identifier: Apache-2.0
#include "exir/import/zip_archive.h"

#include <minizip/unzip.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "exir/import/crc32.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr uint16_t kEncryptedFlag = 1;
constexpr size_t kMaxNameLength = 4096;

// The file that minizip believes to read: the bytes in memory.
struct MemoryStream {
  absl::Span<const uint8_t> bytes;
  uint64_t place = 0;
  bool ended = false;  // a read went past the end
};

voidpf open_stream(voidpf opaque, const void*, int) { return opaque; }

uLong read_stream(voidpf, voidpf opaque, void* buffer, uLong size) {
  auto* stream = static_cast<MemoryStream*>(opaque);
  const uint64_t left = stream->bytes.size() - stream->place;
  const uLong count = static_cast<uLong>(std::min<uint64_t>(size, left));
  if (count > 0) {
    std::memcpy(buffer, stream->bytes.data() + stream->place, count);
  }
  stream->place += count;
  stream->ended = stream->ended || count < size;
  return count;
}

uLong write_stream(voidpf, voidpf, const void*, uLong) { return 0; }

ZPOS64_T tell_stream(voidpf, voidpf opaque) { return static_cast<MemoryStream*>(opaque)->place; }

long seek_stream(voidpf, voidpf opaque, ZPOS64_T offset, int origin) {
  auto* stream = static_cast<MemoryStream*>(opaque);
  uint64_t base = 0;
  if (origin == ZLIB_FILEFUNC_SEEK_CUR) base = stream->place;
  if (origin == ZLIB_FILEFUNC_SEEK_END) base = stream->bytes.size();
  uint64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target) || target > stream->bytes.size()) {
    return -1;
  }
  stream->place = target;
  return 0;
}

int close_stream(voidpf, voidpf) { return 0; }

// minizip takes a short read for zeros unless it is told of an error.
int stream_error(voidpf, voidpf opaque) {
  return static_cast<MemoryStream*>(opaque)->ended ? 1 : 0;
}

// The place of the last record of an archive, which ends, with its comment, where the file ends;
// nullopt where there is none.
std::optional<size_t> find_last_record(absl::Span<const uint8_t> bytes) {
  constexpr size_t kRecordSize = 22;
  constexpr size_t kMaxComment = 65535;
  if (bytes.size() < kRecordSize) return std::nullopt;
  const size_t last = bytes.size() - kRecordSize;
  const size_t first = last > kMaxComment ? last - kMaxComment : 0;
  for (size_t place = last + 1; place-- > first;) {
    const uint8_t* record = bytes.data() + place;
    if (std::memcmp(record, "PK\5\6", 4) != 0) continue;
    const size_t comment = record[20] + size_t{256} * record[21];
    if (place + kRecordSize + comment == bytes.size()) return place;
    return std::nullopt;
  }
  return std::nullopt;
}

// Whether the last record tells of no members and no directory.
bool tells_of_nothing(const uint8_t* record) {
  constexpr size_t kNumbers = 4;
  constexpr size_t kComment = 20;
  return std::all_of(record + kNumbers, record + kComment, [](uint8_t byte) { return byte == 0; });
}

struct CloseUnzip {
  void operator()(unzFile file) const { unzClose(file); }
};
using Unzip = std::unique_ptr<std::remove_pointer_t<unzFile>, CloseUnzip>;

absl::Status check_name(const std::string& name) {
  const char* problem = nullptr;
  if (name.empty()) problem = "is empty";
  if (absl::StartsWith(name, "/")) problem = "is absolute";
  if (absl::StrContains(name, '\\')) problem = "has a backslash";
  for (unsigned char c : name) {
    if (c < 0x20) problem = "has a control character";
  }
  for (absl::string_view part : absl::StrSplit(name, '/')) {
    if (part == "..") problem = "leads out of the archive";
  }
  if (problem == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the name of member '", name, "' ", problem));
}

}  // namespace

absl::Status ZipArchive::add_member(const std::string& name, const Member& member) {
  if (member.offset > bytes_.size() || member.size > bytes_.size() - member.offset) {
    return absl::InvalidArgumentError(absl::StrCat("member '", name, "' is said to be ",
                                                   member.size, " bytes at ", member.offset,
                                                   ", the file has ", bytes_.size()));
  }
  if (!members_.emplace(name, member).second) {
    return absl::InvalidArgumentError(absl::StrCat("member '", name, "' occurs twice"));
  }
  return absl::OkStatus();
}

absl::Status ZipArchive::check_overlaps() const {
  struct Extent {
    uint64_t offset;
    uint64_t end;
    const std::string* name;
  };
  std::vector<Extent> extents;
  for (const auto& [name, member] : members_) {
    if (member.size == 0) continue;
    extents.push_back({member.offset, member.offset + member.size, &name});
  }
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  for (size_t i = 1; i < extents.size(); ++i) {
    if (extents[i].offset >= extents[i - 1].end) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("members '", *extents[i - 1].name, "' and '", *extents[i].name, "' overlap"));
  }
  return absl::OkStatus();
}

// The root folder is where "archive_format" lies; other tools that rewrite an
// archive may add folders above it.
void ZipArchive::strip_root() {
  constexpr absl::string_view kMarker = "archive_format";
  std::string root;
  bool found = false;
  for (const auto& [name, member] : members_) {
    if (!absl::EndsWith(name, kMarker)) continue;
    const std::string prefix = name.substr(0, name.size() - kMarker.size());
    if (!prefix.empty() && prefix.back() != '/') continue;
    if (!found || prefix.size() < root.size()) root = prefix;
    found = true;
  }
  if (root.empty()) return;
  std::map<std::string, Member> inside;
  for (const auto& [name, member] : members_) {
    if (absl::StartsWith(name, root) && name.size() > root.size()) {
      inside.emplace(name.substr(root.size()), member);
    }
  }
  members_ = std::move(inside);
}

absl::StatusOr<ZipArchive> ZipArchive::open(absl::Span<const uint8_t> bytes, size_t threads) {
  ZipArchive archive;
  archive.bytes_ = bytes;
  archive.threads_ = threads;
  const auto error = [&](const auto&... parts) {
    return absl::InvalidArgumentError(absl::StrCat(parts...));
  };
  if (bytes.empty()) return error("is empty");
  const std::optional<size_t> last = find_last_record(bytes);
  if (!last) return error("is not a zip archive, or its end is missing");
  // minizip takes a record at the start, as that of an archive without members, for none.
  if (*last == 0 && tells_of_nothing(bytes.data())) return archive;
  MemoryStream stream{bytes};
  zlib_filefunc64_def functions = {open_stream, read_stream,  write_stream, tell_stream,
                                   seek_stream, close_stream, stream_error, &stream};
  const Unzip unzip(unzOpen2_64("", &functions));
  if (unzip == nullptr) return error("is not a zip archive");

  unz_global_info64 global;
  if (unzGetGlobalInfo64(unzip.get(), &global) != UNZ_OK) {
    return error("has no readable zip directory");
  }
  uint64_t count = 0;
  int step = global.number_entry == 0 ? UNZ_END_OF_LIST_OF_FILE : unzGoToFirstFile(unzip.get());
  for (; step == UNZ_OK; step = unzGoToNextFile(unzip.get())) {
    ++count;
    unz_file_info64 info;
    std::vector<char> name_buffer(kMaxNameLength + 1);
    if (unzGetCurrentFileInfo64(unzip.get(), &info, name_buffer.data(), kMaxNameLength, nullptr, 0,
                                nullptr, 0) != UNZ_OK) {
      return error("zip directory entry ", count, " is damaged");
    }
    if (info.size_filename > kMaxNameLength) {
      return error("the name of zip directory entry ", count, " has ", info.size_filename,
                   " bytes, the limit is ", kMaxNameLength);
    }
    const std::string name(name_buffer.data(), info.size_filename);
    PETREL_RETURN_IF_ERROR(check_name(name));
    if (absl::EndsWith(name, "/")) continue;
    if ((info.flag & kEncryptedFlag) != 0) {
      return error("member '", name, "' is encrypted");
    }
    const bool is_compressed = info.compression_method != 0;
    if (!is_compressed && info.compressed_size != info.uncompressed_size) {
      return error("member '", name, "' is stored but has two sizes, ", info.compressed_size,
                   " and ", info.uncompressed_size);
    }
    int method = 0;
    int level = 0;
    if (unzOpenCurrentFile2(unzip.get(), &method, &level, /*raw=*/1) != UNZ_OK) {
      return error("the header of member '", name, "' does not agree with the zip directory");
    }
    Member member;
    member.offset = unzGetCurrentFileZStreamPos64(unzip.get());
    member.size = info.compressed_size;
    member.is_compressed = is_compressed;
    member.crc = static_cast<uint32_t>(info.crc);
    unzCloseCurrentFile(unzip.get());
    PETREL_RETURN_IF_ERROR(archive.add_member(name, member));
  }
  if (step != UNZ_END_OF_LIST_OF_FILE) {
    return error("the zip directory is damaged behind entry ", count, " of ", global.number_entry);
  }
  PETREL_RETURN_IF_ERROR(archive.check_overlaps());
  archive.strip_root();
  return archive;
}

bool ZipArchive::contains(const std::string& name) const { return members_.count(name) != 0; }

bool ZipArchive::is_compressed(const std::string& name) const {
  const auto it = members_.find(name);
  return it != members_.end() && it->second.is_compressed;
}

absl::StatusOr<absl::Span<const uint8_t>> ZipArchive::read(const std::string& name) const {
  const auto it = members_.find(name);
  if (it == members_.end()) {
    return absl::NotFoundError(absl::StrCat("has no member '", name, "'"));
  }
  if (it->second.is_compressed) {
    return absl::InvalidArgumentError(
        absl::StrCat("member '", name,
                     "' is compressed; save the program again without recompressing the archive"));
  }
  const absl::Span<const uint8_t> bytes = bytes_.subspan(it->second.offset, it->second.size);
  const uint32_t crc = crc32_of(bytes, threads_);
  if (crc != it->second.crc) {
    return absl::DataLossError(absl::StrCat("member '", name, "' is damaged, its checksum is ",
                                            absl::Hex(crc), ", must be ",
                                            absl::Hex(it->second.crc)));
  }
  return bytes;
}

std::vector<std::string> ZipArchive::names() const {
  std::vector<std::string> names;
  for (const auto& [name, member] : members_) names.push_back(name);
  return names;
}

}  // namespace petrel::exir
