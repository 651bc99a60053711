// SPDX-License-Identifier: Apache-2.0
//
// Cuts partitions for backends out of a method. Supported nodes are grouped into
// as few partitions as possible such that replacing each by one node keeps the
// graph free of cycles; the partitions are passed to preprocess_all and replaced
// by petrel::delegate_call nodes.
//
//   a -> [b -> c] -> d -> [e]      b, c, e supported; d is not
//       partition 0     partition 1
//
// A connected group that kernels do faster by the backend's table of costs is
// left to them, unless the method can be delegated whole: then it is one call.
// Every node that stays behind is reported with the reason of each backend.
#ifndef PETREL_EXIR_PARTITION_PARTITION_H_
#define PETREL_EXIR_PARTITION_PARTITION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/backend/backend.h"
#include "exir/backend/backend_selection.h"
#include "exir/ir/program.h"

namespace petrel::exir {

struct LeftBehind {
  std::string method;
  std::string node;  // "add_3"
  std::string op;    // "aten.add.Tensor"
  // "alpha is 2, must be 1"; of several backends "A: alpha is 2; B: does not support
  // aten.add.Tensor"
  std::string reason;
  std::string location;  // in the user's model
};

struct PartitionReport {
  struct Taken {
    std::string method;
    std::string backend_id;
    size_t partitions = 0;
    size_t nodes = 0;
    // Of each partition: debug id of the backend -> value that it computes.
    std::vector<std::map<uint32_t, std::string>> debug_handles = {};
    // One for each partition, where the backend can tell.
    std::vector<GroupCosts> costs = {};
  };
  std::vector<Taken> taken;
  std::vector<LeftBehind> left_behind;
};

// Groups of nodes to delegate, each in graph order, groups ordered by their
// first node. Deterministic.
std::vector<std::vector<Node*>> propose_partitions(const Graph& graph,
                                                   const Partitioner& partitioner,
                                                   std::vector<LeftBehind>* out_left_behind,
                                                   Delegate which = Delegate::kCheaper);

// "3 elementwise nodes, 1,200 elements: 2.1 us as kernels, 4.0 us delegated".
std::string describe_costs(const GroupCosts& costs);

// Lowers every method to the backends that `selection` has for it, and fills
// `store`. First all partitions are cut, backend by backend in the order of each
// method's list; then each backend gets its partitions of all methods in one
// call. Errors name the method and the index of the partition. After an error the
// program must not be used, unless `selection` itself was refused.
absl::StatusOr<PartitionReport> lower_to_backends(Program& program,
                                                  const BackendSelection& selection,
                                                  RoutedBlobStore& store);

// The same with one backend for all methods.
absl::StatusOr<PartitionReport> lower_to_backend(Program& program, const Backend& backend,
                                                 const std::vector<CompileSpec>& compile_specs,
                                                 RoutedBlobStore& store);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PARTITION_PARTITION_H_
