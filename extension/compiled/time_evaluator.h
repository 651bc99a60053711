// SPDX-License-Identifier: Apache-2.0
//
// How long something takes: `repeat` figures, each the mean of `number` runs in a row.
//
//   TimePlan plan;
//   plan.number = 10;
//   plan.repeat = 3;
//   Result<std::vector<double>> seconds = evaluate_time([&] { return method.run(); }, plan);
//   (*seconds)[0]   of one run
#ifndef PETREL_EXTENSION_COMPILED_TIME_EVALUATOR_H_
#define PETREL_EXTENSION_COMPILED_TIME_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/result.h"

namespace petrel::extension {

struct TimePlan {
  int64_t number = 1;
  int64_t repeat = 1;
  // `number` grows, and the figure is taken again, until its runs take this long together.
  int64_t min_repeat_ms = 0;
  // Of rest between two figures.
  int64_t cooldown_ms = 0;
};

// One run ahead is not counted. InvalidArgument for numbers below 1 or times below 0; the error
// of the first run that fails.
runtime::Result<std::vector<double>> evaluate_time(const std::function<runtime::Error()>& run,
                                                   const TimePlan& plan);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_COMPILED_TIME_EVALUATOR_H_
