// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/project_verb.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "exir/status_macros.h"
#include "extension/cli/console.h"
#include "extension/cli/limit_options.h"
#include "extension/cli/number_in.h"
#include "extension/cli/progress.h"
#include "extension/cli/project_arrays.h"
#include "extension/cli/project_tune.h"
#include "extension/cli/verb.h"
#include "extension/module/error_text.h"
#include "extension/project/api.h"
#include "extension/project/build.h"
#include "extension/project/calibrate.h"
#include "extension/project/devices.h"
#include "extension/project/project.h"
#include "extension/project/server_call.h"
#include "extension/project/server_stream.h"

namespace petrel::extension {
namespace {

namespace fs = std::filesystem;
using Json = Api::Json;

constexpr char kVerb[] = "project";
constexpr int64_t kBuildMs = 700'000;
constexpr int64_t kFlashMs = 400'000;
constexpr int64_t kListMs = 20'000;
constexpr std::chrono::milliseconds kHeartbeat(300);

struct Arguments {
  std::string board, model, folder, device, method = "forward";
  std::string driver = kStandalone;
  ArrayOptions arrays;
  runtime::Limits limits;
  double seconds = 60;
};

int create(const Arguments& arguments) {
  const absl::Status made =
      create_project(arguments.board, arguments.model, arguments.folder, arguments.device);
  if (!made.ok()) return fail(kVerb, made);
  std::printf("%s: `petrel project build %s` compiles it\n", arguments.folder.c_str(),
              arguments.folder.c_str());
  return kDone;
}

int64_t number_of(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_number() ? json[key].get<int64_t>()
                                                                         : 0;
}

std::string text_in(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string()
             ? json[key].get<std::string>()
             : "";
}

int build(const Arguments& arguments) {
  const auto project = Project::read(arguments.folder);
  if (!project.ok()) return fail(kVerb, project.status());
  Progress progress(kVerb);
  progress.start("build");
  ServerBounds bounds(kBuildMs);
  bounds.on_progress = [&](const std::string& text) {
    progress.start(absl::StrCat("build: ", shown(text)));
  };
  const auto built = call_server(*project, "build", {{"driver", arguments.driver}}, bounds);
  progress.stop();
  if (!built.ok()) return fail(kVerb, built.status());
  std::printf("%s\n", shown(text_in(*built, "image")).c_str());
  for (const Json& memory : built->value("memories", Json::array())) {
    std::printf("  %-8s %8lld of %lld bytes\n", shown(text_in(memory, "name")).c_str(),
                static_cast<long long>(number_of(memory, "used")),
                static_cast<long long>(number_of(memory, "size")));
  }
  const std::string device = text_in(*built, "device");
  if (!device.empty()) std::printf("--device '%s'\n", shown(device).c_str());
  return kDone;
}

int flash(const Arguments& arguments) {
  const auto project = Project::read(arguments.folder);
  if (!project.ok()) return fail(kVerb, project.status());
  Json params = {{"driver", arguments.driver}};
  if (!arguments.device.empty()) params["device"] = arguments.device;
  const auto flashed = call_server(*project, "flash", std::move(params), kFlashMs);
  if (!flashed.ok()) return fail(kVerb, flashed.status());
  std::printf("%s\n", shown(text_in(*flashed, "message")).c_str());
  return kDone;
}

void print_report(const Json& report) {
  const auto ticks = static_cast<unsigned long long>(number_of(report, "ticks"));
  const auto hz = static_cast<unsigned long long>(number_of(report, "hz"));
  const std::string problem = text_in(report, "timer_problem");
  if (!problem.empty()) {
    std::printf("time: not known, %s\n", shown(problem).c_str());
  } else if (hz > 0) {
    std::printf("time: %llu ticks of %llu Hz, %.3f ms\n", ticks, hz,
                1000.0 * static_cast<double>(ticks) / static_cast<double>(hz));
  }
  if (number_of(report, "stack_bytes") > 0) {
    std::printf("stack: %lld of %lld bytes\n",
                static_cast<long long>(number_of(report, "stack_used")),
                static_cast<long long>(number_of(report, "stack_bytes")));
  }
}

// The index of a method; NotFound lists those that there are.
absl::StatusOr<size_t> find_method(const ModelPackage& package, const std::string& name) {
  for (size_t i = 0; i < package.methods.size(); ++i) {
    if (package.methods[i].name == name) return i;
  }
  return absl::NotFoundError(absl::StrCat(
      "there is no method '", name, "'; there are ",
      absl::StrJoin(package.methods, ", ", [](std::string* out, const PackageMethod& one) {
        absl::StrAppend(out, "'", one.name, "'");
      })));
}

absl::Status run_files(const Arguments& arguments) {
  PETREL_ASSIGN_OR_RETURN(const Project project, Project::read(arguments.folder));
  PETREL_ASSIGN_OR_RETURN(const size_t method, find_method(project.package, arguments.method));
  const std::string folder = fs::path(arguments.folder) / "build" / "run";
  std::error_code failed;
  fs::remove_all(folder, failed);
  fs::create_directories(folder, failed);
  if (failed) {
    return absl::PermissionDeniedError(
        absl::StrCat("'", folder, "' cannot be made: ", failed.message()));
  }
  ArrayOptions arrays = arguments.arrays;
  arrays.max_bytes = arguments.limits.max_input_bytes;
  PETREL_RETURN_IF_ERROR(write_inputs(project.package.methods[method], arrays, folder));
  const auto timeout_ms = static_cast<int64_t>(1000 * arguments.seconds);
  PETREL_ASSIGN_OR_RETURN(const Json report,
                          call_server(project, "run",
                                      {{"method", method},
                                       {"folder", fs::absolute(folder, failed).string()},
                                       {"timeout_ms", timeout_ms}},
                                      timeout_ms + kListMs));
  PETREL_RETURN_IF_ERROR(show_board_outputs(project.package.methods[method], arrays, folder));
  print_report(report);
  return absl::OkStatus();
}

int run(const Arguments& arguments) {
  const absl::Status done = run_files(arguments);
  return done.ok() ? kDone : fail(kVerb, done);
}

// What the board sends, for some seconds.
int monitor(const Arguments& arguments) {
  auto project = Project::read(arguments.folder);
  if (!project.ok()) return fail(kVerb, project.status());
  if (!arguments.device.empty()) project->device = arguments.device;
  const auto stream = open_any_stream(*project, arguments.driver);
  if (!stream.ok()) return fail(kVerb, stream.status());
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::milliseconds(static_cast<int64_t>(1000 * arguments.seconds));
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now())
            .count();
    if (left <= 0) return kDone;
    const auto bytes = (*stream)->read(4096, left);
    if (absl::IsDeadlineExceeded(bytes.status()) || (bytes.ok() && bytes->empty())) return kDone;
    if (!bytes.ok()) return fail(kVerb, bytes.status());
    std::fwrite(bytes->data(), 1, bytes->size(), stdout);
    std::fflush(stdout);
  }
}

