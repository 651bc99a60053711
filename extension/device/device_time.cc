// SPDX-License-Identifier: Apache-2.0
#include "extension/device/device_time.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exir/status_macros.h"

namespace petrel::extension {
namespace {

// Of ticks that a figure should have, so that one more or less is little.
constexpr uint64_t kGoodTicks = 200;
// Runs after which a timer that says 0 does not count.
constexpr uint32_t kMostRunsWithoutTicks = 10'000;
constexpr uint32_t kMostRuns = 10'000'000;
constexpr double kGrowth = 1.618;

absl::Status check_timer(const Device& device) {
  if (device.hello().has(PETREL_RPC_HAS_TIMER)) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(device.name(), ": the board '", device.info().board, "' has no timer"));
}

// What sleeps cannot be measured by a timer that stands still then.
absl::Status check_awake(const Device& device) {
  PETREL_RETURN_IF_ERROR(check_timer(device));
  const DeviceHello& hello = device.hello();
  if (!hello.timer_stops_in_sleep() || !hello.has(PETREL_RPC_MAY_SLEEP)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      device.name(), ": the timer of board '", device.info().board,
      "' stands still while the processor sleeps, as it may while it waits for a device of model '",
      device.info().model, "': give the board a timer that counts on"));
}

absl::Status does_not_count(const Device& device, uint32_t number) {
  return absl::FailedPreconditionError(
      absl::StrCat(device.name(), ": the timer of board '", device.info().board,
                   "' says 0 ticks for ", number, " runs: it does not count, or is too coarse"));
}

// Runs the method step by step, each of them timed alone, which a timer may count that is too short
// for the run. OutOfRange names a step that is too long by itself.
absl::Status time_steps(DeviceMethod& method,
                        const std::function<void(size_t step, uint64_t ticks)>& on_step) {
  Device& device = method.device();
  const std::vector<DeviceStep>& steps = method.info().steps;
  size_t done = 0;
  for (uint32_t next = 0; next < steps.size() && done < device.options().max_steps; ++done) {
    const absl::StatusOr<DeviceAction> action = device.run_steps(method.index(), next, 1);
    if (absl::IsOutOfRange(action.status())) {
      return absl::OutOfRangeError(absl::StrFormat(
          "%s: step '%s' alone takes longer than the %.3g s that the timer of %d bits counts",
          device.name(), steps[next].name,
          std::ldexp(1.0, device.hello().timer_bits) / device.hello().timer_hz,
          device.hello().timer_bits));
    }
    if (!action.ok()) return action.status();
    on_step(next, action->ticks);
    next = action->next;
  }
  return absl::OkStatus();
}

class Evaluator {
 public:
  Evaluator(DeviceMethod& method, const DeviceTimePlan& plan)
      : method_(method),
        plan_(plan),
        hz_(method.device().hello().timer_hz),
        can_repeat_(method.info().keeps_inputs) {}

  absl::StatusOr<DeviceTimes> evaluate() {
    PETREL_RETURN_IF_ERROR(method_.upload());
    PETREL_ASSIGN_OR_RETURN(uint64_t ticks, find_number());
    DeviceTimes times;
    times.number = number_;
    times.by_steps = by_steps_;
    while (true) {
      times.seconds.push_back(static_cast<double>(ticks) / hz_ / number_);
      summarise(ticks, &times);
      const auto repeats = static_cast<int>(times.seconds.size());
      if (repeats >= plan_.max_repeats ||
          (repeats >= plan_.min_repeats && times.relative_error <= plan_.max_error)) {
        return times;
      }
      PETREL_ASSIGN_OR_RETURN(ticks, runs());
      if (ticks == 0) return does_not_count(method_.device(), number_);
    }
  }

 private:
  // `number_` runs in a row.
  absl::StatusOr<uint64_t> runs() {
    if (by_steps_) {
      uint64_t ticks = 0;
      PETREL_RETURN_IF_ERROR(method_.upload());
      PETREL_RETURN_IF_ERROR(time_steps(method_, [&](size_t, uint64_t more) { ticks += more; }));
      return ticks;
    }
    if (!can_repeat_) PETREL_RETURN_IF_ERROR(method_.upload());
    PETREL_ASSIGN_OR_RETURN(const DeviceAction action,
                            method_.device().time(method_.index(), number_));
    return action.ticks;
  }

  // Sets how many runs the timer tells well; the ticks that they took.
  absl::StatusOr<uint64_t> find_number() {
    uint32_t most = kMostRuns;
    while (true) {
      const absl::StatusOr<uint64_t> ticks = runs();
      if (absl::IsOutOfRange(ticks.status()) && number_ > 1) {
        most = number_ = std::max(1u, number_ / 2);
        continue;
      }
      if (absl::IsOutOfRange(ticks.status()) && !by_steps_ && !method_.info().steps.empty()) {
        by_steps_ = true;
        most = 1;
        continue;
      }
      if (!ticks.ok()) return ticks.status();
      const double seconds = static_cast<double>(*ticks) / hz_;
      const bool is_good = *ticks >= kGoodTicks && seconds >= plan_.min_seconds;
      if (is_good || number_ >= most || !can_repeat_) {
        if (*ticks == 0) return does_not_count(method_.device(), number_);
        return *ticks;
      }
      if (*ticks == 0 && number_ >= kMostRunsWithoutTicks) {
        return does_not_count(method_.device(), number_);
      }
      grow(*ticks, seconds, most);
    }
  }

