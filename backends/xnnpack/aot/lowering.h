// SPDX-License-Identifier: Apache-2.0
//
// The payload graph of one partition while it is made. The functions that lower
// operators (op_table.h) ask it for operands in the layout they need and for a
// value to put their result into; it adds transposes, named constants and the
// partition's arguments as they are asked for.
//
//   absl::StatusOr<uint32_t> x = lowering.operand(node.input(arg::self),
//                                                 Layout::kChannelsLast);
//   Node& relu = lowering.add_node(NodeKind::Clamp, {*x}, lowering.result(node));
//   relu.output_min = 0;
//
// Arguments of the delegate: inputs 0..n-1 of the partition, then its outputs.
// A value that leaves the partition in another layout than it has, that leaves
// twice, or that is an input at the same time, gets a node that copies it.
//
// Sizes that vary are expressions: a lowering is right for all of them, or asks what
// only some answer, which varying_partition.h finds out. The values of the payload
// state the dims that follow from the largest inputs.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_LOWERING_H_
#define PETREL_BACKENDS_XNNPACK_AOT_LOWERING_H_

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/xnnpack/aot/layout.h"
#include "backends/xnnpack/aot/stored_weight.h"
#include "backends/xnnpack/aot/weight_blob.h"
#include "backends/xnnpack/format/graph.h"
#include "exir/backend/backend.h"

namespace petrel::backends::xnnpack::aot {

// FP16 of f16, else FP32.
Datatype float_datatype(exir::ScalarType type);

// Bounds that an activation puts on the node before it.
struct Range {
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
};

// The weights that a constant was computed from, and what tells this way of computing it
// from others. No weights: literals alone, which are called by their bytes.
struct MadeOf {
  std::vector<const exir::Constant*> weights;
  std::string recipe;
};

class Lowering {
 public:
  // All arguments must outlive this.
  Lowering(const exir::Graph& partition, WeightBlobs& weights, exir::RoutedBlobStore& store)
      : partition_(partition), weights_(weights), store_(store) {}

  // Lowers the whole partition; InvalidArgument names the node that cannot be.
  absl::Status run();

  const Graph& graph() const { return graph_; }
  const std::map<uint32_t, std::string>& debug_handles() const { return debug_handles_; }

  // --- for the functions that lower one operator ---

  // The id of `value` in `layout`, with ones in front up to `rank`, which
  // counts as the IR does; constants too, and in floats those that are stored as levels.
  // Rank 0 means the value's own.
  absl::StatusOr<uint32_t> operand(const exir::Value* value, Layout layout, size_t rank = 0);

  // The layout that `value` has, and its id in that layout.
  Layout layout_of(const exir::Value* value) const;
  absl::StatusOr<uint32_t> any_operand(const exir::Value* value);

  // `value` as integers whose scale XNNPACK finds at run time: for each row where it is
  // plain, for each image where channels are last.
  absl::StatusOr<uint32_t> quantized_at_run_time(const exir::Value* value, Layout layout);

  // A constant in an order of its own; `dims` if they are not those of the view.
  absl::StatusOr<uint32_t> constant(const exir::Value* value, const WeightView& view);
  absl::StatusOr<uint32_t> constant(const exir::Value* value, const WeightView& view, Dims dims);
  absl::StatusOr<uint32_t> constant(const exir::ConstantPtr& source, const WeightView& view,
                                    Dims dims);
  // The same of `values`, which were computed.
  absl::StatusOr<uint32_t> made_constant(const MadeOf& made, const exir::ConstantPtr& values,
                                         const WeightView& view, Dims dims);
  // Each is a value of its own, even if another has the same bytes. `source` is of i8,
  // and is packed for datatypes of 4 bits; an error tells a level that does not fit.
  absl::StatusOr<uint32_t> quantized_constant(const exir::ConstantPtr& source,
                                              const WeightView& view, Dims dims, Datatype datatype,
                                              Quantization quantization, const QuantParams& quant);
  absl::StatusOr<uint32_t> integers(const MadeOf& made, const std::vector<int32_t>& values,
                                    Datatype datatype, Quantization quantization,
                                    const QuantParams& quant);
  // Levels of one scale as an operand, as operand() has it.
  absl::StatusOr<uint32_t> quantized_operand(const exir::ConstantPtr& source, Layout layout,
                                             size_t rank, const QuantParams& quant);
  // With one weight and no recipe, its own numbers.
  absl::StatusOr<Scales> scales(const MadeOf& made, const std::vector<float>& values,
                                exir::ScalarType type = exir::ScalarType::kFloat);
  absl::StatusOr<uint32_t> scalar(double value);
  absl::StatusOr<uint32_t> floats(const MadeOf& made, Dims dims, const std::vector<float>& values);

