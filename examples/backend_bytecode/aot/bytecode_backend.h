// SPDX-License-Identifier: Apache-2.0
//
// The compiler's half of the bytecode backend: chains of elementwise operators
// on float tensors become one loop. Partitions have one shape each (group()), scalars
// become numbers in the code, constants become named blobs, and debug ids are
// offsets into the code.
//
//   options.backends.for_all = {{petrel::backends::bytecode::aot::bytecode_backend(),
//                                {{"block", "256"}}}};
#ifndef PETREL_EXAMPLES_BACKEND_BYTECODE_AOT_BYTECODE_BACKEND_H_
#define PETREL_EXAMPLES_BACKEND_BYTECODE_AOT_BYTECODE_BACKEND_H_

#include <string>
#include <vector>

#include "exir/backend/backend.h"

namespace petrel::backends::bytecode::aot {

class BytecodePartitioner final : public exir::Partitioner {
 public:
  exir::Support supports(const exir::Node& node) const override;
  bool takes_varying_sizes() const override { return true; }
  // The shape, so that a partition is one loop.
  std::string group(const exir::Node& node) const override;
};

class BytecodeBackend final : public exir::Backend {
 public:
  std::string id() const override;
  const exir::Partitioner& partitioner() const override { return partitioner_; }
  // "block": elements that an instruction works on at once.
  absl::Status check_compile_specs(const std::vector<exir::CompileSpec>& specs) const override;
  absl::StatusOr<exir::PreprocessResult> preprocess(const exir::Subprogram& partition,
                                                    exir::RoutedBlobStore& store) const override;

 private:
  BytecodePartitioner partitioner_;
};

// The one instance of a process.
const exir::Backend* bytecode_backend();

}  // namespace petrel::backends::bytecode::aot

#endif  // PETREL_EXAMPLES_BACKEND_BYTECODE_AOT_BYTECODE_BACKEND_H_