  void grow(uint64_t ticks, double seconds, uint32_t most) {
    double factor = 10;
    if (ticks > 0) {
      factor = std::max({kGrowth, 1.1 * plan_.min_seconds / seconds,
                         1.1 * static_cast<double>(kGoodTicks) / static_cast<double>(ticks)});
      factor = std::min(factor, 100.0);  // the first figures may be far off
    }
    number_ = static_cast<uint32_t>(std::min<double>(most, std::ceil(number_ * factor)));
  }

  void summarise(uint64_t ticks, DeviceTimes* times) const {
    const std::vector<double>& all = times->seconds;
    const double count = static_cast<double>(all.size());
    times->mean_seconds = std::accumulate(all.begin(), all.end(), 0.0) / count;
    double squares = 0;
    for (const double one : all) {
      squares += (one - times->mean_seconds) * (one - times->mean_seconds);
    }
    const double error = count < 2 ? 0 : std::sqrt(squares / (count - 1) / count);
    times->relative_error = std::max(times->mean_seconds > 0 ? error / times->mean_seconds : 0.0,
                                     1 / static_cast<double>(ticks));
    times->ticks = times->mean_seconds * hz_;
  }

  DeviceMethod& method_;
  const DeviceTimePlan& plan_;
  const double hz_;
  const bool can_repeat_;
  uint32_t number_ = 1;
  bool by_steps_ = false;  // the timer is too short for a run
};

}  // namespace

absl::StatusOr<DeviceTimes> time_method(DeviceMethod& method, const DeviceTimePlan& plan) {
  PETREL_RETURN_IF_ERROR(check_awake(method.device()));
  return Evaluator(method, plan).evaluate();
}

absl::StatusOr<std::vector<DeviceStepTime>> profile_method(DeviceMethod& method, int repeats) {
  Device& device = method.device();
  PETREL_RETURN_IF_ERROR(check_awake(device));
  const size_t count = method.info().steps.size();
  std::vector<uint64_t> least(count, UINT64_MAX);
  for (int i = 0; i < repeats; ++i) {
    PETREL_RETURN_IF_ERROR(method.upload());
    if (device.hello().has(PETREL_RPC_HAS_TRACE)) {
      const absl::Status traced = device.run(method.index(), /*is_traced=*/true).status();
      if (traced.ok()) {
        PETREL_ASSIGN_OR_RETURN(const std::vector<uint32_t> ticks, device.trace(count));
        for (size_t s = 0; s < count; ++s) least[s] = std::min<uint64_t>(least[s], ticks[s]);
        continue;
      }
      if (!absl::IsOutOfRange(traced)) return traced;
      PETREL_RETURN_IF_ERROR(method.upload());  // to find the step that is too long
    }
    PETREL_RETURN_IF_ERROR(time_steps(
        method, [&](size_t step, uint64_t ticks) { least[step] = std::min(least[step], ticks); }));
  }
  double all = 0;
  std::vector<DeviceStepTime> steps;
  for (size_t s = 0; s < count; ++s) {
    if (least[s] == UINT64_MAX) continue;  // in a branch that was not taken
    steps.push_back({s, static_cast<double>(least[s]), 0});
    all += steps.back().ticks;
  }
  for (DeviceStepTime& step : steps) step.share = all > 0 ? step.ticks / all : 0;
  return steps;
}

std::string profile_text(const DeviceMethod& method, const std::vector<DeviceStepTime>& steps,
                         uint32_t timer_hz) {
  std::string text =
      absl::StrFormat("%-36s %12s %12s %7s  %s\n", "step", "ticks", "us", "share", "source");
  for (const DeviceStepTime& time : steps) {
    const DeviceStep& step = method.info().steps[time.step];
    absl::StrAppendFormat(&text, "%-36s %12.0f %12.1f %6.1f%%  %s\n", step.name, time.ticks,
                          1e6 * time.ticks / timer_hz, 100 * time.share, step.source);
  }
  return text;
}

absl::StatusOr<DeviceCalibration> calibrate_timer(Device& device, std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  PETREL_RETURN_IF_ERROR(check_timer(device));
  const DeviceHello& hello = device.hello();
  const double longest = std::ldexp(1.0, hello.timer_bits) / hello.timer_hz;
  if (Seconds(time).count() > 0.9 * longest) {
    return absl::OutOfRangeError(
        absl::StrFormat("%s: the timer counts for %.3g s, which is too short for %.3g s",
                        device.name(), longest, Seconds(time).count()));
  }
  // The timer starts and stops somewhere between question and answer.
  const auto asked = Clock::now();
  PETREL_RETURN_IF_ERROR(device.timer(true).status());
  const auto started = Clock::now();
  std::this_thread::sleep_for(time);
  const auto asked_again = Clock::now();
  PETREL_ASSIGN_OR_RETURN(const DeviceAction action, device.timer(false));
  const auto stopped = Clock::now();
  if (action.ticks == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        device.name(), ": the timer does not count: 0 ticks in ", time.count(), " ms"));
  }
  const double least = Seconds(asked_again - started).count();
  const double most = Seconds(stopped - asked).count();
  const double middle = (least + most) / 2;
  DeviceCalibration calibration;
  calibration.measured_hz = static_cast<double>(action.ticks) / middle;
  calibration.relative_error = (most - least) / 2 / middle;
  calibration.drift = calibration.measured_hz / hello.timer_hz - 1;
  return calibration;
}

}  // namespace petrel::extension
