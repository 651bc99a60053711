// SPDX-License-Identifier: Apache-2.0
//
// Damages an archive in every place of its JSON and of its zip structure. The
// import must fail with a message or succeed; it must not crash.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/import/import.h"
#include "exir/import/test_archive.h"
#include "exir/ir/verifier.h"

namespace petrel::exir {
namespace {

constexpr char kFixture[] = "exir/import/testdata/no_grad.pt2";

// A file that never leaves memory: the tests below write it many thousand times.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("mutation", MFD_CLOEXEC)) {}
  ~MemoryFile() { ::close(fd_); }

  std::string write(const std::string& bytes) const {
    const auto size = static_cast<ssize_t>(bytes.size());
    EXPECT_EQ(::ftruncate(fd_, size), 0);
    EXPECT_EQ(::pwrite(fd_, bytes.data(), bytes.size(), 0), size);
    return absl::StrCat("/proc/self/fd/", fd_);
  }

 private:
  int fd_;
};

struct Tally {
  int accepted = 0;
  int refused = 0;
};

void exercise(const std::string& bytes, Tally* tally) {
  static const MemoryFile* const kFile = new MemoryFile();
  const std::string path = kFile->write(bytes);
  const absl::StatusOr<Method> method = import_pt2(path, "forward");
  if (!method.ok()) {
    ++tally->refused;
    EXPECT_TRUE(absl::StartsWith(method.status().message(), path));
    return;
  }
  ++tally->accepted;
  const absl::Status valid = verify_graph(*method->graph);
  EXPECT_TRUE(valid.ok()) << valid;
  for (const Value* value : method->graph->constants()) {
    EXPECT_EQ(value->constant()->data.bytes().size(),
              static_cast<size_t>(value->constant()->type.nbytes()));
  }
}

void mutate_member(const std::string& name) {
  TestArchive archive = TestArchive::of(kFixture);
  std::string& text = archive.member(name).bytes;
  text = without_metadata(text);
  const std::string original = text;
  ASSERT_FALSE(original.empty());
  Tally tally;
  for (size_t place = 0; place < original.size(); ++place) {
    for (char value : {'\0', '\xff', static_cast<char>(~original[place]), '9'}) {
      if (value == original[place]) continue;
      text = original;
      text[place] = value;
      exercise(archive.bytes(), &tally);
    }
  }
  for (size_t size = 0; size < original.size(); ++size) {
    text = original.substr(0, size);
    exercise(archive.bytes(), &tally);
  }
  std::printf("%s: %d refused, %d accepted\n", name.c_str(), tally.refused, tally.accepted);
  EXPECT_GT(tally.refused, tally.accepted);
}

TEST(ImportMutation, SurvivesDamageToTheProgram) { mutate_member("models/model.json"); }

TEST(ImportMutation, SurvivesDamageToTheWeightsConfig) {
  mutate_member("model_weights_config.json");
}

TEST(ImportMutation, SurvivesDamageToTheWholeFile) {
  TestArchive archive = TestArchive::of(kFixture);
  archive.remove("data/sample_inputs/model.pt");
  std::string& program = archive.member("models/model.json").bytes;
  program = without_metadata(program);
  const std::string original = archive.bytes();
  Tally tally;
  for (size_t place = 0; place < original.size(); ++place) {
    for (char value : {'\0', '\xff', static_cast<char>(~original[place])}) {
      if (value == original[place]) continue;
      std::string changed = original;
      changed[place] = value;
      exercise(changed, &tally);
    }
  }
  for (size_t size = 0; size < original.size(); size += 7) {
    exercise(original.substr(0, size), &tally);
  }
  std::printf("whole file: %d refused, %d accepted\n", tally.refused, tally.accepted);
  EXPECT_GT(tally.refused, tally.accepted);
}

}  // namespace
}  // namespace petrel::exir
