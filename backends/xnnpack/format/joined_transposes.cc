// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/joined_transposes.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/dead_nodes.h"
#include "backends/xnnpack/format/inner_value.h"

namespace petrel::backends::xnnpack {
namespace {

using List = std::vector<uint32_t>;

// More parts than this are moved in runs too short to gain anything.
constexpr size_t kMostParts = 3;

// Some of the places of the source, as a dim of a strided array.
struct Part {
  uint64_t size = 1;
  uint64_t stride = 1;    // in elements of the source
  bool is_first = false;  // the first dim of the source, whose size may vary
};

using Parts = std::vector<Part>;

// What a value is of another one, its source, by transposes and reshapes alone.
struct View {
  uint32_t source = kNoId;
  std::vector<Parts> dims;  // of the value, from the outermost part to the innermost
  List order;               // dims of the source, as long as there is no reshape
  size_t transposes = 0;
  bool has_reshape = false;
  bool varies = false;  // a reshape left the first dim of the source to be inferred
};

View view_of_itself(uint32_t id, const Dims& dims) {
  View view;
  view.source = id;
  uint64_t stride = 1;
  view.dims.resize(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    view.dims[i] = {Part{dims[i], stride, i == 0}};
    stride *= dims[i];
  }
  view.order.resize(dims.size());
  std::iota(view.order.begin(), view.order.end(), 0u);
  return view;
}

// In memory order, without those of one element, neighbours as one.
Parts merge_parts(const std::vector<Parts>& dims) {
  Parts merged;
  for (const Parts& dim : dims) {
    for (const Part& part : dim) {
      if (part.size == 1 && !part.is_first) continue;
      Part* const last = merged.empty() ? nullptr : &merged.back();
      const bool is_neighbour = last != nullptr && !last->is_first && !part.is_first &&
                                last->stride == part.size * part.stride;
      if (is_neighbour) {
        last->size *= part.size;
        last->stride = part.stride;
      } else {
        merged.push_back(part);
      }
    }
  }
  return merged;
}

View transposed(const View& from, const List& order) {
  View view = from;
  for (size_t i = 0; i < order.size(); ++i) {
    view.dims[i] = from.dims[order[i]];
    if (!from.order.empty()) view.order[i] = from.order[order[i]];
  }
  ++view.transposes;
  return view;
}

// Takes parts of `size` elements in all from the front.
std::optional<Parts> take(Parts* parts, size_t* next, uint64_t size) {
  Parts taken;
  while (size > 1) {
    if (*next == parts->size()) return std::nullopt;
    Part& part = (*parts)[*next];
    if (part.is_first) return std::nullopt;
    if (size % part.size == 0) {
      size /= part.size;
      taken.push_back(part);
      ++*next;
    } else if (part.size % size == 0) {
      part.size /= size;
      taken.push_back({size, part.stride * part.size, false});
      size = 1;
    } else {
      return std::nullopt;
    }
  }
  return taken;
}

// Nothing where a dim is no sequence of parts, or one is inferred that is not the source's first.
std::optional<View> reshaped(const View& from, const List& list, const Dims& dims) {
  const auto zeros = std::count(list.begin(), list.end(), 0u);
  if (zeros > 1) return std::nullopt;
  View view = from;
  view.order.clear();
  view.has_reshape = true;
  view.varies = zeros == 1;
  if (zeros == 0) {
    if (from.varies) return std::nullopt;
    for (Parts& dim : view.dims) {
      for (Part& part : dim) part.is_first = false;
    }
  }
  Parts parts = merge_parts(view.dims);
  size_t next = 0;
  view.dims.assign(dims.size(), {});
  for (size_t i = 0; i < dims.size(); ++i) {
    if (list[i] == 0) {
      if (next == parts.size() || !parts[next].is_first) return std::nullopt;
      view.dims[i] = {parts[next++]};
      continue;
    }
    std::optional<Parts> taken = take(&parts, &next, dims[i]);
    if (!taken) return std::nullopt;
    view.dims[i] = *std::move(taken);
  }
  if (next != parts.size()) return std::nullopt;
  return view;
}

bool is_in_order(const Parts& parts) {
  uint64_t stride = 1;
  for (size_t i = parts.size(); i-- > 0;) {
    if (parts[i].stride != stride) return false;
    stride *= parts[i].size;
  }
  return true;
}

class Rewrite {
 public:
  explicit Rewrite(Graph* graph) : graph_(*graph), old_(std::move(graph->nodes)) {
    views_.resize(graph_.values.size());
    graph_.nodes.clear();
  }

  void run() {
    for (Node& node : old_) rewrite(node);
  }

