// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/assignment.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "exir/plan/model/score.h"
#include "exir/plan/search/ordering.h"
#include "exir/plan/search/packing.h"
#include "exir/plan/search/random.h"

namespace petrel::exir::plan {
namespace {

constexpr int kRepairs = 200;           // of an order in which something failed
constexpr int kDrift = 400;             // changes of the order
constexpr int64_t kInsertSteps = 2000;  // to pack a pool with one buffer more
constexpr int64_t kMaxCombinations = 4096;
constexpr int64_t kBuffersPerStep = 256;  // that are copied and counted

class Assigner {
 public:
  Assigner(const Problem& problem, const ConflictGraph& graph, const PoolChoices& choices,
           const BoundFinder& bounds, Effort* effort)
      : problem_(problem), graph_(graph), choices_(choices), bounds_(bounds), effort_(effort) {
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      all_.push_back(static_cast<BufferIdx>(i));
    }
    for (const BufferIdx a : all_) {
      for (const Edge* e = graph.begin(a); e != graph.end(a); ++e) {
        const Buffer& x = problem.buffers[a];
        const Buffer& y = problem.buffers[e->other];
        if (e->other < a || !x.offset.has_value() || !y.offset.has_value()) {
          continue;
        }
        const int64_t difference = *y.offset - *x.offset;
        if (e->low < difference && difference < e->high) {
          apart_.push_back({a, e->other});
        }
      }
    }
    price_ = 1 + (static_cast<int64_t>(all_.size()) + graph.num_edges()) / 64;
  }

  Assignment take() { return std::move(best_); }
  bool found() const { return best_.found; }

  void try_orderings() {
    std::vector<Placement> places(all_.size());
    int64_t visited = 0;
    for (const Ordering& ordering : all_orderings(problem_)) {
      const std::vector<BufferIdx> order = ordered(problem_, graph_, all_, ordering);
      for (const Fit fit : {Fit::kFirst, Fit::kBest}) {
        // Without any plan time is no reason to stop.
        const bool sure = !best_.found || visited < kSureVisits;
        if (!sure && effort_->late()) return;
        visited += static_cast<int64_t>(all_.size()) + graph_.num_edges();
        if (!place_in_order(problem_, graph_, choices_, order, fit, sure ? nullptr : effort_,
                            &places)) {
          continue;
        }
        if (offer(places, fit == Fit::kFirst ? "first fit by " : "best fit by ")) {
          best_.method += name_of(ordering);
          order_ = order;
        }
      }
    }
    if (best_.found) return;
    order_ = ordered(problem_, graph_, all_, all_orderings(problem_)[0]);
    for (int i = 0; i < kRepairs && effort_->spend(price_); ++i) {
      BufferIdx failed = -1;
      if (place_in_order(problem_, graph_, choices_, order_, Fit::kFirst, effort_, &places,
                         &failed)) {
        offer(places, "repaired order");
        return;
      }
      if (failed < 0) return;  // late
      const auto at = std::find(order_.begin(), order_.end(), failed);
      std::rotate(order_.begin(), at, at + 1);
    }
  }

  void drift() {
    Random random(0x706f6f6c73u);
    Score current = score_;
    std::vector<BufferIdx> changed;
    std::vector<Placement> places(all_.size());
    PoolChoices choices = choices_;
    for (int i = 0; i < kDrift && all_.size() > 1; ++i) {
      if (!effort_->spend(price_)) return;
      changed = order_;
      const auto from = random.below(static_cast<int64_t>(changed.size() - 1)) + 1;
      std::rotate(changed.begin() + random.below(from), changed.begin() + from,
                  changed.begin() + from + 1);
      // Now and then a buffer tries its pools in another order.
      const auto b = static_cast<size_t>(random.below(static_cast<int64_t>(choices.size())));
      const bool turn = choices[b].size() > 1 && random.chance(30);
      if (turn) {
        std::rotate(choices[b].begin(), choices[b].begin() + 1, choices[b].end());
      }
      const bool placed =
          place_in_order(problem_, graph_, choices, changed, Fit::kFirst, effort_, &places);
      const Score now = placed ? score(problem_, places) : Score();
      if (!placed || current < now) {
        if (turn) {
          std::rotate(choices[b].begin(), choices[b].end() - 1, choices[b].end());
        }
        continue;
      }
      current = now;
      order_ = changed;
      offer(places, "changed order");
    }
  }

