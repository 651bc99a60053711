// SPDX-License-Identifier: Apache-2.0
#include "extension/project/api.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "exir/board/fields.h"
#include "exir/json/json_text.h"
#include "exir/status_macros.h"
#include "extension/project/board_run.h"
#include "extension/project/build.h"
#include "extension/project/child.h"
#include "extension/project/devices.h"

namespace petrel::extension {
namespace {

using exir::Fields;
using Json = Api::Json;
namespace fs = std::filesystem;

constexpr int64_t kMostMs = 3'600'000;
constexpr int64_t kMaxRead = 65536;
constexpr int64_t kFlashMs = 300'000;

const std::vector<std::string>& methods() {
  static const auto* const kMethods = new std::vector<std::string>{"server_info_query",
                                                                   "generate_project",
                                                                   "build",
                                                                   "flash",
                                                                   "run",
                                                                   "list_devices",
                                                                   "open_transport",
                                                                   "read_transport",
                                                                   "write_transport",
                                                                   "close_transport"};
  return *kMethods;
}

Json describe(const Image& image) {
  Json memories = Json::array();
  for (const MemoryUse& use : image.memories) {
    memories.push_back({{"name", use.name}, {"used", use.used}, {"size", use.size}});
  }
  return {{"image", image.path}, {"memories", memories}};
}

Json describe(const RunReport& report) {
  Json json = {{"ticks", report.ticks}, {"hz", report.hz}};
  if (!report.timer_problem.empty()) json["timer_problem"] = report.timer_problem;
  json["stack_used"] = report.stack_used;
  json["stack_bytes"] = report.stack_bytes;
  return json;
}

Json describe(const std::vector<SerialDevice>& devices) {
  Json rows = Json::array();
  for (const SerialDevice& device : devices) {
    rows.push_back({{"port", device.port},
                    {"serial", device.serial},
                    {"usb", device.usb},
                    {"description", device.description}});
  }
  return {{"devices", rows}};
}

absl::StatusOr<Json> info() {
  return Json{{"name", "petrel"},
              {"protocol_version", kApiVersion},
              {"methods", methods()},
              {"boards", exir::board_names()}};
}

absl::StatusOr<Project> project_of(Fields& params) {
  const std::string folder = params.text("project");
  PETREL_RETURN_IF_ERROR(params.problem());
  return Project::read(folder);
}

absl::StatusOr<Json> generate(Fields& params) {
  const std::string board = params.text("board"), model = params.text("model"),
                    folder = params.text("project"), device = params.text_or("device", "");
  PETREL_RETURN_IF_ERROR(params.finish());
  PETREL_RETURN_IF_ERROR(create_project(board, model, folder, device));
  return Json::object();
}

absl::StatusOr<Json> build(Fields& params) {
  PETREL_ASSIGN_OR_RETURN(const Project project, project_of(params));
  const std::string driver = params.text_or("driver", kStandalone);
  PETREL_RETURN_IF_ERROR(params.finish());
  if (driver != kStandalone && driver != kHostDriven && driver != kCalibrate &&
      driver != kProfile) {
    return absl::InvalidArgumentError(absl::StrCat("driver: is '", driver, "', must be ",
                                                   kStandalone, ", ", kHostDriven, ", ", kCalibrate,
                                                   " or ", kProfile));
  }
  PETREL_ASSIGN_OR_RETURN(const Image image, build_project(project, driver));
  Json result = describe(image);
  // A board that is not plugged in is no reason to fail.
  const auto device = device_spec(project, driver);
  if (driver == kHostDriven && device.ok()) result["device"] = *device;
  return result;
}

// Runs the command of the board file.
absl::StatusOr<Json> flash(Fields& params) {
  PETREL_ASSIGN_OR_RETURN(Project project, project_of(params));
  const std::string driver = params.text_or("driver", kHostDriven);
  const std::string device = params.text_or("device", project.device);
  PETREL_RETURN_IF_ERROR(params.finish());
  const exir::Board& board = project.board;
  if (!board.emulator.program.empty() || board.family == "host") {
    return Json{{"message", absl::StrCat("board '", board.name,
                                         "' has nothing to flash: `petrel project run` loads it")}};
  }
  if (board.flash.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "board '", board.name, "' names no command to flash it; \"flash\" in board.json does"));
  }
  PETREL_ASSIGN_OR_RETURN(const Image image, built_image(project, driver));
  std::string command = absl::StrJoin(board.flash, " ");
  SerialDevice found;
  if (command.find("{port}") != std::string::npos ||
      command.find("{serial}") != std::string::npos) {
    PETREL_ASSIGN_OR_RETURN(found, find_device(board, device, list_devices("/sys")));
  }
  std::error_code ignored;
  const std::string path = fs::absolute(image.path, ignored);
  std::vector<std::string> words;
  for (const std::string& word : board.flash) {
    words.push_back(absl::StrReplaceAll(
        word, {{"{image}", path}, {"{port}", found.port}, {"{serial}", found.serial}}));
  }
  Child child;
  Child::Options options;
  options.folder = project.folder;
  PETREL_RETURN_IF_ERROR(child.start(words, options));
  PETREL_ASSIGN_OR_RETURN(const Child::End end, child.finish(kFlashMs));
  if (end.code == 0) return Json{{"message", end.output}};
  return absl::InternalError(
      absl::StrCat("'", words[0], "' ended with ", end.code, ": ", end.output.substr(0, 500)));
}

