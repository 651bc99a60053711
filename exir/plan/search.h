// SPDX-License-Identifier: Apache-2.0
//
// Exact search: does a connected set of buffers fit below a given capacity?
//
// A row is a set of buffers of which no two may share an address: all buffers
// alive at one time, or two in extra conflict. In every row the buffers stand
// one above the other, so a plan is an order for each row:
//
//      row 0    row 1    row 2
//      +---+    +---+
//      | c |    | c |             The search fills all rows from below. A step
//      +---+    +---+    +---+    places a buffer that is the lowest not yet
//      | a |    |   b        |    placed in all of its rows, at the lowest
//      +---+    +------------+    offset possible, or refutes that.
//
// For every buffer the lowest offset that it can still have is kept up to
// date: a row whose unplaced buffers would no longer fit above b cannot have b
// next; what cannot be next in some row lies above the end of another that
// can. When a branch fails, the set of steps that the failure rests on tells
// how far back to go; steps that it does not rest on are not tried again.
// Once placed buffers separate the rows into independent stretches, these are
// solved one after another and never again because of each other.
//
// Plans that differ only by exchanging neighbours on the same rows are tried
// in one order: the larger below.

#ifndef PETREL_EXIR_PLAN_SEARCH_H_
#define PETREL_EXIR_PLAN_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "exir/plan/conflict_graph.h"
#include "exir/plan/effort.h"
#include "exir/plan/problem.h"
#include "exir/plan/reason.h"

namespace petrel::exir::plan {

class Search {
 public:
  enum class Outcome { kFound, kRefuted, kGaveUp };

  // Larger problems are not searched: steps would be too slow.
  static constexpr size_t kMaxBuffers = 4096;

  // Keeps no reference. The problem has one pool.
  Search(const Problem& problem, const ConflictGraph& graph);

  // Looks for offsets with all ends at most `capacity`. Of buffers that could
  // be placed equally low the one with the larger priority is tried first.
  // Gives up after `node_limit` steps, or when the effort is exhausted.
  Outcome run(int64_t capacity, const std::vector<double>& priority,
              int64_t node_limit, Effort* effort);

  // After kFound.
  const std::vector<int64_t>& offsets() const { return offsets_; }

  // Whether kRefuted is a proof. It is not when buffers keep only a window of
  // themselves for a time: two such can interlock, so that none is lowest.
  bool proves() const { return proves_; }

 private:
  struct Member {
    BufferIdx buffer;
    int64_t low, high;  // bytes of the buffer that the row needs
  };
  struct Row {
    int64_t rest = 0;      // bytes of members not yet placed
    int32_t count = 0;     // of those; they are the first in members_
    BufferIdx next = -1;   // the lowest of them, once known
    BufferIdx top = -1;    // the last one placed
    uint64_t saved_at = 0;
  };
  struct State {
    int64_t lowest = 0;    // offset that it can still have
    int32_t rows_won = 0;  // rows of which it is `next`
    bool placed = false;
    bool refuted = false;  // as lowest in all rows, until one of them changes
    uint64_t saved_at = 0;
  };

  void build_rows(const Problem& problem, const ConflictGraph& graph);
  void index_rows();
  void reset(int64_t capacity);

  Row& change_row(int32_t row);
  State& change(BufferIdx buffer);
  void undo_to(size_t rows_mark, size_t states_mark);

  bool fail(const Reason& reason);
  bool raise(BufferIdx buffer, int64_t lowest, const Reason& reason);
  void set_next(int32_t row, BufferIdx buffer, const Reason& reason);
  bool place(BufferIdx buffer);
  bool refute(BufferIdx buffer, const Reason& reason);
  bool propagate();
  bool propagate_row(int32_t row);
  void mark_dirty(int32_t row);
  void drop_queues();

  bool can_be_next(int32_t row, const Member& member) const;
  bool can_be_placed(BufferIdx buffer) const;
  bool dominated(BufferIdx buffer) const;
  Reason row_reason(int32_t row) const;
  BufferIdx choose(int32_t first_row, int32_t last_row) const;
  std::vector<std::pair<int32_t, int32_t>> stretches_left(
      int32_t first_row, int32_t last_row) const;
  bool solve(int32_t first_row, int32_t last_row, int32_t level);
  bool step();

  // Fixed by the problem; bytes in multiples of unit_.
  int64_t unit_ = 1;
  bool proves_ = true;
  std::vector<int64_t> size_, alignment_, fixed_;  // fixed_: -1 if free
  std::vector<std::vector<Member>> members_;       // reordered by placing
  std::vector<std::vector<int32_t>> rows_of_;
  std::vector<char> row_has_fixed_;
  std::vector<int32_t> twins_;           // equal: may trade places on a row
  std::vector<BufferIdx> smaller_twin_;  // of equal size, must be lower; or -1

  // One run.
  int64_t capacity_ = 0;
  std::vector<double> priority_;
  std::vector<Row> rows_;
  std::vector<Reason> row_why_;  // steps that placed members or settled `next`
  std::vector<State> states_;
  std::vector<Reason> why_;      // steps that `lowest` and `refuted` rest on
  std::vector<int32_t> across_;  // unplaced buffers on rows <= r and > r
  std::vector<int64_t> offsets_;
  std::vector<BufferIdx> won_;   // next in all of their rows, to be placed
  std::vector<int32_t> dirty_;
  std::vector<char> is_dirty_;
  Reason conflict_;              // why the last branch failed
  bool gave_up_ = false;
  int64_t nodes_left_ = 0;
  Effort* effort_ = nullptr;

  // What rows and buffers were before their first change since the last
  // choice.
  struct OldRow {
    int32_t index;
    Row row;
    Reason why;
  };
  struct OldState {
    BufferIdx index;
    State state;
    Reason why;
  };
  uint64_t choice_ = 0;
  std::vector<OldRow> old_rows_;
  std::vector<OldState> old_states_;
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_H_
