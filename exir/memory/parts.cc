// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/parts.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "exir/memory/byte_groups.h"
#include "exir/memory/owned_outputs.h"
#include "exir/memory/storage.h"
#include "exir/ops/handles.h"

namespace petrel::exir {
namespace {

std::optional<size_t> dim_of(const Node& node, size_t rank) {
  if (!node.argument(arg::dim).is_int()) return std::nullopt;
  int64_t dim = node.argument(arg::dim).as_int();
  if (dim < 0) dim += static_cast<int64_t>(rank);
  if (dim < 0 || dim >= static_cast<int64_t>(rank)) return std::nullopt;
  return static_cast<size_t>(dim);
}

// Nothing but elements side by side along `dim` moves.
bool is_outermost(const TensorType& type, size_t dim) {
  return type.is_contiguous() &&
         std::all_of(type.sizes.begin(), type.sizes.begin() + static_cast<ptrdiff_t>(dim),
                     [](int64_t size) { return size == 1; });
}

// An operand of a join and the bytes it has in the result.
struct Slot {
  size_t item = 0;  // of the list of operands
  Value* value = nullptr;
  int64_t offset = 0;
  int64_t bytes = 0;
  int number = -1;  // of its root; -1 when it has no place of its own
  bool is_placed = false;
};

// Every operand is compared with all others; of more the kernel moves the bytes.
constexpr size_t kMostOperands = 1024;

// The operands of a cat or stack along the outermost dim; none for other nodes.
std::vector<Slot> slots_of(const Node& node) {
  if (!node.is(aten::stack, aten::cat) || !node.argument(arg::tensors).is_list()) return {};
  const TensorType& whole = node.result()->tensor();
  const std::optional<size_t> dim = dim_of(node, whole.rank());
  const Argument::List& items = node.argument(arg::tensors).as_list();
  if (!dim || !is_outermost(whole, *dim) || items.size() > kMostOperands) return {};
  std::vector<Slot> slots;
  int64_t offset = 0;
  for (const Argument& item : items) {
    Slot slot;
    if (!item.is_value()) return {};
    slot.item = slots.size();
    slot.value = item.value();
    const TensorType& type = slot.value->tensor();
    if (type.dtype != whole.dtype || !type.is_contiguous()) return {};
    slot.offset = offset;
    slot.bytes = type.nbytes();
    offset += slot.bytes;
    slots.push_back(slot);
  }
  if (offset != whole.nbytes() || offset == 0) return {};
  return slots;
}

// Where the result of a slice, narrow or select along the outermost dim begins
// in its operand; nothing for other nodes.
std::optional<int64_t> cut_offset(const Node& node) {
  const bool is_slice = node.is(aten::slice_Tensor, aten::slice_copy_Tensor);
  if (!is_slice &&
      !node.is(aten::narrow, aten::narrow_copy, aten::select_int, aten::select_copy_int)) {
    return std::nullopt;
  }
  const TensorType& whole = node.input(arg::self)->tensor();
  const TensorType& part = node.result()->tensor();
  const std::optional<size_t> dim = dim_of(node, whole.rank());
  if (!dim || !is_outermost(whole, *dim) || !part.is_contiguous() || part.dtype != whole.dtype ||
      part.nbytes() == 0) {
    return std::nullopt;
  }
  int64_t start = 0;
  const Argument& given = node.argument(arg::start, arg::index);
  if (!given.is_none()) {
    if (!given.is_int()) return std::nullopt;
    start = given.as_int();
  }
  if (is_slice && node.argument(arg::step) != Argument(int64_t{1})) return std::nullopt;
  const int64_t size = whole.sizes[*dim];
  if (start < 0) start = std::max<int64_t>(0, start + size);
  const int64_t offset = start * (whole.nbytes() / size);
  if (offset + part.nbytes() > whole.nbytes()) return std::nullopt;
  return offset;
}

class Placer {
 public:
  Placer(Graph& graph, bool io_apart) : graph_(graph), storage_(graph), io_apart_(io_apart) {
    for (const Value* output : graph.outputs()) {
      output_roots_.insert(storage_.root(output));
    }
    for (Node* node : graph.node_pointers()) {
      if (keeps_elements_in_order(*node)) continue;
      std::vector<Slot> slots = slots_of(*node);
      if (!slots.empty()) {
        join(node, std::move(slots));
      } else if (const auto offset = cut_offset(*node)) {
        cut(*node, *offset);
      }
    }
  }

  Parts take() {
    std::unordered_map<int, int> anchors;  // by the first member of a group
    for (size_t i = 0; i < roots_.size(); ++i) {
      const int number = static_cast<int>(i);
      if (roots_[i] == nullptr || groups_.members(number).size() < 2) continue;
      const auto [known, is_new] = anchors.emplace(groups_.members(number).front(), number);
      if (is_new) known->second = anchor_of(number);
      const int anchor = known->second;
      if (anchor == number) continue;
      parts_.list.push_back(
          {roots_[static_cast<size_t>(anchor)], roots_[i], groups_.distance(anchor, number)});
    }
    return std::move(parts_);
  }