absl::Status compare_clocks(const Arguments& arguments) {
  PETREL_ASSIGN_OR_RETURN(Project project, Project::read(arguments.folder));
  if (!arguments.device.empty()) project.device = arguments.device;
  PETREL_RETURN_IF_ERROR(
      call_server(project, "build", {{"driver", kCalibrate}}, kBuildMs).status());
  if (!project.board.flash.empty()) {
    PETREL_RETURN_IF_ERROR(
        call_server(project, "flash", {{"driver", kCalibrate}}, kFlashMs).status());
  }
  PETREL_ASSIGN_OR_RETURN(const auto stream, open_any_stream(project, kCalibrate));
  PETREL_ASSIGN_OR_RETURN(const BoardCalibration found,
                          calibrate(*stream, static_cast<int64_t>(1000 * arguments.seconds)));
  const auto told = static_cast<double>(found.told_hz);
  std::printf("timer: %.0f Hz by the clock of this machine, in %.1f s, within %.3f %%\n", found.hz,
              found.seconds, 100 * found.spread);
  std::printf("board: %.0f Hz, %+.3f %% of that\n", told, 100 * (told / found.hz - 1));
  const bool is_machine_s =
      !project.board.emulator.program.empty() || project.board.family == "host";
  if (!project.board.emulator.program.empty()) {
    std::printf("an emulator's time is no clock's: this tells how fast it runs here\n");
  }
  if (found.spread <= kMostSpread) return absl::OkStatus();
  const std::string doubt = absl::StrFormat(
      "the measurements differ by %.3g %%, more than the %g %% up to which they tell a frequency: "
      "something else held up the board, the line or this machine; measure again",
      100 * found.spread, 100 * kMostSpread);
  if (!is_machine_s) return absl::FailedPreconditionError(doubt);
  std::printf("not to be believed: %s\n", doubt.c_str());
  return absl::OkStatus();
}

