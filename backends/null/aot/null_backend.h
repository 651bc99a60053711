// SPDX-License-Identifier: Apache-2.0
//
// The compiler's half of the null backend: takes aten.add.Tensor and
// aten.mul.Tensor on float tensors of equal sizes. Constants become named
// blobs, so that methods share them and they can live outside the program.
//
//   options.backends.for_all = {{petrel::backends::null::aot::null_backend()}};
#ifndef PETREL_BACKENDS_NULL_AOT_NULL_BACKEND_H_
#define PETREL_BACKENDS_NULL_AOT_NULL_BACKEND_H_

#include <string>

#include "exir/backend/backend.h"

namespace petrel::backends::null::aot {

class NullPartitioner final : public exir::Partitioner {
 public:
  exir::Support supports(const exir::Node& node) const override;
};

class NullBackend final : public exir::Backend {
 public:
  std::string id() const override;
  const exir::Partitioner& partitioner() const override { return partitioner_; }
  absl::StatusOr<exir::PreprocessResult> preprocess(const exir::Subprogram& partition,
                                                    exir::RoutedBlobStore& store) const override;

 private:
  NullPartitioner partitioner_;
};

// The one instance of a process.
const exir::Backend* null_backend();

}  // namespace petrel::backends::null::aot

#endif  // PETREL_BACKENDS_NULL_AOT_NULL_BACKEND_H_
