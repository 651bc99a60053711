// SPDX-License-Identifier: Apache-2.0
#include "extension/compiled/time_evaluator.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "runtime/core/log.h"

namespace petrel::extension {

using runtime::Error;
using runtime::Result;

namespace {

// Beyond it a run takes no time that could be measured.
constexpr double kMostRuns = 1e9;

// The seconds that `number` runs take together.
Result<double> time_runs(const std::function<Error()>& run, int64_t number) {
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < number; ++i) PETREL_RETURN_IF_ERROR(run());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// How many runs are likely to take `wanted` seconds when `number` take `took`; more in any case.
int64_t more_runs(int64_t number, double took, double wanted) {
  const double n = static_cast<double>(number);
  const double likely = took > 0 ? std::ceil(n * wanted / took * 1.1) : kMostRuns;
  return static_cast<int64_t>(
      std::clamp(likely, n + 1, std::max(n + 1, std::min(n * 10, kMostRuns))));
}

}  // namespace

Result<std::vector<double>> evaluate_time(const std::function<Error()>& run, const TimePlan& plan) {
  if (plan.number < 1 || plan.repeat < 1 || plan.min_repeat_ms < 0 || plan.cooldown_ms < 0) {
    PETREL_LOG(
        Error,
        "number is %lld, repeat %lld, min_repeat_ms %lld and cooldown_ms %lld; the first two "
        "must be at least 1, the others 0",
        static_cast<long long>(plan.number), static_cast<long long>(plan.repeat),
        static_cast<long long>(plan.min_repeat_ms), static_cast<long long>(plan.cooldown_ms));
    return Error::InvalidArgument;
  }
  const double wanted = static_cast<double>(plan.min_repeat_ms) / 1000;
  int64_t number = plan.number;
  std::vector<double> seconds;
  PETREL_RETURN_IF_ERROR(run());
  for (int64_t i = 0; i < plan.repeat; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(plan.cooldown_ms));
    PETREL_ASSIGN_OR_RETURN(double took, time_runs(run, number));
    while (took < wanted && static_cast<double>(number) < kMostRuns) {
      number = more_runs(number, took, wanted);
      PETREL_ASSIGN_OR_RETURN(took, time_runs(run, number));
    }
    seconds.push_back(took / static_cast<double>(number));
  }
  return seconds;
}

}  // namespace petrel::extension
