// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/xnnpack/runtime/packed_weights.h"
#include "backends/xnnpack/runtime/tiles.h"
#include "extension/cli/compiled_io.h"
#include "extension/cli/console.h"
#include "extension/cli/isa_option.h"
#include "extension/cli/kernel_choice.h"
#include "extension/cli/limit_options.h"
#include "extension/cli/method_io.h"
#include "extension/cli/method_profile.h"
#include "extension/cli/delegate_options.h"
#include "extension/cli/number_in.h"
#include "extension/cli/progress.h"
#include "extension/cli/step_profile.h"
#include "extension/cli/verb.h"
#include "extension/cli/bench_device.h"
#include "extension/compiled/compiled_module.h"
#include "extension/module/error_text.h"
#include "extension/named_data_map/safetensors_map.h"
#include "runtime/platform/isa_level.h"

namespace petrel::extension {
namespace {

using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string program;
  bool compiled = false;
  DeviceChoice device;
  int calibrate_ms = 0;
  std::string picture;
  std::vector<std::string> data;
  std::string method = "forward";
  std::vector<std::string> inputs;
  int threads = 0;
  std::string kernels;
  runtime::Limits limits;
  DelegateOptions delegate_options;
  double seconds = 0.5;
  int min_runs = 30;
  bool json = false;
  bool profile = false;
};

struct Figures {
  double load = 0, first_run = 0, min = 0, p50 = 0, p90 = 0, p99 = 0;  // seconds
  double processor = 0;  // seconds of all threads that a run takes, on average
  size_t runs = 0;
  uint64_t packed_bytes = 0;
  uint64_t peak_memory_bytes = 0;
  uint64_t private_memory_bytes = 0;
};

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A figure in kilobytes of a file in /proc, in bytes; 0 when it is not there.
uint64_t memory_figure(const char* file, const std::string& name) {
  std::ifstream figures(file);
  std::string word;
  while (figures >> word) {
    uint64_t kilobytes = 0;
    if (word == name && figures >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

// The most memory this process has held. Not getrusage's figure: the kernel
// carries that one over from the process that started this one.
uint64_t peak_memory_bytes() { return memory_figure("/proc/self/status", "VmHWM:"); }

// What only this process has and no file could give back.
uint64_t private_memory_bytes() {
  return memory_figure("/proc/self/smaps_rollup", "Private_Dirty:");
}

void print_text(const Arguments& arguments, const Figures& figures) {
  std::printf("%s, method %s, threads %d\n", arguments.program.c_str(), arguments.method.c_str(),
              arguments.compiled ? 1 : arguments.threads);
  std::printf("load         %s\n", format_seconds(figures.load).c_str());
  std::printf("first run    %s\n", format_seconds(figures.first_run).c_str());
  std::printf("steady       min %s, p50 %s, p90 %s, p99 %s over %zu runs\n",
              format_seconds(figures.min).c_str(), format_seconds(figures.p50).c_str(),
              format_seconds(figures.p90).c_str(), format_seconds(figures.p99).c_str(),
              figures.runs);
  std::printf("processor    %s a run\n", format_seconds(figures.processor).c_str());
  std::printf("packed       %s\n", format_bytes(figures.packed_bytes).c_str());
  std::printf("peak memory  %s, private %s\n", format_bytes(figures.peak_memory_bytes).c_str(),
              format_bytes(figures.private_memory_bytes).c_str());
}

template <typename Profile>
void print_json(const Arguments& arguments, const Figures& figures, const Profile* profile) {
  nlohmann::ordered_json json = {{"program", arguments.program},
                                 {"method", arguments.method},
                                 {"compiled", arguments.compiled},
                                 {"threads", arguments.compiled ? 1 : arguments.threads},
                                 {"kernels", arguments.kernels},
                                 {"isa", runtime::isa_level().name},
                                 {"load_seconds", figures.load},
                                 {"first_run_seconds", figures.first_run},
                                 {"min_seconds", figures.min},
                                 {"p50_seconds", figures.p50},
                                 {"p90_seconds", figures.p90},
                                 {"p99_seconds", figures.p99},
                                 {"processor_seconds", figures.processor},
                                 {"runs", figures.runs},
                                 {"packed_bytes", figures.packed_bytes},
                                 {"peak_memory_bytes", figures.peak_memory_bytes},
                                 {"private_memory_bytes", figures.private_memory_bytes},
                                 {"tiles", nullptr}};
  if (const auto* const tiles = backends::xnnpack::settled_tiles()) json["tiles"] = tiles->text();
  if (profile != nullptr) json["steps"] = profile->json();
  std::printf("%s\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void take_memory(Figures* figures) {
  figures->peak_memory_bytes = peak_memory_bytes();
  figures->private_memory_bytes = private_memory_bytes();
}

template <typename Profile>
int print(const Arguments& arguments, const Figures& figures, const Profile* profile) {
  if (arguments.json) {
    print_json(arguments, figures, profile);
    return kDone;
  }
  print_text(arguments, figures);
  const backends::xnnpack::SettledTiles* const tiles = backends::xnnpack::settled_tiles();
  if (profile != nullptr && tiles != nullptr) {
    std::printf("tiles        %s\n", shown(tiles->text()).c_str());
  }
  if (profile != nullptr) profile->print_text();
  return kDone;
}

// One first run, a tenth of the time to warm up, then the runs that count.
runtime::Error measure(const std::function<runtime::Error()>& work, const Arguments& arguments,
                       Figures* figures) {
  std::vector<double> times;
  const auto once = [&] {
    const Clock::time_point start = Clock::now();
    const runtime::Error error = work();
    times.push_back(since(start));
    return error;
  };
  PETREL_RETURN_IF_ERROR(once());
  figures->first_run = times.back();
  const Clock::time_point warm = Clock::now();
  for (int i = 0; i < 3 || since(warm) < arguments.seconds / 10; ++i) {
    PETREL_RETURN_IF_ERROR(once());
  }
  times.clear();
  const std::clock_t processor = std::clock();
  const Clock::time_point steady = Clock::now();
  while (times.size() < static_cast<size_t>(arguments.min_runs) ||
         since(steady) < arguments.seconds) {
    PETREL_RETURN_IF_ERROR(once());
  }
  figures->processor = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC /
                       static_cast<double>(times.size());
  std::sort(times.begin(), times.end());
  figures->runs = times.size();
  figures->min = times.front();
  figures->p50 = times[times.size() / 2];
  figures->p90 = times[times.size() * 9 / 10];
  figures->p99 = times[times.size() * 99 / 100];
  return runtime::Error::Ok;
}

// The same of a module, which is code.
int run_compiled(const Arguments& arguments) {
  const RuntimeMessages messages;
  const std::string subject = absl::StrCat("method '", arguments.method, "'");
  Figures figures;
  Progress progress("bench");
  progress.start("load");
  const Clock::time_point start = Clock::now();
  const auto module = CompiledModule::open(arguments.program);
  figures.load = since(start);
  if (!module.ok()) return messages.fail("bench", arguments.program, module.error());
  const auto method = (*module)->method(arguments.method);
  if (!method.ok()) return messages.fail("bench", subject, method.error());
  const auto inputs =
      CompiledInputs::set(**method, arguments.inputs, arguments.limits.max_input_bytes);
  if (!inputs.ok()) return fail("bench", inputs.status());
  progress.start("measure");
  runtime::Error error = measure([&] { return (*method)->run(); }, arguments, &figures);
  StepProfile profile(**method);
  if (error == runtime::Error::Ok && arguments.profile) {
    error = profile.measure(static_cast<size_t>(arguments.min_runs));
  }
  progress.stop();
  if (error != runtime::Error::Ok) return messages.fail("bench", subject, error);
  take_memory(&figures);
  return print(arguments, figures, arguments.profile ? &profile : nullptr);
}

runtime::Error execute(Module& module, const Arguments& arguments, MethodInputs& inputs) {
  const auto outputs = module.execute(arguments.method, inputs.values());
  return outputs.ok() ? runtime::Error::Ok : outputs.error();
}

// In a module of its own, whose tracer slows it down.
runtime::Error measure_parts(const Arguments& arguments, Module::Options options,
                             MethodInputs& inputs, MethodProfile* profile) {
  options.event_tracer = profile;
  PETREL_ASSIGN_OR_RETURN(const auto module, Module::load(arguments.program, options));
  for (int i = 0; i < 3; ++i) PETREL_RETURN_IF_ERROR(execute(*module, arguments, inputs));
  profile->begin_counting();
  for (int i = 0; i < arguments.min_runs; ++i) {
    PETREL_RETURN_IF_ERROR(execute(*module, arguments, inputs));
  }
  return runtime::Error::Ok;
}

int run(Arguments& arguments) {
  if (arguments.compiled) return run_compiled(arguments);
  if (!arguments.device.spec.empty()) {
    return bench_device({arguments.device, arguments.method, arguments.inputs,
                         arguments.limits.max_input_bytes, arguments.seconds,
                         arguments.calibrate_ms, arguments.picture, arguments.json});
  }
  const RuntimeMessages messages("bench");
  Module::Options options;
  options.data_files = arguments.data;
  options.other_data = read_safetensors;
  options.num_threads = arguments.threads;
  // They were read for this run, so nobody minds.
  options.writable_inputs = true;
  options.limits = arguments.limits;
  options.registry = &registry_of(arguments.kernels);
  const auto backend_options = arguments.delegate_options.make();
  if (!backend_options.ok()) return fail("bench", backend_options.status());
  options.backend_options = *backend_options;
  // What backends find out about the processor they do once for a process, not
  // with every load.
  for (const runtime::BackendLibrary library : options.registry->backends()) {
    library().backend->is_available();
  }
  Figures figures;
  Progress progress("bench");
  progress.start("load");
  const Clock::time_point start = Clock::now();
  auto module = Module::load(arguments.program, options);
  if (!module.ok()) return messages.fail("bench", arguments.program, module.error());
  const runtime::Error loaded = (*module)->load_method(arguments.method);
  figures.load = since(start);
  if (loaded != runtime::Error::Ok) {
    return messages.fail("bench", absl::StrCat("method '", arguments.method, "'"), loaded);
  }
  auto inputs = MethodInputs::make(**module, arguments.method, arguments.inputs);
  if (!inputs.ok()) return fail("bench", inputs.status());

  progress.start("measure");
  runtime::Error error =
      measure([&] { return execute(**module, arguments, *inputs); }, arguments, &figures);
  figures.packed_bytes = backends::xnnpack::PackedWeights::instance().stats().bytes;
  take_memory(&figures);
  MethodProfile profile;
  if (error == runtime::Error::Ok && arguments.profile) {
    error = measure_parts(arguments, options, *inputs, &profile);
  }
  progress.stop();
  if (error != runtime::Error::Ok) {
    return messages.fail("bench", absl::StrCat("method '", arguments.method, "'"), error);
  }
  return print(arguments, figures, arguments.profile ? &profile : nullptr);
}

}  // namespace

void add_bench_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("bench", "Time loading and running a method");
  CLI::Option* program =
      verb->add_option("program", arguments->program, "PROG.pte, or libNAME.so with --compiled");
  verb->add_option("--data", arguments->data,
                   "FILE.ptd or FILE.safetensors with weights, may be repeated")
      ->take_all();
  verb->add_option("--method", arguments->method, "default: forward");
  verb->add_option("--input", arguments->inputs,
                   "[NAME=]X.npy, or an array such as [1,2]:int64; inputs left out are ones")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--threads", arguments->threads,
                   "0 (default): one for each processor that the process may use")
      ->check(CLI::Range(0, 1024));
  add_kernels_option(*verb, &arguments->kernels);
  add_isa_option(*verb);
  add_limit_options(*verb, LimitsOf::kRunning, &arguments->limits);
  arguments->delegate_options.add_to(*verb);
  verb->add_option("--seconds", arguments->seconds, "measure at least this long (default: 0.5)")
      ->check(number_in(0.0, 3600.0));
  verb->add_option("--min-runs", arguments->min_runs,
                   "measure at least this many runs (default: 30)")
      ->check(CLI::Range(1, 1000000));
  verb->add_flag("--json", arguments->json, "one JSON object");
  verb->add_flag("--profile,--report", arguments->profile,
                 "also how long each instruction takes and each step of a delegate or of a "
                 "module, and by which kernel: the median of --min-runs runs");
  add_compiled_flag(*verb,
                    {"--help", "--method", "--input", "--seconds", "--min-runs", "--json",
                     "--profile", "--max-input-bytes", "--isa"},
                    &arguments->compiled);
  add_device_option(*verb,
                    {"--help", "--method", "--input", "--seconds", "--json", "--max-input-bytes"},
                    &arguments->device);
  verb->get_option("--device")->excludes(program);
  verb->add_option("--calibrate", arguments->calibrate_ms,
                   "milliseconds to let the timer of the device run beside the clock of this "
                   "machine")
      ->check(CLI::Range(1, 3600000))
      ->needs(verb->get_option("--device"));
  verb->add_option("--picture", arguments->picture,
                   "FILE.svg: draw how long each step takes on the device")
      ->needs(verb->get_option("--device"));
  verb->footer(
      "Examples:\n"
      "  petrel bench model.pte --threads 1 --profile\n"
      "  petrel bench --compiled libkws.so --profile\n"
      "  petrel bench --device exec:./firmware --calibrate 500\n"
      "  petrel bench model.pte --data model.ptd --threads 2 --json");
  verb->callback([arguments, exit_code] {
    if (arguments->program.empty() && arguments->device.spec.empty()) {
      throw CLI::RequiredError("program");
    }
    *exit_code = run(*arguments);
  });
}

}  // namespace petrel::extension