int run_calibrate(const Arguments& arguments) {
  const absl::Status done = compare_clocks(arguments);
  return done.ok() ? kDone : fail(kVerb, done);
}

int list(const Arguments& arguments) {
  absl::StatusOr<Json> listed = Api().call("list_devices", Json::object());
  if (!arguments.folder.empty()) {
    const auto project = Project::read(arguments.folder);
    if (!project.ok()) return fail(kVerb, project.status());
    listed = call_server(*project, "list_devices", Json::object(), kListMs);
  }
  if (!listed.ok()) return fail(kVerb, listed.status());
  const Json devices = listed->value("devices", Json::array());
  for (const Json& device : devices) {
    std::printf("%s  %s  %s  %s\n", shown(text_in(device, "port")).c_str(),
                shown(text_in(device, "serial")).c_str(), shown(text_in(device, "usb")).c_str(),
                shown(text_in(device, "description")).c_str());
  }
  if (devices.empty()) std::printf("no device is plugged in; emulated boards need none\n");
  return kDone;
}

void print_board(const exir::Board& board) {
  std::printf("%s: %s\n  core %s", board.name.c_str(), board.description.c_str(),
              board.cores[0].cpu.c_str());
  for (const std::string& extension : board.cores[0].extensions) {
    std::printf(" %s", extension.c_str());
  }
  std::printf("\n");
  for (const exir::BoardMemory& memory : board.memories) {
    std::printf("  %s %s at 0x%llx, %lld bytes\n",
                memory.kind == exir::plan::PoolKind::kReadOnly ? "ro" : "rw", memory.name.c_str(),
                static_cast<unsigned long long>(memory.address),
                static_cast<long long>(memory.size));
  }
}

int info(const Arguments& arguments) {
  if (!arguments.board.empty()) {
    const auto board = exir::read_board(arguments.board);
    if (!board.ok()) return fail(kVerb, board.status());
    print_board(*board);
    return kDone;
  }
  if (arguments.folder.empty()) {
    for (const std::string& name : exir::board_names()) {
      const auto board = exir::read_board(name);
      if (!board.ok()) return fail(kVerb, board.status());
      std::printf("%-22s %s\n", name.c_str(), board->description.c_str());
    }
    return kDone;
  }
  const auto project = Project::read(arguments.folder);
  if (!project.ok()) return fail(kVerb, project.status());
  print_board(project->board);
  const ModelPackage& package = project->package;
  std::printf("model %s: %lld bytes of memory, %lld of constants\n",
              printable(package.name).c_str(), static_cast<long long>(package.memory_bytes()),
              static_cast<long long>(package.constant_bytes));
  for (const PackageMethod& method : package.methods) {
    std::printf("  method %s: %zu inputs, %zu outputs\n", printable(method.name).c_str(),
                method.inputs.size(), method.outputs.size());
  }
  return kDone;
}

void write_line(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

int serve() {
  Api api;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) continue;
    std::future<std::string> answer =
        std::async(std::launch::async, [&] { return api.answer(line); });
    // Whoever asks gives up on servers that are silent.
    while (answer.wait_for(kHeartbeat) != std::future_status::ready) {
      write_line(Api::progress_line(line, "at work"));
    }
    write_line(answer.get());
  }
  return kDone;
}

CLI::App* add_step(CLI::App& verb, const char* name, const char* help, int* exit_code,
                   const std::shared_ptr<Arguments>& arguments,
                   int (*step)(const Arguments& arguments)) {
  CLI::App* one = verb.add_subcommand(name, help);
  one->callback([arguments, exit_code, step] { *exit_code = step(*arguments); });
  return one;
}

