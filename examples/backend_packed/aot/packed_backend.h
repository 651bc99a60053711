// SPDX-License-Identifier: Apache-2.0
//
// The compiler's half of the packed backend: takes aten.add.Tensor and
// aten.mul.Tensor on float tensors of equal sizes. The constants of all partitions
// of all methods become one blob, each constant once:
//
//   forward  a b --.
//   other    b c --'--> a b c --add_derived--> key     payloads: part 6 <offset> <of> <key>
//
// The export still decides where the blob goes, and other weights can take its place.
//
//   options.backends.for_all = {{petrel::backends::packed::aot::packed_backend()}};
#ifndef PETREL_EXAMPLES_BACKEND_PACKED_AOT_PACKED_BACKEND_H_
#define PETREL_EXAMPLES_BACKEND_PACKED_AOT_PACKED_BACKEND_H_

#include <string>

#include "exir/backend/backend.h"

namespace petrel::backends::packed::aot {

class PackedPartitioner final : public exir::Partitioner {
 public:
  exir::Support supports(const exir::Node& node) const override;
};

class PackedBackend final : public exir::Backend {
 public:
  std::string id() const override;
  const exir::Partitioner& partitioner() const override { return partitioner_; }
  absl::StatusOr<exir::ResultMap> preprocess_all(const exir::SubprogramMap& partitions,
                                                 exir::RoutedBlobStore& store) const override;

 private:
  PackedPartitioner partitioner_;
};

// The one instance of a process.
const exir::Backend* packed_backend();

}  // namespace petrel::backends::packed::aot

#endif  // PETREL_EXAMPLES_BACKEND_PACKED_AOT_PACKED_BACKEND_H_
