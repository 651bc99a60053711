// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/bench_device.h"

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exir/output/output_files.h"
#include "exir/status_macros.h"
#include "extension/cli/console.h"
#include "extension/device/device_time.h"
#include "extension/device/profile_picture.h"
#include "extension/module/error_text.h"

namespace petrel::extension {
namespace {

using nlohmann::ordered_json;

constexpr int kProfiledRuns = 3;

struct Figures {
  DeviceTimes times;
  std::vector<DeviceStepTime> steps;
  std::optional<DeviceStack> stack;
  std::optional<DeviceCalibration> calibration;
};

absl::StatusOr<Figures> measure(DeviceMethod& method, const DeviceBench& bench) {
  Device& device = method.device();
  Figures figures;
  if (bench.calibrate_ms > 0) {
    PETREL_ASSIGN_OR_RETURN(figures.calibration,
                            calibrate_timer(device, std::chrono::milliseconds(bench.calibrate_ms)));
  }
  DeviceTimePlan plan;
  plan.min_seconds = bench.seconds / 10;
  PETREL_ASSIGN_OR_RETURN(figures.times, time_method(method, plan));
  if (!method.info().steps.empty()) {
    PETREL_ASSIGN_OR_RETURN(figures.steps, profile_method(method, kProfiledRuns));
  }
  if (device.hello().has(PETREL_RPC_HAS_STACK)) {
    PETREL_ASSIGN_OR_RETURN(figures.stack, device.stack(/*paint_again=*/false));
  }
  return figures;
}

ordered_json to_json(const DeviceMethod& method, const Device& device, const Figures& figures) {
  ordered_json json = {{"device", device.name()},
                       {"board", device.info().board},
                       {"model", device.info().model},
                       {"sha256", device.info().sha256},
                       {"method", method.name()},
                       {"timer_hz", device.hello().timer_hz},
                       {"timer_bits", device.hello().timer_bits},
                       {"mean_seconds", figures.times.mean_seconds},
                       {"mean_ticks", figures.times.ticks},
                       {"relative_error", figures.times.relative_error},
                       {"runs_in_a_row", figures.times.number},
                       {"by_steps", figures.times.by_steps},
                       {"repeats", figures.times.seconds.size()}};
  json["steps"] = ordered_json::array();
  for (const DeviceStepTime& time : figures.steps) {
    const DeviceStep& step = method.info().steps[time.step];
    json["steps"].push_back({{"name", step.name},
                             {"kernel", step.kernel},
                             {"source", step.source},
                             {"ticks", time.ticks},
                             {"share", time.share}});
  }
  if (figures.stack) {
    json["stack_bytes"] = figures.stack->used;
    json["stack_size"] = figures.stack->size;
  }
  if (figures.calibration) {
    json["calibration"] = {{"measured_hz", figures.calibration->measured_hz},
                           {"drift", figures.calibration->drift},
                           {"relative_error", figures.calibration->relative_error}};
  }
  return json;
}

void print(const DeviceMethod& method, const Device& device, const Figures& figures) {
  const DeviceHello& hello = device.hello();
  std::printf("%s: board %s, model %s, method %s, timer %u Hz of %d bits%s\n",
              device.name().c_str(), printable(device.info().board).c_str(),
              printable(device.info().model).c_str(), printable(method.name()).c_str(),
              hello.timer_hz, hello.timer_bits,
              hello.timer_stops_in_sleep() ? ", stops in sleep" : "");
  if (figures.calibration) {
    std::printf("timer        measured %.0f Hz, %+.3f %% beside what the board says, +- %.3f %%\n",
                figures.calibration->measured_hz, 100 * figures.calibration->drift,
                100 * figures.calibration->relative_error);
  }
  std::printf("run          %s, %.0f ticks, +- %.2f %% (%zu times %u runs)\n",
              format_seconds(figures.times.mean_seconds).c_str(), figures.times.ticks,
              100 * figures.times.relative_error, figures.times.seconds.size(),
              figures.times.number);
  if (figures.times.by_steps) {
    std::printf("             the sum of its steps, as the timer is too short for a run\n");
  }
  if (figures.stack) {
    std::printf("stack        %u bytes of %u\n", figures.stack->used, figures.stack->size);
  }
  std::fputs(printable(profile_text(method, figures.steps, hello.timer_hz)).c_str(), stdout);
}

}  // namespace

int bench_device(const DeviceBench& bench) {
  const auto device = Device::open(bench.device.spec, bench.device.session(bench.max_input_bytes));
  if (!device.ok()) return fail("bench", device.status());
  const auto method = (*device)->method(bench.method);
  if (!method.ok()) return fail("bench", method.status());
  const auto inputs = CompiledInputs::set(**method, bench.inputs, bench.max_input_bytes);
  if (!inputs.ok()) return fail("bench", inputs.status());
  const absl::StatusOr<Figures> figures = measure(**method, bench);
  if (!figures.ok()) return fail("bench", figures.status());
  if (!bench.picture.empty() && figures->steps.empty()) {
    return fail("bench",
                absl::StrCat((*device)->name(), ": the model has no plan of steps to draw"));
  }
  if (!bench.picture.empty()) {
    const absl::Status drawn = exir::write_output_file(
        bench.picture, profile_svg(**method, figures->steps, (*device)->hello().timer_hz));
    if (!drawn.ok()) return fail("bench", drawn);
  }
  if (bench.json) {
    std::printf("%s\n", to_json(**method, **device, *figures)
                            .dump(-1, ' ', false, ordered_json::error_handler_t::replace)
                            .c_str());
  } else {
    print(**method, **device, *figures);
  }
  return 0;
}

}  // namespace petrel::extension