void add_driver(CLI::App* step, const std::shared_ptr<Arguments>& arguments) {
  step->add_option("--driver", arguments->driver,
                   "standalone (default): runs alone; host_driven: does what the host asks")
      ->check(CLI::IsMember({kStandalone, kHostDriven}));
}

void add_device(CLI::App* step, const std::shared_ptr<Arguments>& arguments) {
  step->add_option("--device", arguments->device,
                   "serial number or port of one board among several; list-devices has them");
}

void add_run(CLI::App& verb, int* exit_code, const std::shared_ptr<Arguments>& arguments) {
  CLI::App* step = add_step(verb, "run", "Run a method on the board", exit_code, arguments, run);
  step->add_option("project", arguments->folder, "the folder of the project")->required();
  step->add_option("--method", arguments->method, "default: forward");
  step->add_option("--input", arguments->arrays.inputs,
                   "[NAME=]X.npy, or an array such as [1,2]:int64; inputs left out are ones")
      ->take_all()
      ->allow_extra_args(false);
  step->add_option("--output-dir", arguments->arrays.output_dir, "write output_0.npy, ... here");
  step->add_flag("--floats", arguments->arrays.floats,
                 "give and get numbers where the model takes and returns integers for them");
  step->add_option("--seconds", arguments->seconds, "how long the board may take; default: 60")
      ->check(number_in(0.1, 3600.0));
  step->add_option("--max-input-bytes", arguments->limits.max_input_bytes,
                   "of inputs that are not given");
}

}  // namespace

void add_project_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("project", "Build firmware around a model as C, and run it");
  verb->require_subcommand(1);
  CLI::App* step = add_step(*verb, "create", "Make a project for a board and a model", exit_code,
                            arguments, create);
  step->add_option("--board", arguments->board, "a name that info lists, or a file BOARD.json")
      ->required();
  step->add_option("--model", arguments->model, "a folder that `petrel gen-c` wrote")->required();
  step->add_option("-o,--output", arguments->folder, "the folder of the project")->required();
  add_device(step, arguments);
  step = add_step(*verb, "build", "Compile the firmware", exit_code, arguments, build);
  step->add_option("project", arguments->folder, "the folder of the project")->required();
  add_driver(step, arguments);
  step = add_step(*verb, "flash", "Write the firmware to the board", exit_code, arguments, flash);
  step->add_option("project", arguments->folder, "the folder of the project")->required();
  add_driver(step, arguments);
  add_device(step, arguments);
  add_run(*verb, exit_code, arguments);
  step = add_step(*verb, "monitor", "Show what the board sends", exit_code, arguments, monitor);
  step->add_option("project", arguments->folder, "the folder of the project")->required();
  step->add_option("--seconds", arguments->seconds, "how long; default: 60")
      ->check(number_in(0.1, 86400.0));
  add_driver(step, arguments);
  add_device(step, arguments);
  step = add_step(*verb, "calibrate", "Compare the timer of the board with this machine's clock",
                  exit_code, arguments, run_calibrate);
  step->add_option("project", arguments->folder, "the folder of the project")->required();
  step->add_option("--seconds", arguments->seconds, "how long the board may take; default: 60")
      ->check(number_in(0.1, 3600.0));
  add_device(step, arguments);
  add_project_tune(*verb, exit_code);
  step = add_step(*verb, "list-devices", "List the boards that are plugged in", exit_code,
                  arguments, list);
  step->add_option("project", arguments->folder, "whose server is asked");
  step = add_step(*verb, "info", "Tell of a project, a board, or all boards", exit_code, arguments,
                  info);
  step->add_option("project", arguments->folder, "the folder of the project");
  step->add_option("--board", arguments->board, "a name, or a file BOARD.json");
  step = verb->add_subcommand("serve", "Answer requests of the project API, one JSON line each");
  step->callback([exit_code] { *exit_code = serve(); });
  verb->footer(
      "Examples:\n"
      "  petrel gen-c kws.pt2 -o kws_c --name kws --board qemu-mps2-an386\n"
      "  petrel project create --board qemu-mps2-an386 --model kws_c -o p\n"
      "  petrel project build p\n"
      "  petrel project run p --input x.npy --output-dir out");
}

}  // namespace petrel::extension