 private:
  int add(const Value* root, bool is_written) {
    const int number = groups_.add(root->tensor().nbytes(), is_written);
    roots_.push_back(root);
    numbers_[root] = number;
    const bool is_output = output_roots_.count(root) != 0;
    // What is both lies with nothing.
    const bool is_apart = io_apart_ && (root->is_input() || is_output);
    if (root->is_input() || is_apart) groups_.mark_input(number);
    if (is_output || is_apart) groups_.mark_output(number);
    return number;
  }

  // Of the root of `value`; -1 for constants and state, which lie elsewhere.
  int number_of(const Value* value) {
    const Value* root = storage_.root(value);
    if (root->is_constant()) return -1;
    const auto known = numbers_.find(root);
    return known != numbers_.end() ? known->second : add(root, true);
  }

  void drop(const Value* root) {
    roots_[static_cast<size_t>(numbers_.at(root))] = nullptr;
    numbers_.erase(root);
  }

  void join(Node* node, std::vector<Slot> slots) {
    for (Slot& slot : slots) slot.number = number_of(slot.value);
    const Value* whole = node->result();
    const int number = add(whole, false);
    std::vector<Slot*> by_size;
    for (Slot& slot : slots) by_size.push_back(&slot);
    std::stable_sort(by_size.begin(), by_size.end(),
                     [](Slot* a, Slot* b) { return a->bytes > b->bytes; });
    int64_t placed_bytes = 0;
    for (Slot* slot : by_size) {
      if (!slot->is_placed) place(number, slot, slots);
      if (slot->is_placed) placed_bytes += slot->bytes;
    }
    if (placed_bytes == 0) {
      drop(whole);  // an instruction writes it
      return;
    }
    for (const Slot& slot : slots) {
      if (slot.bytes > 0 && !slot.is_placed) copy_into(node, slot, number);
    }
    parts_.elided.insert(node);
    parts_.elided_bytes += placed_bytes;
  }

  // Puts `slot` into the join `whole`, and with it all operands that already
  // lie rightly beside it.
  void place(int whole, Slot* slot, std::vector<Slot>& slots) {
    if (slot->number < 0 || slot->bytes == 0) return;
    const auto comes_along = [&](const Slot& other) {
      return other.number >= 0 && other.bytes > 0 &&
             groups_.are_together(slot->number, other.number) &&
             groups_.distance(slot->number, other.number) == other.offset - slot->offset;
    };
    std::vector<ByteGroups::Range> reserved;
    for (const Slot& other : slots) {
      if (other.is_placed || comes_along(other)) continue;
      reserved.push_back({other.offset, other.offset + other.bytes});
    }
    if (!groups_.can_unite(whole, slot->number, slot->offset, reserved)) return;
    for (Slot& other : slots) other.is_placed |= comes_along(other);
    groups_.unite(whole, slot->number, slot->offset);
  }

  // Nobody else writes the bytes that were reserved for `slot`.
  void copy_into(Node* node, const Slot& slot, int whole) {
    Node* copy = insert_copy_before(graph_, node, slot.value);
    Argument::List items = node->argument(arg::tensors).as_list();
    items[slot.item] = Argument(copy->result());
    node->set_argument(0, Argument(std::move(items)));
    groups_.unite(whole, add(copy->result(), true), slot.offset);
  }

  void cut(const Node& node, int64_t offset) {
    const int whole = number_of(node.input(arg::self));
    if (whole < 0) return;
    const Value* result = node.result();
    const int part = add(result, false);
    if (!groups_.can_unite(whole, part, offset, {})) {
      drop(result);
      return;
    }
    groups_.unite(whole, part, offset);
    parts_.elided.insert(&node);
    parts_.elided_bytes += result->tensor().nbytes();
  }

  // The root that begins first; the largest of those, then the first made.
  int anchor_of(int number) const {
    int best = number;
    for (const int member : groups_.members(number)) {
      const Value* root = roots_[static_cast<size_t>(member)];
      if (root == nullptr) continue;
      const int64_t distance = groups_.distance(best, member);
      const int64_t larger =
          root->tensor().nbytes() - roots_[static_cast<size_t>(best)]->tensor().nbytes();
      if (distance < 0 || (distance == 0 && larger > 0) ||
          (distance == 0 && larger == 0 && member < best)) {
        best = member;
      }
    }
    return best;
  }

  Graph& graph_;
  const Storage storage_;
  const bool io_apart_;
  std::unordered_set<const Value*> output_roots_;
  ByteGroups groups_;
  std::vector<const Value*> roots_;  // by number; null when given up
  std::unordered_map<const Value*, int> numbers_;
  Parts parts_;
};

// Whether offsets inside of other tensors are the same in every call.
bool is_straight_and_fixed(const Graph& graph) {
  const auto varies = [](const Value* value) { return value->type().is_dynamic(); };
  if (std::any_of(graph.inputs().begin(), graph.inputs().end(), varies)) {
    return false;
  }
  for (const auto& node : graph.nodes()) {
    if (!node->regions().empty()) return false;
    for (size_t i = 0; i < node->num_results(); ++i) {
      if (varies(node->result(i))) return false;
    }
  }
  return true;
}

}  // namespace

Parts place_parts(Graph& graph, bool io_apart) {
  if (!is_straight_and_fixed(graph)) return Parts();
  return Placer(graph, io_apart).take();
}

}  // namespace petrel::exir
