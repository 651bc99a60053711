// SPDX-License-Identifier: Apache-2.0
//
// One partition, ready to run: the XNNPACK runtime made from its payload and
// all that must live as long.
//
//   payload --> Graph (checked, copied) --> xnn_subgraph --> xnn_runtime
//                                 weights '                      ^
//                                 thread pool, packed weights ---'
//
// Arguments of execute: tensors, the inputs in the order of their external ids,
// then the outputs in the order of theirs. Inputs may have other sizes than the
// payload states, as long as every node can work with them, unless Options::sizes_are_fixed;
// outputs get their sizes from that. Nothing is set up again while sizes and addresses stay;
// for the sizes of the payload create() does that already, where it is little beside packing
// the weights. Inputs may be empty if all outputs are then.
//
// Where XNNPACK fails on its way to other sizes, as without memory, the delegate refuses
// all later calls: its operators may be half made.
//
// Not to be executed by two threads at once. Delegates that share a workspace
// may be: they wait for each other.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_DELEGATE_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_DELEGATE_H_

#include <xnnpack.h>

#include <memory>
#include <optional>
#include <vector>

#include "backends/xnnpack/format/cells.h"
#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/format/shape_rules.h"
#include "backends/xnnpack/runtime/over_read.h"
#include "backends/xnnpack/runtime/packed_arena.h"
#include "backends/xnnpack/runtime/step_events.h"
#include "backends/xnnpack/runtime/subgraph.h"
#include "backends/xnnpack/runtime/weight_feed.h"
#include "backends/xnnpack/runtime/weight_session.h"
#include "backends/xnnpack/runtime/workspace.h"
#include "runtime/backend/interface.h"
#include "runtime/core/budget.h"
#include "runtime/threads/thread_pool.h"

namespace petrel::backends::xnnpack {

class Delegate {
 public:
  struct Options {
    // Packed weights are shared with other delegates of the process.
    bool share_weights = true;
    // Where packed weights are kept for later processes; null: nowhere. Needs
    // share_weights.
    std::shared_ptr<PackedFile> packed_file;
    PackedFile::Verify verify_packed = PackedFile::Verify::kFirstUse;
    // Convolutions are computed by Winograd's algorithm where it is faster.
    bool winograd = true;
    // Products may leave out the last bits of floats where that is faster.
    bool fast_math = false;
    // Products of one row read large weights where the map has them, if they stay there.
    bool unpacked = true;
    // In place of those of this machine's last cache.
    std::optional<uint64_t> cache_bytes;
    // Inputs always have the sizes of the payload, so that small nodes may be one (cells.h) and
    // what is cut off is not computed (trimmed_windows.h).
    bool sizes_are_fixed = false;
    // Of packed weights that are shared.
    HugePages huge_pages = HugePages::kWhereCheap;
    // Delegates with the same owner share the memory between their nodes and
    // wait for each other; null for memory of its own.
    const void* workspace_owner = nullptr;
    // Pays for what describes values and nodes, for the values between nodes, for further
    // forms of a constant and for all else that XNNPACK allocates; null: nothing limits
    // them but this backend's own limits. Needed by create() only: what inputs of other
    // sizes need beyond that, the context of execute pays for.
    runtime::Budget* memory = nullptr;
  };

  // The payload is needed during the call only; the map outlives the delegate.
  static runtime::Result<std::unique_ptr<Delegate>> create(const void* payload, size_t size,
                                                           const runtime::NamedDataMap* map,
                                                           const Options& options);
  // The same for a graph that was read before, and may have been changed since: all else
  // is checked here. `payload_bytes` of inline constants are free.
  static runtime::Result<std::unique_ptr<Delegate>> create(Graph graph, size_t payload_bytes,
                                                           const runtime::NamedDataMap* map,
                                                           const Options& options);
  ~Delegate();
  Delegate(const Delegate&) = delete;
  Delegate& operator=(const Delegate&) = delete;

  size_t num_outputs() const { return outputs_.size(); }

  runtime::Error execute(const runtime::BackendExecutionContext& context,
                         runtime::Span<runtime::EValue*> args);

  // How often XNNPACK was told new sizes and new addresses.
  size_t num_reshapes() const { return num_reshapes_; }
  size_t num_setups() const { return num_setups_; }

 private:
  // An input or output, by its place in the arguments.
  struct External {
    uint32_t value;              // in graph_.values; XNNPACK's id is its external_id
    const void* data = nullptr;  // as XNNPACK knows it
    PaddedBuffer staging = {};   // for data that must not be read past its end
    bool is_read = false;        // an output that kernels also read
    void* unstaged = nullptr;    // where a staged output belongs
    uint8_t* levels = nullptr;   // of an output that is_unsigned()
    size_t nbytes = 0;
  };

  Delegate() = default;
  // create() of a graph that Options::memory has paid for.
  static runtime::Result<std::unique_ptr<Delegate>> create_paid(Graph graph, size_t payload_bytes,
                                                                const runtime::NamedDataMap* map,
                                                                const Options& options);
  runtime::Error make_runtime(xnn_subgraph_t subgraph, const Options& options,
                              const WeightFeed& feed);
  // `payload_bytes` of inline constants are free.
  runtime::Error build(const runtime::NamedDataMap* map, const Options& options,
                       size_t payload_bytes);
  runtime::Error take_values(const Options& options);
  runtime::Error prepare_first_run(runtime::Budget* memory);
  runtime::Error pay_for_sizes(runtime::Budget* memory);
  runtime::Error bind_inputs(const runtime::BackendExecutionContext& context,
                             runtime::Span<runtime::EValue*> args, bool* reshape, bool* setup);
  runtime::Error bind_outputs(const runtime::BackendExecutionContext& context,
                              runtime::Span<runtime::EValue*> args, bool* setup);
  runtime::Error make_empty(runtime::Span<runtime::EValue*> args);
  runtime::Error infer_dims(const runtime::BackendExecutionContext& context);
  runtime::Error reshape(runtime::Budget* memory);
  // Inputs and outputs are where they are bound, or at the placeholder, if it is not null.
  runtime::Error set_up(void* placeholder);

  Graph graph_;  // dims are those of the last execution
  Cells cells_;  // of its nodes, with the sizes of the payload
  std::vector<External> inputs_;
  std::vector<External> outputs_;
  // Constants that kernels read every time.
  KeptConstants kept_;
  runtime::SharedThreadPool thread_pool_;
  // Otherwise threads compute lanes (third_party/xnnpack/lanes), and what loading does.
  bool shares_nodes_ = false;
  WeightSession weights_;
  // Written to when the first run shows that loading is over.
  std::shared_ptr<PackedFile> packed_file_;
  std::shared_ptr<Workspace> workspace_;
  xnn_runtime_t runtime_ = nullptr;
  StepEvents step_events_;
  uint64_t multiply_adds_ = 0;  // for the dims of graph_
  uint64_t paid_kept_bytes_ = 0;
  bool have_fixed_sizes_ = false;
  bool is_shaped_ = false;  // XNNPACK knows the dims of graph_
  // XNNPACK has failed on the way to other sizes: its operators are not to be used again.
  bool is_half_made_ = false;
  size_t num_reshapes_ = 0;
  size_t num_setups_ = 0;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_DELEGATE_H_