  // Largest first, as long as anything moves.
  void move_to_preferred() {
    std::vector<BufferIdx> by_size = all_;
    std::stable_sort(by_size.begin(), by_size.end(), [&](BufferIdx a, BufferIdx b) {
      return problem_.buffers[a].size > problem_.buffers[b].size;
    });
    bool moved = true;
    while (moved) {
      moved = false;
      for (const BufferIdx b : by_size) {
        for (const PoolIdx pool : choices_[b]) {
          if (pool == best_.placements[b].pool) continue;
          // Of many buffers a look at all of them takes as long as some steps.
          if (!effort_->spend(static_cast<int64_t>(all_.size()) / kBuffersPerStep)) return;
          std::vector<Placement> places = best_.placements;
          places[b].pool = pool;
          if (!fixed_keep_apart(places)) continue;
          // Not even if it took no room at all?
          if (!(score(problem_, places) < score_) &&
              problem_.pools[best_.placements[b].pool].capacity.has_value()) {
            continue;
          }
          if (!effort_->spend(price_)) return;
          if (repack(pool, kInsertSteps, true, &places) &&
              repack(best_.placements[b].pool, kInsertSteps, false, &places) &&
              offer(places, "moved buffers")) {
            moved = true;
            break;
          }
        }
      }
    }
  }

  void pack_pools() {
    std::vector<Placement> places = best_.placements;
    best_.pool_bounds.assign(problem_.pools.size(), 0);
    const auto num_pools = static_cast<int64_t>(problem_.pools.size());
    for (int64_t p = 0; p < num_pools; ++p) {
      repack(static_cast<PoolIdx>(p), effort_->nodes_left() / (num_pools - p), false, &places,
             &best_.pool_bounds[p]);
    }
    const std::string method = best_.method;
    if (offer(places, "")) best_.method = method + ", packed";
  }

  // Whether all combinations of pools were decided.
  bool go_through_all() {
    int64_t combinations = 1;
    std::vector<BufferIdx> undecided;  // few: others have one pool, and need no call each
    std::vector<Placement> places(all_.size());
    for (const BufferIdx b : all_) {
      const std::vector<PoolIdx>& pools = choices_[b];
      combinations *= static_cast<int64_t>(pools.size());
      if (combinations > kMaxCombinations) return false;
      places[b] = {pools[0], 0};
      if (pools.size() > 1) undecided.push_back(b);
    }
    return combine(undecided, 0, &places);
  }

 private:
  bool offer(const std::vector<Placement>& places, const char* method) {
    const Score now = score(problem_, places);
    if (best_.found && !(now < score_)) return false;
    best_.found = true;
    best_.placements = places;
    best_.method = method;
    score_ = now;
    return true;
  }

  // Whether fixed offsets allow these pools.
  bool fixed_keep_apart(const std::vector<Placement>& places) const {
    return std::none_of(apart_.begin(), apart_.end(), [&](const Pair& pair) {
      return places[pair.first].pool == places[pair.second].pool;
    });
  }

  // Packs what `places` has in the pool; false if that exceeds its capacity.
  // With `tight`, the capacity is all that matters.
  bool repack(PoolIdx pool, int64_t steps, bool tight, std::vector<Placement>* places,
              int64_t* bound = nullptr) {
    std::vector<BufferIdx> members;
    std::vector<char> chosen(all_.size(), 0);
    int64_t peak = 0;
    for (const BufferIdx b : all_) {
      if ((*places)[b].pool != pool) continue;
      members.push_back(b);
      chosen[b] = 1;
      peak = std::max(peak, (*places)[b].offset + problem_.buffers[b].size);
    }
    const int64_t capacity = problem_.pools[pool].capacity.value_or(kMaxBytes);
    if (bounds_.bound(chosen) > capacity) return false;
    const int64_t target = tight ? problem_.pools[pool].capacity.value_or(0) : 0;
    Effort share = effort_->share(steps);
    const Packing packing = pack(problem_, graph_, members, target, &share);
    effort_->absorb(share);
    if (bound != nullptr) *bound = packing.lower_bound;
    if (packing.peak > capacity) return false;
    if (!tight && packing.peak >= peak) return true;
    for (size_t i = 0; i < members.size(); ++i) {
      (*places)[members[i]].offset = packing.offsets[i];
    }
    return true;
  }

