// SPDX-License-Identifier: Apache-2.0
//
// XNNPACK for the compiler: partitions become payloads of the runtime's
// "XnnpackBackend", weights become named blobs whose key is the SHA-256 of
// their bytes, so that partitions, methods and programs share them.
//
//   options.backends.for_all = {{petrel::backends::xnnpack::aot::xnnpack_backend()}};

#ifndef PETREL_BACKENDS_XNNPACK_AOT_XNNPACK_BACKEND_H_
#define PETREL_BACKENDS_XNNPACK_AOT_XNNPACK_BACKEND_H_

#include <string>

#include "backends/xnnpack/aot/partitioner.h"
#include "exir/backend/backend.h"

namespace petrel::backends::xnnpack::aot {

class XnnpackBackend final : public exir::Backend {
 public:
  std::string id() const override { return "XnnpackBackend"; }
  const exir::Partitioner& partitioner() const override { return partitioner_; }
  absl::StatusOr<exir::ResultMap> preprocess_all(const exir::SubprogramMap& partitions,
                                                 exir::RoutedBlobStore& store) const override;

 private:
  XnnpackPartitioner partitioner_;
};

// The one instance of a process.
const exir::Backend* xnnpack_backend();

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_XNNPACK_BACKEND_H_