absl::StatusOr<Json> run(Fields& params) {
  PETREL_ASSIGN_OR_RETURN(const Project project, project_of(params));
  const int64_t method = params.number("method", 0, 1000);
  const std::string folder = params.text("folder");
  const int64_t timeout_ms = params.number("timeout_ms", 1, kMostMs);
  PETREL_RETURN_IF_ERROR(params.finish());
  PETREL_ASSIGN_OR_RETURN(const RunReport report,
                          run_on_board(project, static_cast<size_t>(method), folder, timeout_ms));
  return describe(report);
}

Json id_of(const absl::StatusOr<Json>& request) {
  const bool has_id = request.ok() && request->is_object() && request->contains("id");
  return has_id ? (*request)["id"] : Json();
}

}  // namespace

absl::StatusOr<Json> Api::call(const std::string& method, const Json& given) {
  Fields params(given, "params");
  PETREL_RETURN_IF_ERROR(params.problem());
  if (method == "server_info_query") return info();
  if (method == "generate_project") return generate(params);
  if (method == "build") return build(params);
  if (method == "flash") return flash(params);
  if (method == "run") return run(params);
  if (method == "list_devices") return describe(extension::list_devices("/sys"));
  if (method == "open_transport") {
    PETREL_ASSIGN_OR_RETURN(Project project, project_of(params));
    const std::string driver = params.text_or("driver", kHostDriven);
    project.device = params.text_or("device", project.device);
    PETREL_RETURN_IF_ERROR(params.finish());
    PETREL_ASSIGN_OR_RETURN(stream_, open_stream(project, driver));
    return Json::object();
  }
  if (method == "close_transport") {
    stream_.reset();
    return Json::object();
  }
  const bool reads = method == "read_transport";
  if (!reads && method != "write_transport") {
    return absl::UnimplementedError(
        absl::StrCat("method: is '", method, "', must be one of ", absl::StrJoin(methods(), ", ")));
  }
  if (stream_ == nullptr) return absl::FailedPreconditionError("no transport is open");
  (void)params.text_or("project", "");  // of the open one
  const int64_t timeout_ms = params.number("timeout_ms", 0, kMostMs);
  std::string bytes;
  if (reads) {
    const int64_t most = params.number("bytes", 1, kMaxRead);
    PETREL_RETURN_IF_ERROR(params.finish());
    PETREL_ASSIGN_OR_RETURN(bytes, stream_->read(static_cast<size_t>(most), timeout_ms));
    return Json{{"data", absl::Base64Escape(bytes)}};
  }
  const bool has_data = given.contains("data") && given["data"].is_string();
  if (!has_data || !absl::Base64Unescape(given["data"].get<std::string>(), &bytes)) {
    return absl::InvalidArgumentError("params.data: must be bytes in base64");
  }
  PETREL_RETURN_IF_ERROR(stream_->write(bytes, timeout_ms));
  return Json::object();
}

std::string Api::progress_line(absl::string_view line, const std::string& text) {
  const auto request = exir::parse_json(line);
  return exir::json_text(Json{{"id", id_of(request)}, {"progress", text}});
}

std::string Api::answer(absl::string_view line) {
  const auto request = exir::parse_json(line);
  Json answer = {{"id", id_of(request)}};
  absl::StatusOr<Json> result = absl::InvalidArgumentError("a request must be an object");
  if (!request.ok()) {
    result = request.status();
  } else if (request->is_object()) {
    const bool has_method = request->contains("method") && (*request)["method"].is_string();
    result = has_method ? call((*request)["method"].get<std::string>(),
                               request->value("params", Json::object()))
                        : absl::InvalidArgumentError("method: is missing, must be a text");
  }
  if (result.ok()) {
    answer["result"] = *std::move(result);
  } else {
    answer["error"] = {{"code", static_cast<int>(result.status().code())},
                       {"message", std::string(result.status().message())}};
  }
  return exir::json_text(answer);
}

}  // namespace petrel::extension