 private:
  static bool may_be_view(const Value& value) {
    const bool has_type = value.datatype == Datatype::FP32 || value.datatype == Datatype::FP16 ||
                          value.datatype == Datatype::QINT8 || value.datatype == Datatype::QUINT8;
    return has_type && (value.quantization == Quantization::kNone ||
                        value.quantization == Quantization::kPerTensor);
  }

  const View& view_of(uint32_t id) {
    if (views_[id].source == kNoId) views_[id] = view_of_itself(id, graph_.values[id].dims);
    return views_[id];
  }

  void rewrite(const Node& node) {
    const bool is_transpose = node.kind == NodeKind::StaticTranspose;
    const bool moves = is_transpose || node.kind == NodeKind::StaticReshape;
    const uint32_t out = node.outputs[0];
    if (!moves || !may_be_view(graph_.values[node.inputs[0]]) || !may_be_view(graph_.values[out])) {
      graph_.nodes.push_back(node);
      return;
    }
    const View& from = view_of(node.inputs[0]);
    if (!is_transpose) {
      std::optional<View> view = reshaped(from, node.list, graph_.values[out].dims);
      if (view) views_[out] = *std::move(view);
      graph_.nodes.push_back(node);
      return;
    }
    View view = transposed(from, node.list);
    const bool is_done = view.has_reshape ? move_parts(node, view) : move_dims(node, view);
    if (!is_done) graph_.nodes.push_back(node);
    views_[out] = std::move(view);
  }

  void add(const Node& like, NodeKind kind, uint32_t input, uint32_t output, List list) {
    Node node;
    node.kind = kind;
    node.debug_handle = like.debug_handle;
    node.inputs = {input};
    node.outputs = {output};
    node.list = std::move(list);
    graph_.nodes.push_back(std::move(node));
  }

  // Transposes alone, of any sizes.
  bool move_dims(const Node& node, const View& view) {
    if (view.transposes < 2) return false;
    if (std::is_sorted(view.order.begin(), view.order.end())) {
      add(node, NodeKind::Copy, view.source, node.outputs[0], {});
    } else {
      add(node, NodeKind::StaticTranspose, view.source, node.outputs[0], view.order);
    }
    return true;
  }

  bool move_parts(const Node& node, const View& view) {
    const std::optional<List> sizes = sizes_of(view);
    if (!sizes) return false;
    const Parts parts = merge_parts(view.dims);
    if (is_in_order(parts)) {
      reshape_source(node, view, node.outputs[0], *sizes);
      return true;
    }
    if (view.transposes < 2 || parts.size() > kMostParts) return false;
    // By their places in the source, and where each of them goes.
    List order(parts.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return parts[a].stride > parts[b].stride; });
    Dims cut;
    List list, turn(parts.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      const Part& part = parts[order[i]];
      cut.push_back(static_cast<uint32_t>(part.size));
      list.push_back(part.is_first ? 0 : cut.back());
      turn[order[i]] = i;
    }
    Dims turned;
    for (const uint32_t place : turn) turned.push_back(cut[place]);
    const uint32_t out = node.outputs[0];
    const uint32_t before = make(out, cut), behind = make(out, turned);
    reshape_source(node, view, before, list);
    add(node, NodeKind::StaticTranspose, before, behind, turn);
    add(node, NodeKind::StaticReshape, behind, out, *sizes);
    return true;
  }

  // What a reshape to the view's dims says; nothing where the dim that varies is not alone.
  static std::optional<List> sizes_of(const View& view) {
    List sizes;
    for (const Parts& dim : view.dims) {
      uint64_t size = 1;
      bool varies = false;
      for (const Part& part : dim) {
        size *= part.size;
        varies |= part.is_first;
      }
      if (varies && dim.size() != 1) return std::nullopt;
      sizes.push_back(varies ? 0 : static_cast<uint32_t>(size));
    }
    return sizes;
  }

  void reshape_source(const Node& like, const View& view, uint32_t output, List list) {
    add(like, NodeKind::StaticReshape, view.source, output, std::move(list));
    List& needed = graph_.nodes.back().list2;
    needed = graph_.values[view.source].dims;
    if (view.varies) needed[0] = 0;
  }

  uint32_t make(uint32_t like, Dims dims) {
    views_.emplace_back();
    return add_inner_value(&graph_, like, std::move(dims));
  }

  Graph& graph_;
  std::vector<Node> old_;
  std::vector<View> views_;  // by value; those without a source are not known yet
};

}  // namespace

void join_transposes(Graph* graph) {
  const auto is_transpose = [](const Node& node) { return node.kind == NodeKind::StaticTranspose; };
  if (std::none_of(graph->nodes.begin(), graph->nodes.end(), is_transpose)) return;
  Rewrite(graph).run();
  remove_dead_nodes(graph);
}

}  // namespace petrel::backends::xnnpack
