// SPDX-License-Identifier: Apache-2.0
//
// What a backend implements for the compiler: which nodes it takes (Partitioner)
// and how it compiles its partitions (preprocess or preprocess_all).
//
//   class MyBackend : public Backend {
//    public:
//     std::string id() const override { return "MyBackend"; }
//     const Partitioner& partitioner() const override { return partitioner_; }
//     absl::StatusOr<PreprocessResult> preprocess(
//         const Subprogram& partition, RoutedBlobStore& store) const override;
//   };
//
// A backend that shares work or data between partitions overrides preprocess_all
// instead: it gets every partition of every method in one call, and must return
// one result per Subprogram in the same order.
#ifndef PETREL_EXIR_BACKEND_BACKEND_H_
#define PETREL_EXIR_BACKEND_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/backend/c_delegate.h"
#include "exir/backend/routed_blob_store.h"
#include "exir/ir/blob.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// Opaque key and bytes for a backend; stored with the delegate in the `.pte`
// and handed to its init.
struct CompileSpec {
  std::string key;
  std::string value;
};

// One partition, cut out of its method: the graph's inputs are the delegate's
// arguments in order, its outputs the results; constants are values of the
// graph. Owned by the caller for the duration of the call.
struct Subprogram {
  std::string method;
  size_t index = 0;  // position among the method's partitions for this backend
  const Graph* graph = nullptr;
  std::vector<CompileSpec> compile_specs;

  // "method 'forward', partition 2": for error messages.
  std::string describe() const;
};

struct PreprocessResult {
  Blob payload;
  // Delegate-side debug id -> name of the IR value it computes.
  std::map<uint32_t, std::string> debug_handles;
};

// Whether a backend takes a node, and if not, why. The report prints the reason
// after the node: "padding is negative".
struct Support {
  bool supported = false;
  std::string reason;

  static Support yes() { return {true, ""}; }
  static Support no(std::string why) { return {false, std::move(why)}; }
};

// What a group of nodes takes in microseconds, by constants that were measured
// once: the same on every machine that exports.
struct GroupCosts {
  double kernels = 0;
  double delegated = 0;  // with copies into other layouts, without the call
  double call = 0;       // of a delegate
  size_t layout_copies = 0;
  int64_t copied_elements = 0;
  std::string nodes;  // "3 elementwise nodes, 1,200 elements"
};

class Partitioner {
 public:
  virtual ~Partitioner() = default;
  virtual Support supports(const Node& node) const = 0;
  // True for operators that the backend wants whole: they are decomposed only
  // after partitioning, where nobody took them. (optional)
  virtual bool keeps(const OpInfo& op) const;
  // Nodes share a partition only if this is the same for them: which of two
  // processors they are for, a shape that all of a partition must have. (optional)
  virtual std::string group(const Node& node) const;
  // True if the runtime's half takes inputs of any sizes within the bounds and
  // resizes the results. If false, nodes whose sizes vary are not offered, so no
  // size is refused at run time. (optional)
  virtual bool takes_varying_sizes() const;
  // False for a connected group of nodes that is not worth a delegate call, for
  // example reshapes alone. `nodes` are in graph order. (optional)
  virtual bool worthwhile(const std::vector<const Node*>& nodes) const;
  // What a group costs, of which `partition` is a copy; nullopt if the backend cannot
  // tell: then all that it supports is delegated. (optional)
  virtual std::optional<GroupCosts> costs(const Graph& partition) const;
  // How many inputs and outputs a partition may have together. Where there would be more, what is
  // connected becomes several partitions, or is left if it has more by itself. (optional)
  virtual size_t most_inputs_and_outputs() const;
};

// What the partitioner says of the node, after what holds for every backend.
Support support_of(const Partitioner& partitioner, const Node& node);

struct LoweredPartition;

using SubprogramMap = std::map<std::string, std::vector<Subprogram>>;
using ResultMap = std::map<std::string, std::vector<PreprocessResult>>;

class Backend {
 public:
  virtual ~Backend() = default;
  // The name in the `.pte` by which the runtime finds its half.
  virtual std::string id() const = 0;
  virtual const Partitioner& partitioner() const = 0;
  // InvalidArgument for a compile spec it does not know. Default: refuses all.
  virtual absl::Status check_compile_specs(const std::vector<CompileSpec>& specs) const;

  // Default: Unimplemented, for backends that override preprocess_all.
  virtual absl::StatusOr<PreprocessResult> preprocess(const Subprogram& partition,
                                                      RoutedBlobStore& store) const;
  // Default: calls preprocess on each, in method order; errors name the partition.
  virtual absl::StatusOr<ResultMap> preprocess_all(const SubprogramMap& partitions,
                                                   RoutedBlobStore& store) const;

  // Who runs the partitions, in the word that the `targets` of memories use. Default: "c", the
  // processor that also runs what is not delegated.
  virtual std::string target() const;
  // What generated C does for a partition that was preprocessed; names of functions that it
  // writes begin with `prefix`. Unimplemented where the backend has nothing for C. Default: a
  // driver gets the payload, "my_npu" of the backend "MyNpu".
  virtual absl::StatusOr<CDelegate> to_c(const LoweredPartition& partition,
                                         const std::string& prefix) const;
};

// "my_npu" for "MyNpu": the name in C of what belongs to a backend.
std::string driver_name(const std::string& backend_id);

// What a petrel::delegate_call node carries once its backend has run.
struct LoweredPartition {
  std::string backend_id;
  const Backend* backend = nullptr;  // that made it, not owned; null in what no backend made
  Blob payload;
  std::vector<CompileSpec> compile_specs;
  std::shared_ptr<const Graph> graph;  // the partition, for reports and inspection
  std::map<uint32_t, std::string> debug_handles;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BACKEND_BACKEND_H_
