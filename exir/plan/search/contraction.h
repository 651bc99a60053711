// SPDX-License-Identifier: Apache-2.0
//
// Makes a problem smaller that leaves nothing free: where all memory is in use
// before and after an instant, what is born there takes exactly the addresses
// of what dies there, and sums of sizes tell much about who follows whom.
//
// Items are rectangles of buffers that keep their place among each other. At
// first every buffer is one; three rules join them without losing any plan
// that could not be had otherwise:
//
//      chain            stack               pinwheel
//      +---+---+        +-------+           +-------+--+
//      | d | b |        |   b   |           |   z   |  |
//      +---+---+        +-------+           +--+----+ w|
//                       |   a   |           |  | c  |  |
//      d is all that    +-------+           |  +----+--+
//      dies, b all                          |x |   y   |
//      that is born     a and b live        +--+-------+
//                       from and to the
//                       same blocks         forced by x = y + c, c + z = w
//
// A group is what dies and what is born at an instant as far as it is known to
// take the same addresses. It is a block, without a hole, if no subset of the one
// side is as large as a subset of the other. Otherwise subsets of equal size may
// lie apart: guess() decides for one possibility and may be wrong.
//
// Invariant: items partition the buffers; the groups of an instant partition
// what dies and what is born there.
//
//   std::optional<Contraction> items = Contraction::of(problem, capacity);
//   items->contract();
//   ... find offsets of items->reduced(), at most `capacity` ...
//   use(items->expanded(offsets));

#ifndef PETREL_EXIR_PLAN_SEARCH_CONTRACTION_H_
#define PETREL_EXIR_PLAN_SEARCH_CONTRACTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "exir/plan/model/conflict_graph.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/search/random.h"

namespace petrel::exir::plan {

class Contraction {
 public:
  // None for problems with fixed offsets, gaps, pairs of any kind or
  // alignments that do not divide all sizes, and where no instant has all of
  // `capacity` in use on both sides.
  static std::optional<Contraction> of(const Problem& problem, const ConflictGraph& graph,
                                       int64_t capacity);

  // Applies the rules until none applies: the buffers have a plan within the
  // capacity if and only if the items have one.
  void contract();

  // Guesses that all that live from and to the same instants can be stacked,
  // and contracts: few do by chance where instants are many.
  void trust_twins();

  // Takes apart, or declares to be a block, a group that could be either, and
  // contracts: the likeliest, or if `daring`, one drawn by the chances that they
  // have. False when there is nothing to guess.
  bool guess(Random* random, bool daring);

  size_t num_items() const { return num_alive_; }
  // Members of groups looked at since the begin, the price of all this.
  int64_t visited() const { return visited_; }

  // Items as buffers of one pool.
  Problem reduced() const;
  // From offsets of items to offsets of buffers.
  std::vector<int64_t> expanded(const std::vector<int64_t>& offsets) const;

 private:
  using ItemIdx = int32_t;
  using GroupIdx = int32_t;

  struct Item {
    Interval time;
    int64_t size = 0;
    GroupIdx born_in = -1, dies_in = -1;
    bool alive = true;
  };
  // Which items an item was made of, and how far above its begin they are.
  using Pieces = std::vector<std::pair<ItemIdx, int64_t>>;
  // One bit for each that died, then one for each that was born.
  using Mask = uint32_t;
  struct Group {
    std::vector<ItemIdx> died, born;
    bool tight = false;  // both sides take the same addresses
    bool wall = false;   // the begin or the end of all: one side is empty
    bool analyzed = false;
    bool too_large = false;           // to know its equal subsets
    std::vector<Mask> equal_subsets;  // of equal size on both sides, proper
  };

  // One way to see a group: with a subset that lies apart, or as a block.
  struct Option {
    Mask mask = 0;
    double chance = 0;
  };

  Contraction() = default;

  void analyze(Group* group);
  bool separable(const Group& group, ItemIdx a, ItemIdx b) const;
  ItemIdx add_item(const Item& item, Pieces pieces);
  void retire(ItemIdx item);
  bool join_chain(GroupIdx group);
  bool join_stacks();
  bool join_pinwheel(ItemIdx center);
  std::vector<Mask> minimal_subsets(const Group& group) const;
  std::vector<Option> options(const Group& group) const;
  void split(GroupIdx group, Mask mask);

  const Problem* problem_ = nullptr;
  int64_t unit_ = 1;
  std::vector<Item> items_;  // the first are the buffers
  std::vector<Pieces> pieces_;
  std::vector<Group> groups_;
  size_t num_alive_ = 0;
  int64_t visited_ = 0;
  bool trust_twins_ = false;
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_CONTRACTION_H_
