// SPDX-License-Identifier: Apache-2.0
//
// The directory of a zip archive over bytes in memory. Members are stored, not
// compressed, so that each is a slice of the archive:
//
//   [ header | member ][ header | member ] ... [ directory ][ end ]
//              \_ find("models/model.json") _/
//
// Names are given without the folder that all members of an exported program
// lie in. Encrypted members, duplicate names, names that are absolute or
// contain "..", members that overlap or lie outside of the archive are refused
// when it is opened. Compressed members are refused and checksums verified by
// read(), not before: a member that nobody reads costs nothing. The checksum of a large one is
// computed by several threads, which are gone when read() returns.
//
//   PETREL_ASSIGN_OR_RETURN(ZipArchive zip, ZipArchive::open(bytes));
//   PETREL_ASSIGN_OR_RETURN(absl::Span<const uint8_t> json,
//                           zip.read("models/model.json"));
//
// Invariant: every slice lies within the bytes given to open(), which the
// caller keeps alive.
#ifndef PETREL_EXIR_IMPORT_ZIP_ARCHIVE_H_
#define PETREL_EXIR_IMPORT_ZIP_ARCHIVE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "exir/ir/shared_work.h"

namespace petrel::exir {

class ZipArchive {
 public:
  // `threads`: at most so many verify a checksum; what is read and refused does not depend on it.
  static absl::StatusOr<ZipArchive> open(absl::Span<const uint8_t> bytes,
                                         size_t threads = work_threads());

  bool contains(const std::string& name) const;
  // False when there is no such member.
  bool is_compressed(const std::string& name) const;

  // The bytes of a member after its checksum was verified. NotFound when there
  // is no such member, InvalidArgument when it is compressed, DataLoss when the checksum
  // differs.
  absl::StatusOr<absl::Span<const uint8_t>> read(const std::string& name) const;

  // Sorted.
  std::vector<std::string> names() const;

 private:
  struct Member {
    uint64_t offset = 0;
    uint64_t size = 0;
    uint32_t crc = 0;
    bool is_compressed = false;
  };

  absl::Status add_member(const std::string& name, const Member& member);
  absl::Status check_overlaps() const;
  void strip_root();

  absl::Span<const uint8_t> bytes_;
  size_t threads_ = 1;
  std::map<std::string, Member> members_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_ZIP_ARCHIVE_H_
