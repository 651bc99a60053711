// SPDX-License-Identifier: Apache-2.0
//
// The compiler's half of an NPU that does not exist: it adds, multiplies and takes what is positive
// of float tensors of equal sizes. In generated C a partition is a payload for the driver, or,
// with compile spec form=c, C that the backend writes (examples/null_npu/c).
//
//   petrel gen-c net.pt2 -o net_c --backend null_npu
#ifndef PETREL_EXAMPLES_NULL_NPU_AOT_NULL_NPU_BACKEND_H_
#define PETREL_EXAMPLES_NULL_NPU_AOT_NULL_NPU_BACKEND_H_

#include <string>
#include <vector>

#include "exir/backend/backend.h"

namespace petrel::backends::null_npu::aot {

class NullNpuPartitioner final : public exir::Partitioner {
 public:
  exir::Support supports(const exir::Node& node) const override;
  // The type, so that all values of a partition have one number of elements.
  std::string group(const exir::Node& node) const override;
};

class NullNpuBackend final : public exir::Backend {
 public:
  std::string id() const override;
  std::string target() const override;
  const exir::Partitioner& partitioner() const override { return partitioner_; }
  // "form": payload (default) or c.
  absl::Status check_compile_specs(const std::vector<exir::CompileSpec>& specs) const override;
  absl::StatusOr<exir::PreprocessResult> preprocess(const exir::Subprogram& partition,
                                                    exir::RoutedBlobStore& store) const override;
  absl::StatusOr<exir::CDelegate> to_c(const exir::LoweredPartition& partition,
                                       const std::string& prefix) const override;

 private:
  NullNpuPartitioner partitioner_;
};

// The one instance of a process.
const exir::Backend* null_npu_backend();

}  // namespace petrel::backends::null_npu::aot

#endif  // PETREL_EXAMPLES_NULL_NPU_AOT_NULL_NPU_BACKEND_H_
