// SPDX-License-Identifier: Apache-2.0
#include "extension/project/project.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/board/fields.h"
#include "exir/input/file_content.h"
#include "exir/json/json_text.h"
#include "exir/output/output_files.h"
#include "exir/status_macros.h"
#include "extension/project/firmware_files.h"
#include "extension/project/project_texts.h"

namespace petrel::extension {
namespace {

namespace fs = std::filesystem;
using exir::Board;
using exir::BoardMemory;
using exir::plan::PoolKind;

constexpr uint64_t kMaxProjectFile = 1 << 20;

absl::Status write_text(const fs::path& path, absl::string_view text) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  return exir::write_output_file(path.string(), text);
}

// The files of a folder; folders in it are the user's own.
absl::Status copy_files(const std::string& from, const fs::path& to) {
  std::error_code failed;
  fs::create_directories(to, failed);
  for (const fs::directory_entry& entry : fs::directory_iterator(from, failed)) {
    if (!entry.is_regular_file()) continue;
    fs::copy_file(entry.path(), to / entry.path().filename(), failed);
    if (failed) {
      return absl::PermissionDeniedError(absl::StrCat("'", entry.path().string(),
                                                      "' cannot be copied to '", to.string(),
                                                      "': ", failed.message()));
    }
  }
  return absl::OkStatus();
}

// Where the linker puts a section, as board.ld says: the first memory of a kind has no section.
size_t memory_of(const Board& board, PoolKind kind, const std::string& section) {
  for (size_t i = 0; i < board.memories.size(); ++i) {
    const std::string& own = board.memories[i].section;
    if (!own.empty() && (section == own || absl::StartsWith(section, own + "."))) return i;
  }
  const auto first = std::find_if(board.memories.begin(), board.memories.end(),
                                  [&](const BoardMemory& memory) { return memory.kind == kind; });
  return static_cast<size_t>(first - board.memories.begin());
}

// The bytes of each memory that the package takes.
std::vector<int64_t> bytes_needed(const ModelPackage& package, const Board& board) {
  std::vector<int64_t> needed(board.memories.size(), 0);
  needed[memory_of(board, PoolKind::kReadWrite, "")] += package.io_bytes();
  for (const PackageMemory& memory : package.memories) {
    needed[memory_of(board, PoolKind::kReadWrite, memory.section)] += memory.bytes;
  }
  int64_t others = package.constant_bytes;
  for (const PackageMemory& pool : package.constant_pools) {
    needed[memory_of(board, PoolKind::kReadOnly, pool.section)] += pool.bytes;
    others -= pool.bytes;
  }
  needed[memory_of(board, PoolKind::kReadOnly, "")] += std::max<int64_t>(0, others);
  return needed;
}

absl::Status write_files(const Board& board, const ModelPackage& package, const std::string& model,
                         const std::string& device, const fs::path& folder) {
  PETREL_ASSIGN_OR_RETURN(const std::vector<FirmwareFile> firmware, firmware_of(board.family));
  PETREL_RETURN_IF_ERROR(copy_files(model, folder / "model"));
  for (const FirmwareFile& file : firmware) {
    const std::string name(file.name());
    PETREL_RETURN_IF_ERROR(write_text(folder / "firmware" / name, file.text));
  }
  PETREL_RETURN_IF_ERROR(write_text(folder / "firmware" / "model.c", app_text(package)));
  if (!board.memories.empty()) {
    PETREL_RETURN_IF_ERROR(write_text(folder / "board.ld", linker_text(board)));
  }
  PETREL_RETURN_IF_ERROR(
      write_text(folder / "CMakeLists.txt", cmake_text(board, package, firmware)));
  PETREL_RETURN_IF_ERROR(write_text(folder / "Makefile", make_text(board, package, firmware)));
  PETREL_RETURN_IF_ERROR(write_text(folder / "board.json", board.text));
  const nlohmann::ordered_json json = {{"format", 1}, {"device", device}};
  return write_text(folder / "project.json", json.dump(2) + "\n");
}

}  // namespace

