// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/cells.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/slice_run.h"

namespace petrel::backends::xnnpack {
namespace {

// Fewer nodes are not worth it; more are several cells.
constexpr size_t kLeastSteps = 3;
constexpr size_t kMostSteps = 64;
// One thread computes a cell, and several a node that has many times as many.
constexpr uint64_t kMostElements = 4096;

std::optional<petrel_cell_function> function_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::Add:
      return petrel_cell_add;
    case NodeKind::Subtract:
      return petrel_cell_subtract;
    case NodeKind::Multiply:
      return petrel_cell_multiply;
    case NodeKind::Div:
      return petrel_cell_divide;
    case NodeKind::Maximum:
      return petrel_cell_maximum;
    case NodeKind::Minimum:
      return petrel_cell_minimum;
    case NodeKind::Abs:
      return petrel_cell_abs;
    case NodeKind::Exp:
      return petrel_cell_exp;
    case NodeKind::Negate:
      return petrel_cell_negate;
    case NodeKind::Sigmoid:
      return petrel_cell_sigmoid;
    case NodeKind::Square:
      return petrel_cell_square;
    case NodeKind::Tanh:
      return petrel_cell_tanh;
    default:
      return std::nullopt;
  }
}

enum class Role : uint8_t { kOther, kStep, kView };

// Elements of a value, one after the other.
struct Run {
  uint32_t value = kNoId;
  uint64_t first = 0;
  size_t node = SIZE_MAX;  // the slice or reshape that reads the value; none of a whole value
};

// Runs of scratch that are free again are taken again.
class Scratch {
 public:
  size_t take(uint64_t bytes) {
    constexpr uint64_t kAlignment = 64;
    const auto size = static_cast<size_t>((bytes + kAlignment - 1) / kAlignment * kAlignment);
    size_t place = 0;
    auto next = taken_.begin();
    for (; next != taken_.end() && next->first - place < size; ++next) {
      place = next->first + next->second;
    }
    taken_.insert(next, {place, size});
    end_ = std::max(end_, place + size);
    return place;
  }

  void give_back(size_t place) {
    taken_.erase(std::find_if(taken_.begin(), taken_.end(),
                              [place](const auto& of) { return of.first == place; }));
  }

  // With what kernels may read behind the last element.
  size_t bytes() const {
    constexpr size_t kReadBehind = 128;
    return end_ == 0 ? 0 : end_ + kReadBehind;
  }

 private:
  std::vector<std::pair<size_t, size_t>> taken_;  // place and size, in order of places
  size_t end_ = 0;
};

}  // namespace

petrel_cell Cell::program(const Graph& graph) const {
  petrel_cell program = {};
  program.steps = steps_.data();
  program.num_steps = steps_.size();
  program.scratch_bytes = scratch_bytes_;
  program.num_inputs = static_cast<uint32_t>(inputs_.size());
  program.num_outputs = static_cast<uint32_t>(outputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    program.input_bytes[i] = static_cast<size_t>(count_bytes(graph.values[inputs_[i]]));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    program.output_bytes[i] = static_cast<size_t>(count_bytes(graph.values[outputs_[i]]));
  }
  return program;
}

class CellMaker {
 public:
  explicit CellMaker(const Graph& graph)
      : graph_(graph),
        roles_(graph.nodes.size(), Role::kOther),
        runs_(graph.values.size()),
        uses_(graph.values.size(), 0),
        uses_inside_(graph.values.size(), 0),
        group_(graph.values.size(), 0),
        is_extended_(graph.values.size(), false) {
    cells_.of_node.assign(graph.nodes.size(), kStaysNode);
  }

  Cells make() {
    for (uint32_t id = 0; id < runs_.size(); ++id) runs_[id] = {id, 0, SIZE_MAX};
    for (size_t i = 0; i < graph_.nodes.size(); ++i) roles_[i] = role_of(i);
    count_uses();
    size_t begin = 0;
    for (size_t i = 0; i <= roles_.size(); ++i) {
      if (i < roles_.size() && roles_[i] != Role::kOther) continue;
      divide(begin, i);
      begin = i + 1;
    }
    if (cells_.cells.empty()) return {};
    leave_out_views();
    count_more_bytes();
    for (const Cell& cell : cells_.cells) cells_.programs.push_back(cell.program(graph_));
    return std::move(cells_);
  }

 private:
  const Dims& dims(uint32_t id) const { return graph_.values[id].dims; }
  bool is_float(uint32_t id) const {
    return id != kNoId && graph_.values[id].datatype == Datatype::FP32;
  }

