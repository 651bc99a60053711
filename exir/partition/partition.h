// SPDX-License-Identifier: Apache-2.0
//
// Cuts the parts a backend takes out of a method. Supported nodes are grouped
// into as few partitions as possible such that replacing each by one node keeps
// the graph free of cycles; the parts are handed to preprocess_all and replaced
// by petrel::delegate_call nodes.
//
//   a -> [b -> c] -> d -> [e]      b, c, e supported; d is not
//         part 0           part 1
//
// Every node that stays behind is reported with the backend's reason.
#ifndef PETREL_EXIR_PARTITION_PARTITION_H_
#define PETREL_EXIR_PARTITION_PARTITION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/backend/backend.h"
#include "exir/ir/program.h"

namespace petrel::exir {

struct LeftBehind {
  std::string method;
  std::string node;      // "add_3"
  std::string op;        // "aten.add.Tensor"
  std::string reason;    // "alpha is 2, must be 1"
  std::string location;  // in the user's model
};

struct PartitionReport {
  struct Taken {
    std::string method;
    std::string backend_id;
    size_t partitions = 0;
    size_t nodes = 0;
  };
  std::vector<Taken> taken;
  std::vector<LeftBehind> left_behind;
};

// Groups of nodes to delegate, each in graph order, groups ordered by their
// first node. Deterministic.
std::vector<std::vector<Node*>> propose_partitions(
    const Graph& graph, const Partitioner& partitioner,
    std::vector<LeftBehind>* out_left_behind);

// Lowers all methods of `program` to `backend`, filling `store`.
absl::StatusOr<PartitionReport> lower_to_backend(
    Program& program, const Backend& backend,
    const std::vector<CompileSpec>& compile_specs, NamedBlobStore& store);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PARTITION_PARTITION_H_