  bool combine(const std::vector<BufferIdx>& undecided, size_t index,
               std::vector<Placement>* places) {
    if (index < undecided.size()) {
      bool decided = true;
      for (const PoolIdx pool : choices_[undecided[index]]) {
        (*places)[undecided[index]] = {pool, 0};
        decided = combine(undecided, index + 1, places) && decided;
      }
      return decided;
    }
    if (!effort_->spend(price_)) return false;
    if (!fixed_keep_apart(*places)) return true;
    // As if every pool could be packed to its bound.
    std::vector<int64_t> peak(problem_.pools.size(), 0);
    std::vector<char> chosen(all_.size(), 0);
    for (size_t p = 0; p < peak.size(); ++p) {
      for (const BufferIdx b : all_) {
        chosen[b] = (*places)[b].pool == static_cast<PoolIdx>(p);
      }
      peak[p] = bounds_.bound(chosen);
      if (peak[p] > problem_.pools[p].capacity.value_or(kMaxBytes)) return true;
    }
    if (best_.found && !(score(problem_, *places, peak) < score_)) return true;
    std::vector<int64_t> bound(peak.size(), 0);
    bool fits = true;
    for (size_t p = 0; p < peak.size(); ++p) {
      Effort share = effort_->share(effort_->nodes_left() / 8);
      std::vector<BufferIdx> members;
      for (const BufferIdx b : all_) {
        if ((*places)[b].pool == static_cast<PoolIdx>(p)) members.push_back(b);
      }
      const Packing packing = pack(problem_, graph_, members, 0, &share);
      effort_->absorb(share);
      for (size_t i = 0; i < members.size(); ++i) {
        (*places)[members[i]].offset = packing.offsets[i];
      }
      bound[p] = packing.lower_bound;
      fits = fits && packing.peak <= problem_.pools[p].capacity.value_or(kMaxBytes);
    }
    if (fits && offer(*places, "all combinations")) best_.pool_bounds = bound;
    // Nothing better can be in it, even if the packings were not the best.
    bool decided = false;
    for (size_t p = 0; p < peak.size(); ++p) {
      decided = decided || bound[p] > problem_.pools[p].capacity.value_or(kMaxBytes);
    }
    decided = decided || (best_.found && !(score(problem_, *places, bound) < score_));
    for (Placement& place : *places) place.offset = 0;
    return decided;
  }

  const Problem& problem_;
  const ConflictGraph& graph_;
  const PoolChoices& choices_;
  const BoundFinder& bounds_;
  Effort* effort_;
  std::vector<BufferIdx> all_;
  std::vector<Pair> apart_;  // fixed where they would collide in one pool
  std::vector<BufferIdx> order_;
  int64_t price_ = 1;
  Score score_;
  Assignment best_;
};

}  // namespace

Assignment assign(const Problem& problem, const ConflictGraph& graph, const PoolChoices& choices,
                  const BoundFinder& bounds, bool stop_when_found, Effort* effort) {
  Assigner assigner(problem, graph, choices, bounds, effort);
  assigner.try_orderings();
  if (assigner.found() && !stop_when_found && !effort->exhausted()) {
    assigner.drift();
    assigner.move_to_preferred();
  }
  if (assigner.found()) assigner.pack_pools();
  bool proven = false;
  if (!assigner.found() || !stop_when_found) {
    proven = assigner.go_through_all();
  }
  Assignment assignment = assigner.take();
  assignment.proven = proven;
  return assignment;
}

}  // namespace petrel::exir::plan
