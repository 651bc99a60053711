// SPDX-License-Identifier: Apache-2.0
#include "exir/import/archive.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "exir/status_macros.h"
#include "schema/formats.h"

namespace petrel::exir {
namespace {

// The content of a one-word member without white space around it.
absl::StatusOr<std::string> read_word(const ZipArchive& zip, const std::string& name) {
  PETREL_ASSIGN_OR_RETURN(absl::Span<const uint8_t> bytes, zip.read(name));
  if (bytes.size() > 64) {
    return absl::InvalidArgumentError(
        absl::StrCat("member '", name, "' has ", bytes.size(), " bytes"));
  }
  const std::string text(bytes.begin(), bytes.end());
  return std::string(absl::StripAsciiWhitespace(text));
}

absl::Status check_word(const ZipArchive& zip, const std::string& name,
                        const std::string& expected) {
  PETREL_ASSIGN_OR_RETURN(std::string word, read_word(zip, name));
  if (word == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is '", word, "', must be '", expected, "'"));
}

absl::Status check_markers(const ZipArchive& zip) {
  if (!zip.contains("archive_format")) {
    for (const std::string& name : zip.names()) {
      if (absl::EndsWith(name, "serialized_exported_program.json")) {
        return absl::InvalidArgumentError(
            "was saved by torch 2.7 or older; save it again with 2.9 or newer");
      }
      if (absl::EndsWith(name, "data.pkl")) {
        return absl::InvalidArgumentError(
            "was written by torch.save or torch.jit.save; torch.export.save writes programs that "
            "can be read");
      }
    }
    return absl::InvalidArgumentError("is a zip archive but not an exported program");
  }
  PETREL_RETURN_IF_ERROR(check_word(zip, "archive_format", "pt2"));
  PETREL_RETURN_IF_ERROR(check_word(zip, "archive_version", "0"));
  if (!zip.contains("byteorder")) return absl::OkStatus();
  return check_word(zip, "byteorder", "little");
}

// Of ExecuTorch or Petrel, compiled already.
bool is_compiled(absl::Span<const uint8_t> bytes) {
  return bytes.size() >= schema::kHeaderOffset &&
         std::memcmp(bytes.data() + schema::kIdentifierOffset, schema::kProgramIdentifier,
                     schema::kMagicBytes) == 0;
}

absl::StatusOr<std::string> choose_program(const ZipArchive& zip, const std::string& wanted) {
  std::vector<std::string> programs;
  for (const std::string& name : zip.names()) {
    absl::string_view rest = name;
    if (!absl::ConsumePrefix(&rest, "models/")) continue;
    if (!absl::ConsumeSuffix(&rest, ".json")) continue;
    programs.emplace_back(rest);
    if (rest == wanted) return programs.back();
  }
  if (programs.size() == 1) return programs[0];
  if (programs.empty()) {
    return absl::InvalidArgumentError("has no member 'models/*.json'");
  }
  return absl::InvalidArgumentError(absl::StrCat("has ", programs.size(), " programs (",
                                                 absl::StrJoin(programs, ", "),
                                                 "), none of them called '", wanted, "'"));
}

}  // namespace

absl::StatusOr<ProgramArchive> open_program_archive(const std::string& path,
                                                    const std::string& wanted) {
  ProgramArchive archive;
  PETREL_ASSIGN_OR_RETURN(archive.file, MappedFile::open(path));
  if (is_compiled(archive.file->bytes())) {
    return absl::InvalidArgumentError("is a compiled program, not what torch.export.save writes");
  }
  PETREL_ASSIGN_OR_RETURN(archive.zip, ZipArchive::open(archive.file->bytes()));
  PETREL_RETURN_IF_ERROR(check_markers(archive.zip));
  PETREL_ASSIGN_OR_RETURN(archive.name, choose_program(archive.zip, wanted));
  archive.json_name = absl::StrCat("models/", archive.name, ".json");
  PETREL_ASSIGN_OR_RETURN(absl::Span<const uint8_t> bytes, archive.zip.read(archive.json_name));
  PETREL_ASSIGN_OR_RETURN(archive.json, JsonDocument::parse(bytes, archive.json_name));
  return archive;
}

}  // namespace petrel::exir
