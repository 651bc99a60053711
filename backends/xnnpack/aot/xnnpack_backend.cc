// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/xnnpack_backend.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/lowering.h"
#include "backends/xnnpack/aot/varying_partition.h"
#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/payload_reader.h"
#include "backends/xnnpack/format/payload_writer.h"
#include "exir/annotate.h"
#include "exir/ir/blob_digests.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

// The rules by which the runtime accepts it: a mistake here or a shape beyond
// XNNPACK's limits is noticed now, not on the device.
absl::Status check_is_read(const std::vector<uint8_t>& payload) {
  Graph graph;
  Problem problem = read_payload(payload.data(), payload.size(), &graph);
  if (problem.ok()) problem = check_implemented(graph);
  if (problem.ok()) problem = check_graph(graph);
  return problem.ok() ? absl::OkStatus() : absl::InvalidArgumentError(problem.text());
}

absl::StatusOr<exir::PreprocessResult> lower_partition(const exir::Subprogram& partition,
                                                       WeightBlobs& weights,
                                                       exir::RoutedBlobStore& store) {
  auto lowering = std::make_unique<Lowering>(*partition.graph, weights, store);
  if (has_varying_sizes(*partition.graph)) {
    PETREL_ASSIGN_OR_RETURN(lowering, lower_for_all_sizes(*partition.graph, weights, store));
  } else {
    PETREL_RETURN_IF_ERROR(lowering->run());
  }
  std::vector<uint8_t> payload = write_payload(lowering->graph());
  PETREL_RETURN_IF_ERROR(check_is_read(payload));
  exir::PreprocessResult result;
  result.payload = exir::Blob::owned(std::move(payload));
  result.debug_handles = lowering->debug_handles();
  return result;
}

// Weights whose digests become keys are hashed one by one while they are lowered; those that take
// long, and are stored as they are, by several threads before. Of floats these are matrices:
// filters of convolutions become others, and matrices of levels may be packed.
void digest_matrices(const exir::SubprogramMap& partitions) {
  std::vector<exir::Blob> matrices;
  for (const auto& [method, subprograms] : partitions) {
    for (const exir::Subprogram& partition : subprograms) {
      for (const exir::Value* value : partition.graph->constants()) {
        const exir::Constant& constant = *value->constant();
        if (constant.type.rank() != 2 || !exir::is_floating_point(constant.type.dtype)) continue;
        if (!constant.data.is_produced()) matrices.push_back(constant.data);
      }
    }
  }
  exir::BlobDigests(matrices, exir::work_threads()).finish();
}

}  // namespace

absl::StatusOr<exir::ResultMap> XnnpackBackend::preprocess_all(
    const exir::SubprogramMap& partitions, exir::RoutedBlobStore& store) const {
  // A call of a few bytes becomes a mask of megabytes.
  const exir::TableScope scope;
  if (store.routes().keys == exir::WeightKeys::kContent) digest_matrices(partitions);
  WeightBlobs weights;
  exir::ResultMap results;
  for (const auto& [method, subprograms] : partitions) {
    std::vector<exir::PreprocessResult>& out = results[method];
    for (const exir::Subprogram& partition : subprograms) {
      absl::StatusOr<exir::PreprocessResult> result = lower_partition(partition, weights, store);
      if (!result.ok()) return exir::annotate(result.status(), partition.describe());
      out.push_back(*std::move(result));
    }
  }
  return results;
}

const exir::Backend* xnnpack_backend() {
  static const XnnpackBackend* const backend = new XnnpackBackend;
  return backend;
}

}  // namespace petrel::backends::xnnpack::aot
