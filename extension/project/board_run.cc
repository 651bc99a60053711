// SPDX-License-Identifier: Apache-2.0
#include "extension/project/board_run.h"

#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "exir/input/file_content.h"
#include "exir/status_macros.h"
#include "extension/project/build.h"
#include "extension/project/child.h"

namespace petrel::extension {
namespace {

namespace fs = std::filesystem;
using exir::Board;

// As firmware/app/standalone.c writes it, little-endian.
constexpr uint32_t kReportMagic = 0x54525050;
constexpr size_t kReportWords = 8;
// Of the exit codes of firmware: its own, and the one of a fault.
constexpr int kFault = 99;

std::string status_text(int32_t status) {
  switch (status) {
    case -1:
      return "a pointer is NULL";
    case -2:
      return "memory is not aligned";
    case -3:
      return "memory is too small";
    case -4:
      return "a file of an input is not there, or has too few bytes";
    case -5:
      return "an index in a tensor is out of range, or an integer is divided by 0";
    case -7:
      return "pointers overlap";
    case -8:
      return "the model does not take these sizes";
    default:
      return absl::StrCat("status ", status);
  }
}

std::string timer_text(int32_t status) {
  switch (status) {
    case 0:
      return "";
    case -3:
      return "the timer was in the wrong state";
    case -4:
      return "the timer ran over";
    case -5:
      return "the timer does not count";
    case -6:
      return "there is no timer";
    default:
      return absl::StrCat("the timer says ", status);
  }
}

uint32_t word_at(const std::string& bytes, size_t index) {
  uint32_t word = 0;
  for (size_t i = 4; i-- > 0;) word = word << 8 | static_cast<uint8_t>(bytes[4 * index + i]);
  return word;
}

absl::StatusOr<RunReport> read_report(const Project& project, const std::string& folder) {
  const std::string path = fs::path(folder) / "report.bin";
  const auto bytes = exir::read_file_content(path, 4096);
  if (!bytes.ok() || bytes->size() != 4 * kReportWords || word_at(*bytes, 0) != kReportMagic) {
    return absl::InternalError(
        absl::StrCat("board '", project.board.name, "' wrote no report of the run"));
  }
  const auto status = static_cast<int32_t>(word_at(*bytes, 1));
  if (status != 0) {
    return absl::FailedPreconditionError(absl::StrCat("model '", project.package.name,
                                                      "' on board '", project.board.name,
                                                      "': ", status_text(status)));
  }
  RunReport report;
  report.timer_problem = timer_text(static_cast<int32_t>(word_at(*bytes, 2)));
  if (project.board.timer.stops_in_sleep && project.package.has_devices) {
    report.timer_problem =
        "the timer stands still in sleep, in which the model may wait for its devices";
  }
  report.hz = word_at(*bytes, 3);
  report.ticks = uint64_t{word_at(*bytes, 5)} << 32 | word_at(*bytes, 4);
  report.stack_used = word_at(*bytes, 6);
  report.stack_bytes = word_at(*bytes, 7);
  if (report.stack_bytes > 0 && report.stack_used >= report.stack_bytes) {
    return absl::FailedPreconditionError(
        absl::StrCat("the stack ran over on board '", project.board.name, "': all of its ",
                     report.stack_bytes, " bytes were used, and maybe more"));
  }
  return report;
}

absl::Status ended_badly(const Board& board, const Child::End& end) {
  const absl::string_view said = absl::StripAsciiWhitespace(end.output);
  const std::string words = said.empty() ? "" : absl::StrCat(": ", said.substr(0, 500));
  if (end.code == kFault) {
    return absl::InternalError(absl::StrCat("the firmware ran into a fault on board '", board.name,
                                            "', as when the stack runs over", words));
  }
  return absl::InternalError(
      absl::StrCat("the firmware on board '", board.name, "' ended with ", end.code, words));
}

}  // namespace

std::vector<std::string> emulator_words(const Board& board, const std::string& image,
                                        const std::string& serial,
                                        const std::vector<std::string>& arguments) {
  if (board.emulator.program.empty()) return {image};
  std::string semihosting = "enable=on,target=native,arg=firmware";
  for (const std::string& one : arguments) absl::StrAppend(&semihosting, ",arg=", one);
  std::vector<std::string> words = {board.emulator.program, "-M", board.emulator.machine};
  words.insert(words.end(), board.emulator.flags.begin(), board.emulator.flags.end());
  for (const std::string& word :
       {std::string("-nographic"), std::string("-monitor"), std::string("none"),
        std::string("-serial"), serial, std::string("-semihosting-config"), semihosting,
        std::string("-kernel"), image}) {
    words.push_back(word);
  }
  return words;
}

absl::StatusOr<RunReport> run_on_board(const Project& project, size_t method,
                                       const std::string& folder, int64_t timeout_ms) {
  const Board& board = project.board;
  if (board.emulator.program.empty() && board.family != "host") {
    return absl::UnimplementedError(
        absl::StrCat("board '", board.name,
                     "' reaches no files of this machine; flash the "
                     "host-driven program and run the model through its stream"));
  }
  PETREL_ASSIGN_OR_RETURN(const Image image, built_image(project, kStandalone));
  if (!board.emulator.program.empty()) {
    PETREL_RETURN_IF_ERROR(check_installed(board.emulator.program, board.emulator.install, board));
  }
  std::error_code failed;
  fs::remove(fs::path(folder) / "report.bin", failed);
  const std::string path = fs::absolute(image.path, failed);
  Child child;
  Child::Options options;
  options.folder = folder;
  options.environment = {{"PETREL_METHOD", absl::StrCat(method)}};
  PETREL_RETURN_IF_ERROR(
      child.start(emulator_words(board, path, "null", {absl::StrCat(method)}), options));
  PETREL_ASSIGN_OR_RETURN(const Child::End end, child.finish(timeout_ms));
  if (end.code != 0) return ended_badly(board, end);
  return read_report(project, folder);
}

}  // namespace petrel::extension
