// SPDX-License-Identifier: Apache-2.0
#include "exir/output/output_files.h"

#include <signal.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// While it lives, signals by which a user or a build ends this thread's process wait: between two
// names nobody may stop, or what was replaced stays beside it under a name that nobody knows.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ending, signal);
    pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

std::string canonical_path(const std::string& path) {
  std::error_code error;
  // A relative path to nothing would stay relative: "o" and "./o" would be two files.
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) return path;
  const std::filesystem::path found = std::filesystem::weakly_canonical(absolute, error);
  return error ? path : found.string();
}

absl::StatusOr<ByteSink> OutputFiles::open(const std::string& path, WhenOther when_other) {
  PETREL_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path));
  for (const Opened& opened : files_) {
    if (canonical_path(opened.file.target()) == canonical_path(file.target())) {
      return absl::InvalidArgumentError(
          absl::StrCat("two outputs would be written to '", path, "'"));
    }
  }
  if (!files_.empty()) PETREL_RETURN_IF_ERROR(files_.back().file.finish());
  files_.push_back({std::move(file), when_other});
  OutputFile* opened = &files_.back().file;
  return ByteSink([opened](absl::Span<const uint8_t> bytes) { return opened->write(bytes); });
}

absl::StatusOr<std::map<std::string, std::string>> OutputFiles::finish() {
  if (!files_.empty()) PETREL_RETURN_IF_ERROR(files_.back().file.finish());
  std::map<std::string, std::string> places;
  for (const Opened& opened : files_) places[opened.file.path()] = opened.file.temporary_path();
  return places;
}

absl::Status OutputFiles::publish() {
  if (!files_.empty()) PETREL_RETURN_IF_ERROR(files_.back().file.finish());
  for (const Opened& opened : files_) {
    if (opened.when_other == WhenOther::kReplace) continue;
    PETREL_ASSIGN_OR_RETURN(const bool differs, opened.file.differs_from_what_is_there());
    if (!differs) continue;
    return absl::AlreadyExistsError(
        absl::StrCat("'", opened.file.path(), "' is there with other contents"));
  }
  const HeldSignals held;
  for (auto opened = files_.begin(); opened != files_.end(); ++opened) {
    const absl::Status status = opened->file.publish();
    if (status.ok()) continue;
    for (auto done = files_.begin(); done != opened; ++done) done->file.withdraw();
    files_.clear();
    return status;
  }
  files_.clear();  // what was replaced is not needed any more
  return absl::OkStatus();
}

absl::Status check_is_not(const std::string& output, const std::string& what,
                          const std::string& input) {
  if (canonical_path(output) != canonical_path(input)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("output '", output, "' is ", what));
}

absl::Status write_output_file(const std::string& path, absl::Span<const uint8_t> bytes) {
  OutputFiles files;
  PETREL_ASSIGN_OR_RETURN(const ByteSink sink, files.open(path));
  PETREL_RETURN_IF_ERROR(sink(bytes));
  return files.publish();
}

absl::Status write_output_file(const std::string& path, absl::string_view text) {
  return write_output_file(
      path, absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

absl::Status check_output_path(const std::string& path) {
  return OutputFile::create(path).status();
}

}  // namespace petrel::exir
