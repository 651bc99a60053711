// SPDX-License-Identifier: Apache-2.0
//
// Data that the payloads of a program share, and that may live outside it:
// key -> bytes, alignment, external file. A key has one meaning: it lies in one
// destination and never changes its bytes.
//
//   NamedBlobStore store;
//   store.add_named_blob(to_hex(w.sha256()), w, 16, "");      true: in the .pte
//   store.add_named_blob("lora.a", a, 16, "adapter.ptd");     true: in adapter.ptd
//   store.add_named_blob("lora.a", b, 16, "adapter.ptd");     false: `a` stays
//
// Backends get one behind the routes of the export: exir/backend/routed_blob_store.h.
//
// Equal bytes under several keys become one buffer per destination; its
// alignment is the least common multiple of those asked for. Buffers keep the
// order in which they were added, files list keys in byte order, so output is
// deterministic.
// Nothing is copied: the store keeps Blobs.
//
//   keys        buffers (one list per destination)
//   "a" ------> 0: 4096 bytes, align 16
//   "b" ---/
//   "c" ------> 1: 64 bytes, align 128
#ifndef PETREL_EXIR_BACKEND_NAMED_BLOB_STORE_H_
#define PETREL_EXIR_BACKEND_NAMED_BLOB_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/blob.h"
#include "exir/ir/blob_set.h"
#include "exir/ir/type.h"

namespace petrel::exir {

class NamedBlobStore {
 public:
  struct Buffer {
    Blob blob;
    uint64_t alignment = 1;
  };
  struct Entry {
    std::string key;
    size_t buffer = 0;                 // index into Destination::buffers
    std::optional<TensorType> layout;  // for kernel weights in a .ptd
  };
  struct Destination {
    std::vector<Buffer> buffers;
    std::vector<Entry> entries;

    // In byte order of keys, which readers search by bisection.
    std::vector<const Entry*> sorted_entries() const;
  };

  // `external_file` is "" for the program, else a plain file name.
  // True when the blob was stored, or the key already held equal bytes in the
  // same destination; false when the key holds other bytes. InvalidArgument
  // for a key that is empty, longer than kMaxWrittenKeyBytes, kAdditionsKey or has a
  // NUL, an alignment that is not a power of two in [1, kMaxAlignment] (schema/formats.h), a file
  // name that is not plain, a layout of another size than the blob; AlreadyExists
  // when the key was sent to another destination, or with another layout, before.
  absl::StatusOr<bool> add_named_blob(const std::string& key, const Blob& blob, uint64_t alignment,
                                      const std::string& external_file,
                                      const std::optional<TensorType>& layout = std::nullopt);

  // Where `key` was sent, null when it was not.
  const std::string* destination_of(const std::string& key) const;

  // By destination, "" first. Absent when nothing was sent there.
  const std::map<std::string, Destination>& destinations() const { return destinations_; }

  // Bytes of all successful calls, repetitions included, and bytes of the
  // buffers: the difference is what sharing saves.
  uint64_t requested_bytes() const { return requested_bytes_; }
  uint64_t stored_bytes() const;

 private:
  struct Location {
    std::string destination;
    size_t buffer;
    size_t entry;
  };

  uint64_t requested_bytes_ = 0;
  std::map<std::string, Destination> destinations_;
  std::map<std::string, Location> keys_;
  // Per destination: which buffers are there, in their order.
  std::map<std::string, BlobSet> distinct_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BACKEND_NAMED_BLOB_STORE_H_