absl::Status check_fits(const ModelPackage& package, const Board& board) {
  if (board.memories.empty()) return absl::OkStatus();
  for (const PoolKind kind : {PoolKind::kReadWrite, PoolKind::kReadOnly}) {
    if (memory_of(board, kind, "") < board.memories.size()) continue;
    return absl::InvalidArgumentError(absl::StrCat("board '", board.name,
                                                   "' has no memory of kind ",
                                                   kind == PoolKind::kReadWrite ? "rw" : "ro"));
  }
  const std::vector<int64_t> needed = bytes_needed(package, board);
  std::vector<std::string> problems;
  for (size_t i = 0; i < needed.size(); ++i) {
    const BoardMemory& memory = board.memories[i];
    const int64_t there = memory.free_bytes();
    if (needed[i] <= there) continue;
    const std::string what = memory.kind == PoolKind::kReadOnly ? "of constants"
                             : memory.reserved > 0
                                 ? absl::StrCat("beside the ", memory.reserved, " of the stack")
                                 : "of values";
    problems.push_back(absl::StrCat("it needs ", needed[i], " bytes ", what, ", and memory '",
                                    memory.name, "' has ", there, ": ", needed[i] - there,
                                    " are missing"));
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("model '", package.name,
                                                    "' does not fit board '", board.name,
                                                    "': ", absl::StrJoin(problems, "; ")));
}

absl::StatusOr<Project> Project::read(const std::string& folder) {
  const std::string path = fs::path(folder) / "project.json";
  const auto text = exir::read_file_content(path, kMaxProjectFile);
  if (absl::IsNotFound(text.status())) {
    return absl::NotFoundError(
        absl::StrCat("'", folder, "' has no project.json; `petrel project create` makes projects"));
  }
  if (!text.ok()) return exir::annotate(text.status(), path);
  const auto json = exir::parse_json(*text);
  if (!json.ok()) return exir::annotate(json.status(), path);
  exir::Fields fields(*json, "");
  Project project;
  project.folder = folder;
  fields.number("format", 1, 1);
  project.device = fields.text_or("device", "");
  const absl::Status wrong = fields.finish();
  if (!wrong.ok()) return exir::annotate(wrong, path);
  PETREL_ASSIGN_OR_RETURN(project.board, exir::read_board(fs::path(folder) / "board.json"));
  PETREL_ASSIGN_OR_RETURN(project.package, ModelPackage::read(fs::path(folder) / "model"));
  return project;
}

absl::Status copy_project(const Project& project, const std::string& model,
                          const std::string& folder) {
  PETREL_ASSIGN_OR_RETURN(const ModelPackage package, ModelPackage::read(model));
  const ModelPackage& old = project.package;
  if (package.name != old.name || package.sources != old.sources ||
      package.has_plan != old.has_plan || package.methods.size() != old.methods.size()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the project in '", project.folder, "' has model '", old.name,
        "' as other options made it: create it anew from what these options of gen-c make"));
  }
  const fs::path from = project.folder, to = folder;
  PETREL_RETURN_IF_ERROR(copy_files(from, to));
  PETREL_RETURN_IF_ERROR(copy_files(from / "firmware", to / "firmware"));
  PETREL_RETURN_IF_ERROR(copy_files(model, to / "model"));
  PETREL_ASSIGN_OR_RETURN(const std::vector<FirmwareFile> shipped,
                          firmware_of(project.board.family));
  for (const FirmwareFile& file : shipped) {
    const fs::path path = to / "firmware" / std::string(file.name());
    std::error_code ignored;
    if (!fs::exists(path, ignored)) PETREL_RETURN_IF_ERROR(write_text(path, file.text));
  }
  return write_text(to / "firmware" / "model.c", app_text(package));
}

absl::Status create_project(const std::string& board_word, const std::string& model,
                            const std::string& folder, const std::string& device) {
  PETREL_ASSIGN_OR_RETURN(const Board board, exir::read_board(board_word));
  PETREL_ASSIGN_OR_RETURN(const ModelPackage package, ModelPackage::read(model));
  if (package.has_external) {
    return absl::FailedPreconditionError(
        absl::StrCat("model '", package.name,
                     "' has external parameters, whose pointers an "
                     "application sets; generate it without --params external for a project"));
  }
  PETREL_RETURN_IF_ERROR(check_fits(package, board));
  std::error_code failed;
  if (fs::exists(folder, failed) && !fs::is_empty(folder, failed)) {
    return absl::AlreadyExistsError(absl::StrCat("'", folder, "' is there already"));
  }
  const bool was_there = fs::exists(folder, failed);
  fs::create_directories(folder, failed);
  if (failed) {
    return absl::PermissionDeniedError(
        absl::StrCat("folder '", folder, "' cannot be made: ", failed.message()));
  }
  const absl::Status status = write_files(board, package, model, device, folder);
  if (status.ok()) return status;
  // It was empty, so all that is there is of this call.
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    fs::remove_all(entry.path(), failed);
  }
  if (!was_there) fs::remove(folder, failed);
  return status;
}

}  // namespace petrel::extension
