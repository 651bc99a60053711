// SPDX-License-Identifier: Apache-2.0
#include "extension/project/project.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/board/fields.h"
#include "exir/input/file_content.h"
#include "exir/json/json_text.h"
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
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (out) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("'", path.string(), "' cannot be written"));
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

// "needs 300 of 200 that 'sram' has: 100 are missing".
absl::Status missing(const ModelPackage& package, const Board& board, const std::string& needs,
                     int64_t needed, const std::string& memory, int64_t there) {
  return absl::FailedPreconditionError(
      absl::StrCat("model '", package.name, "' does not fit board '", board.name, "': it needs ",
                   needed, " bytes ", needs, ", and memory '", memory, "' has ", there, ": ",
                   needed - there, " are missing"));
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
  int64_t written = 0, read = 0;
  const BoardMemory* first_written = nullptr;
  const BoardMemory* first_read = nullptr;
  for (const BoardMemory& memory : board.memories) {
    const bool is_written = memory.kind == PoolKind::kReadWrite;
    (is_written ? written : read) += memory.free_bytes();
    const BoardMemory*& first = is_written ? first_written : first_read;
    if (first == nullptr) first = &memory;
  }
  if (first_written == nullptr || first_read == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "board '", board.name, "' has no memory of kind ", first_written == nullptr ? "rw" : "ro"));
  }
  // A package without pools has all of its memory in one place.
  const int64_t free = package.has_pools ? written : first_written->free_bytes();
  if (package.memory_bytes() > free) {
    return missing(package, board,
                   absl::StrCat("beside the ", first_written->reserved, " of the stack"),
                   package.memory_bytes(), first_written->name, free);
  }
  if (package.constant_bytes > read) {
    return missing(package, board, "of constants", package.constant_bytes, first_read->name, read);
  }
  return absl::OkStatus();
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