  // Says where the elements of a view are, too.
  Role role_of(size_t index) {
    const Node& node = graph_.nodes[index];
    const uint32_t out = node.outputs[0];
    const bool is_of_floats =
        is_float(out) && std::all_of(node.inputs.begin(), node.inputs.end(),
                                     [&](uint32_t id) { return is_float(id); });
    if (!is_of_floats || node.outputs.size() != 1 || node.inputs.empty()) return Role::kOther;
    if (const std::optional<uint64_t> first = first_of_view(node)) {
      const Run& of = runs_[node.inputs[0]];
      runs_[out] = {of.value, of.first + *first, std::min(of.node, index)};
      return Role::kView;
    }
    const uint64_t elements = count_elements(dims(out));
    const bool has_sizes = std::all_of(node.inputs.begin(), node.inputs.end(), [&](uint32_t id) {
      return count_elements(dims(id)) == elements;
    });
    const bool is_step = function_of(node.kind) && node.is_unbounded() && has_sizes &&
                         elements > 0 && elements <= kMostElements;
    return is_step ? Role::kStep : Role::kOther;
  }

  // The first element of its input that a view has, if its elements follow each other there.
  std::optional<uint64_t> first_of_view(const Node& node) const {
    if (find_node_kind(node.kind)->family == NodeFamily::kReshape) return 0;
    return first_of_run(graph_, node);
  }

  // Of what is no view, through views and directly, and by who reads the graph's outputs.
  void count_uses() {
    for (size_t i = 0; i < roles_.size(); ++i) {
      if (roles_[i] == Role::kView) continue;
      for (const uint32_t id : graph_.nodes[i].inputs) {
        if (id != kNoId) ++uses_[runs_[id].value];
      }
    }
    for (uint32_t id = 0; id < runs_.size(); ++id) {
      if (graph_.values[id].is_output()) ++uses_[runs_[id].value];
    }
  }

  // Cells of the nodes from `begin` to before `end`, which are steps and views.
  void divide(size_t begin, size_t end) {
    std::vector<size_t> steps;
    for (size_t i = begin; i < end; ++i) {
      if (roles_[i] == Role::kStep) steps.push_back(i);
    }
    for (size_t i = 0; i < steps.size();) {
      const size_t count = count_steps(&steps[i], std::min(steps.size() - i, kMostSteps));
      if (count < kLeastSteps) {
        begin = steps[i++] + 1;
        continue;
      }
      make_cell(&steps[i], count, begin);
      i += count;
      begin = steps[i - 1] + 1;
    }
  }

  // How many of these steps may be one cell: XNNPACK's nodes have few inputs and outputs.
  size_t count_steps(const size_t* steps, size_t most) {
    ++number_;
    size_t best = 0;
    size_t open = 0;  // values that are read elsewhere, so far
    std::vector<uint32_t> inputs;
    for (size_t k = 0; k < most && inputs.size() <= PETREL_CELL_MAX_INPUTS; ++k) {
      const Node& node = graph_.nodes[steps[k]];
      for (const uint32_t id : node.inputs) {
        const uint32_t of = runs_[id].value;
        if (group_[of] == number_) {
          open -= ++uses_inside_[of] == uses_[of] ? 1 : 0;
        } else if (std::find(inputs.begin(), inputs.end(), of) == inputs.end()) {
          inputs.push_back(of);
        }
      }
      add_to_group(node.outputs[0]);
      open += uses_[node.outputs[0]] > 0 ? 1 : 0;
      const bool fits =
          inputs.size() <= PETREL_CELL_MAX_INPUTS && open > 0 && open <= PETREL_CELL_MAX_OUTPUTS;
      if (fits) best = k + 1;
    }
    return best;
  }

  void add_to_group(uint32_t value) {
    group_[value] = number_;
    uses_inside_[value] = 0;
  }

  // `begin`: behind it are nothing but views before the first step.
  void make_cell(const size_t* steps, size_t count, size_t begin) {
    ++number_;
    Cell cell;
    for (size_t k = 0; k < count; ++k) {
      const Node& node = graph_.nodes[steps[k]];
      cells_.of_node[steps[k]] = k == 0 ? static_cast<uint32_t>(cells_.cells.size()) : kNoNode;
      for (const uint32_t id : node.inputs) {
        const Run& run = runs_[id];
        if (group_[run.value] == number_) {
          ++uses_inside_[run.value];
          continue;
        }
        if (run.node < begin) is_extended_[run.value] = true;
        if (!contains(cell.inputs_, run.value)) cell.inputs_.push_back(run.value);
      }
      add_to_group(node.outputs[0]);
    }
    for (size_t k = 0; k < count; ++k) {
      const uint32_t out = graph_.nodes[steps[k]].outputs[0];
      if (uses_inside_[out] < uses_[out]) cell.outputs_.push_back(out);
    }
    add_steps(steps, count, &cell);
    cells_.cells.push_back(std::move(cell));
  }

