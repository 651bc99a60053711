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
//      +---+    +---+    +---+    takes a buffer as the lowest of those not yet
//      | a |    |   b        |    placed, in one row or in all of its rows, or
//      +---+    +------------+    refutes that. What is lowest in all of its
//                                 rows is placed as low as it goes.
//
// * Propagation (search_propagate.cc) keeps, for every buffer, the lowest and
//   the highest offset that it can still have.
// * When a branch fails, the set of steps that the failure rests on tells how
//   far back to go; steps that it does not rest on are not tried again.
// * Once placed buffers separate the rows into independent stretches, these
//   are solved one after another and never again because of each other.
// * Nothing that is refuted outlives the steps it was refuted under: what is
//   known of a buffer may rest on any row, so that a set of buffers that failed
//   once may fit where other rows differ.
// * Plans that differ only by exchanging neighbours on the same rows are tried
//   in one order: the larger below.
//
//   Search search(problem, graph);
//   Search::Guide guide;
//   guide.priority = ...;
//   if (search.run(capacity, guide, 1000, &effort) ==
//       Search::Outcome::kFound) {
//     use(search.offsets());
//   }

#ifndef PETREL_EXIR_PLAN_SEARCH_SEARCH_H_
#define PETREL_EXIR_PLAN_SEARCH_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "exir/plan/model/conflict_graph.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/search/effort.h"
#include "exir/plan/search/reason.h"

namespace petrel::exir::plan {

class Search {
 public:
  enum class Outcome { kFound, kRefuted, kGaveUp };

  // How to choose between steps; changes the way to the answer only.
  struct Guide {
    // Of buffers that could be placed equally low the larger one goes first.
    std::vector<double> priority;
    // Part of the capacity by which buffers on the rows that failed most in
    // earlier runs count as lower than they are. 0: do not learn.
    double focus = 0;
    // Prefer to settle rows of which only two buffers can be the lowest.
    bool settle_pairs = false;
    // Members looked at by one propagation. Two buffers that cannot both stay
    // where they are may push each other up byte by byte; from then on only
    // what placing needs is done.
    int64_t max_visits = 100'000;
  };

  // Larger problems are not searched: steps would be slow, and each level of
  // the search takes about a kilobyte of stack.
  static constexpr size_t kMaxBuffers = 2048;

  // Keeps no reference. The problem has one pool.
  Search(const Problem& problem, const ConflictGraph& graph);

  // Of some, whose buffers may meet in part or wholly, rows would take minutes to find.
  // run() must not be called then.
  bool is_too_large() const { return looks_left_ < 0; }

  // Looks for offsets with all ends at most `capacity`. Gives up after
  // `node_limit` steps, or when the effort is exhausted.
  Outcome run(int64_t capacity, const Guide& guide, int64_t node_limit, Effort* effort);

  // After kFound.
  const std::vector<int64_t>& offsets() const { return offsets_; }

  // Whether kRefuted is a proof. It is not when buffers keep only a window of
  // themselves for a time: two such can interlock, so that none is lowest.
  bool proves() const { return proves_; }

  // Of all rows, those whose members need the capacity to the last unit.
  double share_of_full_rows(int64_t capacity) const;

  // Sizes and alignments are multiples of this, so peaks are as well.
  int64_t unit() const { return unit_; }

 private:
  struct Member {
    BufferIdx buffer;
    int64_t low, high;  // bytes of the buffer that the row needs
  };
  // The two smallest highest begins of unplaced members of a row: whatever
  // comes first must end by then.
  struct Deadlines {
    int64_t first = 0, second = 0;
    BufferIdx most_urgent = -1;

    int64_t of_others(BufferIdx buffer) const { return buffer == most_urgent ? second : first; }
  };
  // Which unplaced members of a row can be the lowest of them.
  struct Candidates {
    int32_t count = 0;
    BufferIdx first[2] = {-1, -1};
    int64_t lowest_start = 0, first_end = 0;  // the least of theirs
    Deadlines deadlines;

    bool operator==(const Candidates& other) const {
      return lowest_start == other.lowest_start && first_end == other.first_end &&
             deadlines.first == other.deadlines.first &&
             deadlines.second == other.deadlines.second && count == other.count &&
             first[0] == other.first[0] && first[1] == other.first[1] &&
             deadlines.most_urgent == other.deadlines.most_urgent;
    }
  };
  struct Row {
    int64_t rest = 0;       // bytes of members not yet placed
    int64_t floor = 0;      // end of the last one placed
    BufferIdx top = -1;     // the last one placed
    BufferIdx next = -1;    // the lowest of those not yet placed, once known
    int32_t count = 0;      // of those; they are the first in members_
    Candidates candidates;  // as the last propagation found them
    uint64_t saved_at = 0;
  };
  struct State {
    int64_t lowest = 0;  // offsets that it can still have
    int64_t highest = 0;
    int32_t rows_won = 0;  // rows of which it is `next`
    bool placed = false;
    bool refuted = false;  // as lowest in all rows, until one of them changes
    uint64_t saved_at = 0;
  };
  // Between two sections of time: what was born since needs the addresses of
  // what died since, but for what was free before; and the other way round.
  struct Boundary {
    int32_t before = 0, after = 0;  // rows
    std::vector<BufferIdx> died, born;
    // Where both rows are full, what was born fills exactly the addresses of
    // what died. When no part of the one is as large as a part of the other,
    // these addresses have no hole, and the others stay outside of them.
    bool one_block = false;
    std::vector<BufferIdx> stayed;
  };
  using Run = std::pair<int32_t, int32_t>;  // rows [first, last)
  // A member of the row being propagated: earliest and latest begin and end.
  struct Span {
    BufferIdx buffer;
    int64_t low, high;
    int64_t start, end;
    int64_t last_start, last_end;
  };
  // Whether the rest of the row fits above it, and it ends by when others must begin.
  static bool can_be_first(const Span& span, int64_t limit, const Deadlines& deadlines) {
    return span.start <= limit && span.end <= deadlines.of_others(span.buffer);
  }

