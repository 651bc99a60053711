// SPDX-License-Identifier: Apache-2.0
//
// The paths that a rule can take where sizes vary: a shape rule of the table, or a
// row of a rewriting (exir/pass/framework/row_trial.h). It runs once for each way
// to answer the questions that it asks about sizes and that nothing answers for
// all values of the symbols; the answers are the assumptions of the path.
//
//   x: f32[s0], s0 in [1, 16]; the rule asks s0 == 1
//   paths     s0 != 1 (so s0 >= 2), as at the general sample points; s0 == 1
//
// What holds on all paths that do not end in an error holds for all values:
//
//   std::vector<RulePath> paths = Paths::explore([&] { return rule(arguments); });
//   proven_sizes(paths)     the results of the first path, where all agree
#ifndef PETREL_EXIR_OPS_PATHS_H_
#define PETREL_EXIR_OPS_PATHS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/size_expression.h"
#include "exir/ir/type.h"

namespace petrel::exir::rules {

// What is assumed of an expression without a constant part.
struct Assumption {
  SizeExpression about;
  SizeRange range;                // its value is in here
  std::vector<int64_t> excluded;  // and none of these
};

struct RulePath {
  absl::StatusOr<std::vector<Type>> types;
  std::vector<Assumption> assumptions;
  bool is_lost = false;  // the results mean nothing
};

class Paths {
 public:
  // A rule that asks more has no proven sizes.
  static constexpr size_t kMaxPaths = 32;
  static constexpr size_t kMaxQuestions = 64;

  // The first path is that of the general sample points. Empty when there are too
  // many.
  static std::vector<RulePath> explore(
      const std::function<absl::StatusOr<std::vector<Type>>()>& rule);

  enum class Question : uint8_t { kIsZero, kIsNegative };
  // The answer on this path. Outside of explore() the one at a sample point.
  static bool decide(Question question, const SizeExpression& difference);
  static void lose();

 private:
  bool answer(Question question, const SizeExpression& difference);
  bool choose(bool at_sample);
  Assumption& assumption_about(const SizeExpression& about);
  bool next();

  std::vector<bool> answers_;    // of the questions asked so far
  std::vector<bool> is_second_;  // whether the other answer was tried before
  size_t asked_ = 0;
  std::vector<Assumption> assumptions_;
  bool is_lost_ = false;
};

// Whether they are equal under the assumptions of the path.
bool equal_on(const RulePath& path, const SizeExpression& a, const SizeExpression& b);

// False where it is shown, by trying all values of the symbols, that no values make
// all assumptions true.
bool is_possible(const RulePath& path);

// The sizes of the results (of an int, its value as the only one) that are the
// same on all paths; nullopt for others, nothing at all where no path is known.
std::vector<std::vector<MaybeSize>> proven_sizes(const std::vector<RulePath>& paths);

}  // namespace petrel::exir::rules

#endif  // PETREL_EXIR_OPS_PATHS_H_