  void add_steps(const size_t* steps, size_t count, Cell* cell) {
    Scratch scratch;
    std::vector<std::pair<uint32_t, size_t>> places;  // of values in scratch
    const auto place_of = [&](uint32_t id) {
      return std::find_if(places.begin(), places.end(),
                          [id](const auto& of) { return of.first == id; });
    };
    const auto run_of = [&](uint32_t id) -> petrel_cell_run {
      const Run& run = runs_[id];
      const auto offset = static_cast<size_t>(run.first * sizeof(float));
      const auto place = place_of(run.value);
      if (place != places.end()) return {petrel_cell_scratch, 0, place->second + offset};
      if (contains(cell->outputs_, run.value)) {
        return {petrel_cell_output, index_in(cell->outputs_, run.value), offset};
      }
      return {petrel_cell_input, index_in(cell->inputs_, run.value), offset};
    };
    for (size_t k = 0; k < count; ++k) {
      const Node& node = graph_.nodes[steps[k]];
      const uint32_t out = node.outputs[0];
      const uint64_t bytes = count_bytes(graph_.values[out]);
      petrel_cell_step step = {};
      step.function = *function_of(node.kind);
      step.bytes = static_cast<size_t>(bytes);
      step.a = run_of(node.inputs[0]);
      if (node.inputs.size() > 1) step.b = run_of(node.inputs[1]);
      if (!contains(cell->outputs_, out)) places.emplace_back(out, scratch.take(bytes));
      step.y = run_of(out);
      cell->steps_.push_back(step);
      // What is not read again makes room for the outputs of later steps.
      for (const uint32_t id : node.inputs) {
        const auto place = place_of(runs_[id].value);
        if (place == places.end() || --uses_inside_[place->first] > 0) continue;
        scratch.give_back(place->second);
        places.erase(place);
      }
    }
    cell->scratch_bytes_ = scratch.bytes();
  }

  // Those that nothing but cells reads.
  void leave_out_views() {
    std::vector<bool> is_read(graph_.values.size());
    for (size_t id = 0; id < is_read.size(); ++id) is_read[id] = graph_.values[id].is_output();
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      if (cells_.of_node[i] != kStaysNode) continue;
      if (roles_[i] == Role::kView && !is_read[node.outputs[0]]) {
        cells_.of_node[i] = kNoNode;
        continue;
      }
      for (const uint32_t id : node.inputs) {
        if (id != kNoId) is_read[id] = true;
      }
    }
  }

  // A cell's outputs and scratch are there as long as its inputs, and what was copied from an
  // array before is read where it is.
  void count_more_bytes() {
    uint64_t most = 0;
    for (const Cell& cell : cells_.cells) {
      uint64_t sum = cell.scratch_bytes_;
      for (const uint32_t id : cell.outputs_) sum += count_bytes(graph_.values[id]);
      most = std::max(most, sum);
    }
    cells_.more_bytes = most;
    for (uint32_t id = 0; id < is_extended_.size(); ++id) {
      const Value& value = graph_.values[id];
      const bool is_inner = value.flags == 0 && !value.is_constant();
      if (is_extended_[id] && is_inner) cells_.more_bytes += count_bytes(value);
    }
  }

  static bool contains(const std::vector<uint32_t>& ids, uint32_t id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  }
  static uint32_t index_in(const std::vector<uint32_t>& ids, uint32_t id) {
    return static_cast<uint32_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
  }

  const Graph& graph_;
  std::vector<Role> roles_;
  // By value: where its elements are; how often what is no view is read, and by the steps of the
  // group; the number of the group that makes it; whether cells read it later than nodes would.
  std::vector<Run> runs_;
  std::vector<uint32_t> uses_;
  std::vector<uint32_t> uses_inside_;
  std::vector<uint32_t> group_;
  std::vector<bool> is_extended_;
  uint32_t number_ = 0;
  Cells cells_;
};

Cells find_cells(const Graph& graph) { return CellMaker(graph).make(); }

}  // namespace petrel::backends::xnnpack