  // Construction, search_rows.cc and search_block.cc.
  void build_rows(const Problem& problem, const ConflictGraph& graph);
  std::vector<std::vector<Member>> groups_apart(const std::vector<Member>& members,
                                                const ConflictGraph& graph);
  void note_settled(const std::vector<Member>& group, const ConflictGraph& graph,
                    std::vector<bool>* settled);
  void build_boundaries();
  void find_blocks();
  void index_rows();

  // State and the way back.
  void reset(int64_t capacity, const Guide& guide);
  Row& change_row(int32_t row);
  State& change(BufferIdx buffer);
  void undo_to(size_t rows_mark, size_t states_mark);

  // Facts, search_propagate.cc, search_boundary.cc and search_block.cc.
  bool fail(const Reason& reason);
  bool fail_in_row(int32_t row, const Reason& reason);
  bool raise(BufferIdx buffer, int64_t lowest, const Reason& reason);
  bool cap(BufferIdx buffer, int64_t highest, const Reason& reason);
  void set_next(int32_t row, BufferIdx buffer, const Reason& reason);
  bool place(BufferIdx buffer);
  bool refute(BufferIdx buffer, const Reason& failure);
  bool propagate();
  bool propagate_row(int32_t row);
  Deadlines deadlines_gathered() const;
  Candidates candidates_gathered(int32_t row) const;
  bool move_members(int32_t row, const Candidates& candidates);
  bool order_pairs(int32_t row);
  bool stack_below(int32_t row, const Span& span);
  bool stack_above(int32_t row, const Span& span);
  bool propagate_boundary(int32_t boundary);
  bool propagate_block(const Boundary& boundary);
  bool confine(const std::vector<BufferIdx>& buffers, const std::vector<BufferIdx>& space,
               int64_t free);
  void gather(int32_t row);
  void mark_dirty(int32_t row);
  void mark_buffer(BufferIdx buffer);
  void drop_queues();
  bool can_be_next(const Row& row, const Member& member) const;
  bool can_be_placed(BufferIdx buffer) const;
  bool dominated(BufferIdx buffer) const;
  Reason row_reason(int32_t row) const;

  // Steps.
  std::vector<Run> runs_left(Run run) const;
  BufferIdx choose_buffer(Run run) const;
  int32_t choose_pair(Run run, int64_t level) const;
  bool solve(Run run, int32_t level);
  bool solve_connected(Run run, int32_t level);
  bool settle_pair(int32_t row, Run run, int32_t level, bool* solved);
  bool try_buffer(BufferIdx buffer, Run run, int32_t level, bool* solved);
  int64_t rank(BufferIdx buffer) const { return states_[buffer].lowest - head_start_[buffer]; }

  // Fixed by the problem; bytes in multiples of unit_.
  int64_t unit_ = 1;
  bool proves_ = true;
  int64_t looks_left_ = int64_t{1} << 26;          // at pairs, to find rows: some seconds
  std::vector<int64_t> size_, alignment_, fixed_;  // fixed_: -1 if free
  std::vector<std::vector<Member>> members_;       // reordered by placing
  std::vector<std::vector<int32_t>> rows_of_;
  std::vector<Boundary> boundaries_;
  std::vector<std::vector<int32_t>> boundaries_of_;
  std::vector<int32_t> twins_;           // equal: may trade places on a row
  std::vector<BufferIdx> smaller_twin_;  // of equal size, must be lower; or -1

  // Learnt from run to run.
  std::vector<double> failures_;  // of rows

  // One run.
  int64_t capacity_ = 0;
  bool settle_pairs_ = false;
  int64_t max_visits_ = 0;
  std::vector<double> priority_;
  std::vector<int64_t> head_start_, row_head_start_;
  std::vector<Row> rows_;
  std::vector<Reason> row_why_;  // steps that placed members or settled `next`
  std::vector<State> states_;
  std::vector<Reason> why_;        // steps that bounds and `refuted` rest on
  std::vector<Reason> place_why_;  // of placed ones: why they are there
  std::vector<int64_t> total_;     // bytes of all members of a row
  std::vector<int32_t> across_;    // unplaced buffers on rows <= r and > r
  std::vector<int64_t> offsets_;
  std::vector<BufferIdx> won_;  // next in all of their rows, to be placed
  std::vector<int32_t> dirty_;  // rows to be propagated
  std::vector<char> is_dirty_;
  std::vector<int32_t> unordered_;  // rows for order_pairs(), when others rest
  std::vector<char> is_unordered_;
  std::vector<int32_t> open_boundaries_;
  std::vector<char> is_open_boundary_;
  std::vector<Span> spans_;
  std::vector<std::pair<int64_t, int64_t>> others_, from_below_, from_above_;
  Reason conflict_;  // why the last branch failed
  Run scope_;        // rows being solved; boundaries beyond them say nothing
  bool gave_up_ = false;
  bool tired_ = false;  // to propagate more than necessary
  int64_t nodes_left_ = 0;
  int64_t visited_ = 0;  // members, since the last step
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

#endif  // PETREL_EXIR_PLAN_SEARCH_SEARCH_H_
