// SPDX-License-Identifier: Apache-2.0
//
// How large a table may be that a rewrite computes from sizes: an archive may state any
// size in a few bytes, and nothing that it states may take memory or time without end.
//
//   const TableScope scope;                             // apply_rewrites() has one
//   PETREL_RETURN_IF_ERROR(check_table({rows, columns}));
//   std::vector<double> places;
#ifndef PETREL_EXIR_PASS_FRAMEWORK_TABLE_LIMIT_H_
#define PETREL_EXIR_PASS_FRAMEWORK_TABLE_LIMIT_H_

#include <cstdint>
#include <initializer_list>

#include "absl/status/status.h"

namespace petrel::exir {

inline constexpr int64_t kMostTableElements = int64_t{1} << 25;
// Of all tables that are computed in one scope: one call after the other asks for a few bytes.
inline constexpr int64_t kMostTablesElements = int64_t{1} << 27;

// Unimplemented unless the product of these, of which none is negative and 0 counts as 1, is at
// most that; it counts for the scope of this thread, if there is one, and ResourceExhausted says
// that it is too much for that.
absl::Status check_table(std::initializer_list<int64_t> sizes);

// Counts tables together while it lives: one for all that is done to a graph. Within another
// one it is a part of that.
class TableScope {
 public:
  TableScope();
  ~TableScope();
  TableScope(const TableScope&) = delete;
  TableScope& operator=(const TableScope&) = delete;

 private:
  const bool is_outermost_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_TABLE_LIMIT_H_
