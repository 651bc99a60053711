// SPDX-License-Identifier: Apache-2.0
//
// What a search has refuted, so that it need not do so twice. Each state is held
// whole and compared whole: what is found here was refuted, whatever its hash.
// Once the memory for it is full, further states are not taken.
//
//   RefutedStates refuted;
//   refuted.add("abc");
//   refuted.contains("abc");  // true
#ifndef PETREL_EXIR_PLAN_SEARCH_REFUTED_STATES_H_
#define PETREL_EXIR_PLAN_SEARCH_REFUTED_STATES_H_

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>

namespace petrel::exir::plan {

class RefutedStates {
 public:
  // Enough for minutes of search.
  static constexpr size_t kMaxBytes = size_t{1} << 27;

  using Hash = std::function<size_t(const std::string&)>;

  // Another hash changes the time that a look takes, and nothing else.
  explicit RefutedStates(Hash hash = std::hash<std::string>(), size_t max_bytes = kMaxBytes)
      : states_(kFirstBuckets, std::move(hash)), max_bytes_(max_bytes) {}

  bool contains(const std::string& state) const { return states_.count(state) > 0; }
  void add(std::string state);
  void clear();

  size_t size() const { return states_.size(); }

 private:
  static constexpr size_t kFirstBuckets = 16;

  std::unordered_set<std::string, Hash> states_;
  size_t max_bytes_;
  size_t bytes_ = 0;
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_REFUTED_STATES_H_
