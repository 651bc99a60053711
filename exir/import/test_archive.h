// SPDX-License-Identifier: Apache-2.0
//
// Archives for tests: taken apart, changed, and put together again, rightly or
// wrongly.
//
//   TestArchive archive = TestArchive::of("test/models/.../small.pt2");
//   archive.edit_program("\"dtype\": 7", "\"dtype\": 99");
//   import_pt2(archive.save("bad_dtype"), "forward")
#ifndef PETREL_EXIR_IMPORT_TEST_ARCHIVE_H_
#define PETREL_EXIR_IMPORT_TEST_ARCHIVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace petrel::exir {

struct TestMember {
  std::string name;
  std::string bytes;
  uint16_t method = 0;                           // 8 says deflated
  uint16_t flags = 0;                            // 1 says encrypted
  std::optional<uint32_t> crc = std::nullopt;    // a wrong one
  std::optional<uint32_t> size = std::nullopt;   // a wrong one, in the directory
  std::optional<uint32_t> place = std::nullopt;  // a wrong one of the header
};

// A zip archive without compression.
std::string write_zip(const std::vector<TestMember>& members);

std::string read_file(const std::string& path);

// Writes into the folder of the test and gives the path.
std::string write_test_file(const std::string& name, const std::string& bytes);

// Of a program: metadata is most of it, and nothing reads it but as strings.
std::string without_metadata(std::string text);

class TestArchive {
 public:
  // Members of the archive at `path`, under the root folder "m".
  static TestArchive of(const std::string& path);

  // Of the member whose name ends so; fails the test when there is none.
  TestMember& member(const std::string& suffix);
  void remove(const std::string& suffix);

  // Replaces the first `from`; fails the test when there is none.
  void edit(const std::string& suffix, const std::string& from, const std::string& to);
  void edit_program(const std::string& from, const std::string& to) {
    edit("models/model.json", from, to);
  }

  std::string bytes() const { return write_zip(members_); }
  std::string save(const std::string& name) const;

 private:
  std::vector<TestMember> members_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_TEST_ARCHIVE_H_
