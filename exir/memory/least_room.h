// SPDX-License-Identifier: Apache-2.0
//
// The least room in which something fits that did not, found by trying, so that what is said to be
// missing is true: what fits depends on gaps, alignment and on what runs row by row, which no sum
// of sizes tells.
//
//   room given   {3400, 65536}    does not fit
//   least_room() {3568, 65536}    fits, and with a unit less of what was raised it does not
//
// Of several limits the later are raised rather than the earlier, which are of faster memory.
#ifndef PETREL_EXIR_MEMORY_LEAST_ROOM_H_
#define PETREL_EXIR_MEMORY_LEAST_ROOM_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "exir/plan/model/problem.h"

namespace petrel::exir {

inline constexpr int64_t kNoLimit = plan::kMaxBytes;

// Bytes of each memory; kNoLimit: as many as are wanted.
using Room = std::vector<int64_t>;
// What is used of each within `room`; nullopt: it does not fit.
using TryRoom = std::function<std::optional<Room>(const Room& room)>;

// `given` is too small, and use of memory i goes by units[i]. nullopt when no limit is the reason.
// Tries some 30 rooms for each limit at most.
std::optional<Room> least_room(const Room& given, const std::vector<int64_t>& units,
                               const TryRoom& attempt);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_LEAST_ROOM_H_
