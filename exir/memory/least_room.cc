// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/least_room.h"

#include <algorithm>
#include <cstddef>

namespace petrel::exir {
namespace {

class LeastRoom {
 public:
  LeastRoom(const Room& given, const std::vector<int64_t>& units, const TryRoom& attempt)
      : given_(given), units_(units), attempt_(attempt), room_(given) {}

  std::optional<Room> find() {
    if (!raise()) return std::nullopt;
    for (const size_t index : raised_) lower(index);
    return room_;
  }

 private:
  std::optional<Room> attempt_with(size_t index, int64_t bytes) const {
    Room room = room_;
    room[index] = bytes;
    return attempt_(room);
  }

  // Takes limits away, the last first, until it fits.
  bool raise() {
    for (size_t i = given_.size(); i-- > 0;) {
      if (given_[i] >= kNoLimit) continue;
      room_[i] = kNoLimit;
      raised_.push_back(i);
      used_ = attempt_(room_);
      if (used_.has_value()) return true;
    }
    return false;
  }

  // Finds neighbours of which the larger is enough; that smaller ones all fail is not asked.
  void lower(size_t index) {
    if (raised_.size() > 1 && is_enough(index, given_[index])) return;
    const int64_t unit = units_[index];
    int64_t fails = given_[index] / unit * unit;
    int64_t enough = find_enough(index, fails);
    int64_t tried = enough - unit;  // mostly the answer is what the free plan uses
    while (fails + unit < enough) {
      if (!is_enough(index, tried)) {
        fails = tried;
      } else {
        enough = tried;
        const int64_t used = std::max(round_up((*used_)[index], unit), fails + unit);
        if (used < enough) (is_enough(index, used) ? enough : fails) = used;
      }
      tried = fails + std::max(unit, (enough - fails) / 2 / unit * unit);
    }
    room_[index] = enough;
  }

  // Remembers what is used.
  bool is_enough(size_t index, int64_t bytes) {
    std::optional<Room> used = attempt_with(index, bytes);
    if (!used.has_value()) return false;
    used_ = std::move(used);
    room_[index] = bytes;
    return true;
  }

  // Room with which it fits, near what it used without a limit.
  int64_t find_enough(size_t index, int64_t fails) {
    const int64_t unit = units_[index];
    int64_t bytes = std::max(round_up((*used_)[index], unit), fails + unit);
    while (bytes < kNoLimit / 2 && !is_enough(index, bytes)) bytes = round_up(2 * bytes, unit);
    return bytes;
  }

  static int64_t round_up(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

  const Room& given_;
  const std::vector<int64_t>& units_;
  const TryRoom& attempt_;
  Room room_;                   // is enough, once raise() is through
  std::optional<Room> used_;    // of what fitted last
  std::vector<size_t> raised_;  // in that order
};

}  // namespace

std::optional<Room> least_room(const Room& given, const std::vector<int64_t>& units,
                               const TryRoom& attempt) {
  return LeastRoom(given, units, attempt).find();
}

}  // namespace petrel::exir
