// SPDX-License-Identifier: Apache-2.0
//
// Packed weights in a file, which later processes map instead of packing.
//
//   offset  bytes
//   0       8      "PTLPACK1"
//   8       32     the configuration: processor, instruction set, tile, program and layout
//   40      1040   secret key of all digests in the file
//   1080    8      blobs
//   1088    8      bytes of the file
//   1096    16     digest of the header up to here and of the index
//   1112           index, 64 bytes a blob: key (32), offset (8), size (8),
//                  digest of the bytes (16)
//                  blobs, each at a multiple of 128 with 128 zeros behind it
//
// All of that is little-endian, as the machines are that this is for. A blob's
// key is two digests: of the filter, and of the bias together with how XNNPACK
// uses the two. Names that a model file gives are not part of it.
//
// What is in the file is believed only as far as it was checked: at opening that
// the file is the user's own (mode 0600, no symbolic link), the header, the
// index and the size of the file; at the first use of a blob its digest, and at
// every use that it has as many bytes as the operator reads. A file
// that fails is not used, and replaced by the next write() if it begins as these
// do, or is empty: others are left alone. Writing makes a
// temporary file beside it and renames that, so that readers see the old file or
// the new one, and keep what they have mapped.
//
//   std::shared_ptr<PackedFile> file = PackedFile::open("model.packed");
//   PackedRegionPtr region = file->find(key, Verify::kFirstUse);
//   if (region == nullptr) file->add(key, packed);
//   file->write();                                     // what was added
//
// One object per path and process; its functions may be called by several
// threads at once.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_FILE_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_FILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backends/xnnpack/runtime/keyed_hash.h"
#include "backends/xnnpack/runtime/packed_weights.h"

namespace petrel::backends::xnnpack {

class PackedFile {
 public:
  using Key = std::array<uint8_t, 32>;
  enum class Verify { kFirstUse, kNever };

  struct Stats {
    size_t mapped = 0;  // blobs found in the file
    size_t mapped_bytes = 0;
    size_t added = 0;           // blobs that were not there
    size_t damaged = 0;         // blobs that failed their digest or have a wrong size
    double verify_seconds = 0;  // spent on digests of blobs
  };

  // Never null. A file that is not there or cannot be used is empty; a warning
  // says why it cannot.
  static std::shared_ptr<PackedFile> open(const std::string& path);

  Key key_of(const void* filter, size_t filter_size, const void* bias, size_t bias_size,
             const std::string& use) const;

  // Null when the blob is not there or damaged.
  PackedRegionPtr find(const Key& key, Verify verify);
  // Forgets a blob that was found and has another size than it must have: digests
  // and their key stand in the file, so that one who writes it can make them right.
  void discard(const Key& key);
  void add(const Key& key, PackedRegionPtr region);

  // Writes what was added since the last write, with what the file has by now.
  // A failure is a warning; the next process packs again.
  void write();

  Stats stats() const;

 private:
  struct Blob {
    PackedRegionPtr region;
    KeyedHash::Digest digest = {};
    bool has_digest = false;
    bool is_trusted = false;  // made here, or its digest was right
  };
  struct Content;

  PackedFile(std::string path, KeyedHash hash, bool is_usable)
      : path_(std::move(path)), hash_(std::move(hash)), is_usable_(is_usable) {}
  struct OpenFiles;
  static std::shared_ptr<PackedFile> read(const std::string& path);
  bool write_file(std::map<Key, Blob>& blobs);

  const std::string path_;
  const KeyedHash hash_;
  const bool is_usable_;  // false: nothing is found and nothing written
  mutable std::mutex mutex_;
  std::map<Key, Blob> blobs_;
  bool has_unwritten_ = false;
  Stats stats_;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_FILE_H_
