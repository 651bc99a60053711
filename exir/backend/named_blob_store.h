// SPDX-License-Identifier: Apache-2.0
//
// Where backends put data that several payloads share, and that may live
// outside the program: key -> bytes, alignment, destination file.
//
//   store.add_named_blob(to_hex(w.sha256()), w, 16, "")          in the .pte
//   store.add_named_blob("lora.a", a, 16, "adapter.ptd")         in adapter.ptd
//
// A store may be given a default destination: what is sent to "" goes there, so
// that one option moves the weights of every backend out of the program:
//
//   NamedBlobStore store("weights.ptd");
//   store.add_named_blob("k", w, 16, "");                        in weights.ptd
//
// Weights of the model had better be added as such. The store then gives them
// the key and the file that the export asks for (exir/backend/weight_routes.h),
// and the payload takes the key:
//
//   PETREL_ASSIGN_OR_RETURN(std::string key,
//                           store.add_weight(constant, blob, 16, "0231", type));
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
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/backend/weight_routes.h"
#include "exir/ir/blob.h"
#include "exir/ir/constant.h"
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

  // A weight as it was added, whatever became of its bytes.
  struct Weight {
    std::string key;
    std::string fqn;  // of the constant
    std::string destination;
    std::optional<TensorType> layout;
    uint64_t bytes = 0;
    Blob blob;
  };

  // The key of what Petrel adds to a program; no blob can have it.
  static constexpr const char* kProgramKey = "petrel.program";

  // Largest alignment that may be asked for.
  static constexpr uint64_t kMaxAlignment = uint64_t{1} << 20;
  // Longest key, in bytes.
  static constexpr size_t kMaxKeyBytes = 1023;

  // Precondition: `default_destination` is "" or a plain file name.
  explicit NamedBlobStore(std::string default_destination = "") {
    routes_.default_file = std::move(default_destination);
  }
  // Precondition: routes.check() is OK.
  explicit NamedBlobStore(WeightRoutes routes) : routes_(std::move(routes)) {}

  // InvalidArgument unless `name` is a plain file name.
  static absl::Status check_file_name(const std::string& name) {
    return check_plain_file_name(name);
  }

  // `external_file` is "" for the default destination, else a plain file name.
  // True when the blob was stored, or the key already held equal bytes in the
  // same destination; false when the key holds other bytes. InvalidArgument
  // for a key that is empty, longer than kMaxKeyBytes, kProgramKey or has a
  // NUL, an alignment that is not a power of two in [1, kMaxAlignment], a file name that is not
  // plain, a layout of another size than the blob; AlreadyExists when the key
  // was sent to another destination, or with another layout, before.
  absl::StatusOr<bool> add_named_blob(const std::string& key, const Blob& blob, uint64_t alignment,
                                      const std::string& external_file,
                                      const std::optional<TensorType>& layout = std::nullopt);

  // Stores what somebody made of `source`, a constant of the program, and
  // returns its key. `form` tells how the bytes differ from those of the source
  // ("" when they do not), `layout` what they mean. The key is
  //
  //   the SHA-256 of the bytes, and "@FILE" behind it where a rule sends the
  //   weight to a file of its own; or, under WeightKeys::kName,
  //   "conv.weight@bn1#0231": the constant's name and the form.
  //
  // Literals of the model are always called by content; under kName, where data
  // files are to be exchanged, they stay in the program. Errors are those of
  // add_named_blob; AlreadyExists when two weights of one name differ.
  absl::StatusOr<std::string> add_weight(const Constant& source, const Blob& blob,
                                         uint64_t alignment, const std::string& form,
                                         const std::optional<TensorType>& layout = std::nullopt);

  // The same for a weight that a kernel reads from a file, which is always
  // called by its name. Precondition: destination_of(source) is not "".
  absl::Status add_kernel_weight(const Constant& source, uint64_t alignment);

  // Says that a kernel reads a weight that lies among the program's constants.
  // AlreadyExists when two weights of one name differ and names count.
  absl::Status note_inline_weight(const Constant& source);

  // Where a weight that a kernel reads belongs; "" for the program.
  std::string destination_of(const Constant& source) const;

  // InvalidArgument naming the first rule that no weight has matched.
  absl::Status check_all_rules_matched() const;

  // What the three above were given but for literals, by key.
  const std::map<std::string, Weight>& weights() const { return weights_; }
  const WeightRoutes& routes() const { return routes_; }

  // All entries of `other`, destination by destination, in its order. Fails as
  // add_named_blob does, and with AlreadyExists naming the key when bytes
  // differ; this store is then as it was.
  absl::Status merge(const NamedBlobStore& other);

  // By destination, "" first. Absent when nothing was sent there.
  const std::map<std::string, Destination>& destinations() const { return destinations_; }
  // Where blobs sent to "" go; "" is the program.
  const std::string& default_destination() const { return routes_.default_file; }

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
  absl::StatusOr<bool> place(const std::string& key, const Blob& blob, uint64_t alignment,
                             const std::string& destination,
                             const std::optional<TensorType>& layout);
  absl::Status place_weight(const Constant& source, const std::string& key, const Blob& blob,
                            uint64_t alignment, const std::string& destination,
                            const std::optional<TensorType>& layout);

  WeightRoutes routes_;
  // Rules that a weight has matched.
  mutable std::set<size_t> matched_;
  std::map<std::string, Weight> weights_;
  uint64_t requested_bytes_ = 0;
  std::map<std::string, Destination> destinations_;
  std::map<std::string, Location> keys_;
  // Per destination: digest -> buffer.
  std::map<std::string, std::map<Sha256, size_t>> by_digest_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BACKEND_NAMED_BLOB_STORE_H_
