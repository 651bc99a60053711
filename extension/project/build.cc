// SPDX-License-Identifier: Apache-2.0
#include "extension/project/build.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "exir/status_macros.h"
#include "extension/project/child.h"

namespace petrel::extension {
namespace {

namespace fs = std::filesystem;
using exir::Board;
using exir::BoardMemory;

constexpr int64_t kBuildMs = 600'000;
constexpr int64_t kSizeMs = 20'000;

std::string image_path(const Project& project, const std::string& driver) {
  return fs::path(project.folder) / "build" / (driver + ".elf");
}

// "region `sram' overflowed by 123 bytes", of GNU ld.
std::optional<std::pair<std::string, int64_t>> overflow_in(absl::string_view line) {
  const size_t begin = line.find("region `");
  const size_t end = line.find("' overflowed by ");
  if (begin == absl::string_view::npos || end == absl::string_view::npos || end < begin) return {};
  absl::string_view rest = line.substr(end + 16);
  int64_t bytes = 0;
  if (!absl::SimpleAtoi(rest.substr(0, rest.find(' ')), &bytes)) return {};
  return std::make_pair(std::string(line.substr(begin + 8, end - begin - 8)), bytes);
}

// What a failed build says, in terms of the board: all memories that are too small.
absl::Status failure(const Project& project, const std::string& output) {
  std::string first;
  std::vector<std::string> short_of;
  for (const absl::string_view line : absl::StrSplit(output, '\n')) {
    const auto overflow = overflow_in(line);
    for (const BoardMemory& memory : project.board.memories) {
      if (!overflow.has_value() || memory.name != overflow->first) continue;
      short_of.push_back(absl::StrCat(
          "memory '", memory.name, "' has ", memory.size, " bytes",
          memory.reserved > 0 ? absl::StrCat(", ", memory.reserved, " of them for the stack") : "",
          "; ", overflow->second, " are missing"));
    }
    if (first.empty() && (absl::StrContains(line, "error:") || absl::StrContains(line, "***"))) {
      first = std::string(line);
    }
  }
  if (!short_of.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the firmware of model '", project.package.name, "' does not fit board '",
                     project.board.name, "': ", absl::StrJoin(short_of, "; ")));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the firmware in '", project.folder,
                   "' does not compile: ", first.empty() ? output.substr(0, 500) : first));
}

// Sections by `size -A`: "name  bytes  address"; each counts where its address lies. Where .data
// is loaded from counts too.
void add_sections(const std::string& text, std::vector<MemoryUse>* uses, const Board& board) {
  int64_t data = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    int64_t bytes = 0;
    uint64_t address = 0;
    if (words.size() != 3 || !absl::SimpleAtoi(words[1], &bytes) ||
        !absl::SimpleAtoi(words[2], &address) || words[0] == ".stack") {
      continue;
    }
    if (words[0] == ".data") data = bytes;
    for (size_t i = 0; i < board.memories.size(); ++i) {
      const BoardMemory& memory = board.memories[i];
      const bool lies_here = address >= memory.address &&
                             address < memory.address + static_cast<uint64_t>(memory.size);
      // Sections of debugging have address 0 and are not loaded.
      const bool is_loaded = absl::StartsWith(words[0], ".") &&
                             !absl::StartsWith(words[0], ".debug") && words[0] != ".comment" &&
                             !absl::StrContains(words[0], "attributes");
      if (lies_here && is_loaded) (*uses)[i].used += bytes;
    }
  }
  for (size_t i = 0; i < board.memories.size(); ++i) {
    if (board.memories[i].kind != exir::plan::PoolKind::kReadOnly) continue;
    (*uses)[i].used += data;
    break;
  }
}

absl::Status run_make(const Project& project, const std::string& driver) {
  PETREL_RETURN_IF_ERROR(check_installed("make", "apt-get install make", project.board));
  PETREL_RETURN_IF_ERROR(check_installed(project.board.toolchain.prefix + "gcc",
                                         project.board.toolchain.install, project.board));
  Child child;
  Child::Options options;
  options.folder = project.folder;
  options.environment = {{"LC_ALL", "C"}};
  PETREL_RETURN_IF_ERROR(child.start({"make", "-j2", "DRIVER=" + driver}, options));
  PETREL_ASSIGN_OR_RETURN(const Child::End end, child.finish(kBuildMs));
  return end.code == 0 ? absl::OkStatus() : failure(project, end.output);
}

absl::Status run_cmake(const Project& project, const std::string& driver) {
  PETREL_RETURN_IF_ERROR(check_installed("cmake", "apt-get install cmake", project.board));
  for (const auto& words :
       {std::vector<std::string>{"cmake", "-S", ".", "-B", "build", "-DDRIVER=" + driver},
        std::vector<std::string>{"cmake", "--build", "build"}}) {
    Child child;
    Child::Options options;
    options.folder = project.folder;
    options.environment = {{"LC_ALL", "C"}};
    PETREL_RETURN_IF_ERROR(child.start(words, options));
    PETREL_ASSIGN_OR_RETURN(const Child::End end, child.finish(kBuildMs));
    if (end.code != 0) return failure(project, end.output);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status check_installed(const std::string& program, const std::string& install,
                             const Board& board) {
  if (!find_program(program).empty()) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("'", program, "', which board '", board.name, "' needs, is not installed",
                   install.empty() ? "" : absl::StrCat("; this installs it: ", install)));
}

absl::StatusOr<Image> build_project(const Project& project, const std::string& driver) {
  PETREL_RETURN_IF_ERROR(check_fits(project.package, project.board));
  PETREL_RETURN_IF_ERROR(project.board.family == "generic" ? run_cmake(project, driver)
                                                           : run_make(project, driver));
  return built_image(project, driver);
}

absl::StatusOr<Image> built_image(const Project& project, const std::string& driver) {
  Image image;
  image.path = image_path(project, driver);
  std::error_code ignored;
  if (!fs::exists(image.path, ignored)) {
    return absl::NotFoundError(absl::StrCat(
        "'", image.path, "' is not there; `petrel project build ", project.folder, "` makes it"));
  }
  for (const BoardMemory& memory : project.board.memories) {
    image.memories.push_back({memory.name, 0, memory.size});
  }
  const std::string size = project.board.toolchain.prefix + "size";
  if (image.memories.empty() || find_program(size).empty()) return image;
  Child child;
  PETREL_RETURN_IF_ERROR(child.start({size, "-A", image.path}, {}));
  PETREL_ASSIGN_OR_RETURN(const Child::End end, child.finish(kSizeMs));
  add_sections(end.output, &image.memories, project.board);
  return image;
}

}  // namespace petrel::extension