  // The layout of a node's result, and the value to put it into.
  Layout result_layout(const exir::Node& node) const;
  uint32_t result(const exir::Node& node);
  // The sizes of the result in that layout.
  Extents result_sizes(const exir::Node& node) const;

  // `id` as f32, as are all values that are made for the current IR node from here on; what
  // is put into its result is rounded to f16 again. For operators of several nodes, each of
  // which would round. Where `id` is f32 nothing happens.
  uint32_t widened(uint32_t id);
  // Takes that back: the value of f32 as f16, as are all that are made from here on.
  uint32_t narrowed(uint32_t id);

  // A value between two nodes.
  uint32_t intermediate(Extents sizes) { return add_value(std::move(sizes)); }

  // Valid until the next call. The output range is that of the activation
  // merged into the IR node, if any.
  Node& add_node(NodeKind kind, std::vector<uint32_t> inputs, uint32_t output);
  // The reshape of `id` to the sizes of `output`; XNNPACK works out what varies.
  void add_reshape(uint32_t id, uint32_t output);
  uint32_t reshape(uint32_t id, const Extents& sizes);

  // The value that `node` makes, or an activation that is merged into it.
  const exir::Value* effective_result(const exir::Node& node) const;

  // Gives a value that is not a constant elements of int8.
  void quantize(uint32_t id, const QuantParams& quant);

  // Of the floats of the current IR node, which are f32 or f16.
  float lowest() const;

  // The bounds that the last payload node of the current IR node must apply.
  Range range() const { return range_; }
  const Extents& sizes(uint32_t id) const { return sizes_[id]; }

 private:
  struct Form {
    uint32_t id;
    Layout layout;
  };

  void add_inputs();
  void merge_activations();
  void plan();
  absl::Status lower(const exir::Node& node);
  absl::Status add_outputs();
  // Makes value `id` an argument of the delegate if `value` leaves the partition.
  void mark_output(const exir::Value* value, uint32_t id);
  absl::Status state_dims();
  uint32_t add_value(Extents sizes);
  // With elements of the type of `id`.
  uint32_t add_value_like(uint32_t id, Extents sizes);
  uint32_t convert(uint32_t id, const Extents& plain, Layout to);
  uint32_t add_constant(Dims dims, uint32_t entry, exir::ScalarType type);
  // The entry of Graph::constants for these bytes; `form` and `type` describe them as
  // RoutedBlobStore::add_weight wants it.
  absl::StatusOr<uint32_t> add_entry(const exir::Constant& source, const exir::Blob& blob,
                                     const std::string& form, const exir::TensorType& type);
  absl::StatusOr<uint32_t> add_made_entry(const MadeOf& made, const exir::Constant& values,
                                          const exir::Blob& blob, const std::string& form,
                                          const exir::TensorType& type);
  uint32_t entry_of(const std::string& key, const exir::Blob& blob);
  // Gives constants that products pack keys of their own, where other nodes read them, too.
  absl::Status part_packed_constants();
  uint32_t add_quantized(Dims dims, uint32_t entry, Datatype datatype, Quantization quantization,
                         const QuantParams& quant);
  absl::StatusOr<uint32_t> constant_operand(const exir::ConstantPtr& constant, Layout layout,
                                            size_t rank);
  absl::StatusOr<uint32_t> stored_operand(const StoredWeight& stored, Layout layout, size_t rank);

  const exir::Graph& partition_;
  WeightBlobs& weights_;
  exir::RoutedBlobStore& store_;
  Graph graph_;
  std::vector<Extents> sizes_;  // of the values
  std::map<uint32_t, std::string> debug_handles_;
  uint32_t debug_handle_ = 0;
  Datatype floats_ = Datatype::FP32;  // of values that the current node makes
  struct Narrowing {
    uint32_t from = kNoId;
    uint32_t to = kNoId;
  };
  Narrowing narrowing_;  // of the result of the current node, where its values are widened
  Range range_;

  std::map<const exir::Node*, const exir::Node*> merged_into_;  // activation -> producer
  std::map<const exir::Node*, const exir::Node*> activation_of_;
  std::map<const exir::Value*, Layout> layouts_;
  std::map<const exir::Value*, Form> forms_;  // as the producer made it
  std::map<std::tuple<const exir::Value*, Layout, size_t>, uint32_t> converted_;
  std::map<std::pair<uint32_t, Layout>, uint32_t> quantized_;  // at run time
  std::map<std::pair<uint32_t, Dims>, uint32_t> constants_;    // by entry
  std::map<std::string, uint32_t> constant_index_;
  std::vector<exir::Blob> blobs_ = std::vector<exir::Blob>(1);  // by entry
  std::map<const exir::Value*, uint32_t> outputs_;              // value -> external id
};

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_LOWERING_H_
