// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/step_profile.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "extension/cli/console.h"

namespace petrel::extension {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

runtime::Error StepProfile::measure(size_t runs) {
  for (size_t i = 0; i < runs; ++i) {
    Clock::time_point last = Clock::now();
    PETREL_RETURN_IF_ERROR(method_.run_steps([&](uint32_t step) {
      const Clock::time_point now = Clock::now();
      seconds_[step].push_back(std::chrono::duration<double>(now - last).count());
      last = Clock::now();
    }));
  }
  for (std::vector<double>& of_step : seconds_) std::sort(of_step.begin(), of_step.end());
  return runtime::Error::Ok;
}

double StepProfile::median(size_t step) const {
  const std::vector<double>& sorted = seconds_[step];
  return sorted.empty() ? 0 : sorted[sorted.size() / 2];
}

void StepProfile::print_text() const {
  double all = 0;
  for (size_t i = 0; i < seconds_.size(); ++i) all += median(i);
  for (size_t i = 0; i < seconds_.size(); ++i) {
    if (seconds_[i].empty()) continue;
    const petrel_step_info& step = method_.info().steps[i];
    std::printf("  %10s %5.1f %%  %s  %s\n", format_seconds(median(i)).c_str(),
                all > 0 ? 100 * median(i) / all : 0.0, step.name, step.kernel);
  }
}

nlohmann::ordered_json StepProfile::json() const {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (size_t i = 0; i < seconds_.size(); ++i) {
    if (seconds_[i].empty()) continue;
    const petrel_step_info& step = method_.info().steps[i];
    rows.push_back({{"name", step.name}, {"kernel", step.kernel}, {"p50_seconds", median(i)}});
  }
  return rows;
}

}  // namespace petrel::extension
