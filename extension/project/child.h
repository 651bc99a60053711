// SPDX-License-Identifier: Apache-2.0
//
// A program that runs beside this one, in a folder of its choice, with its standard input and
// output here. No wait is without a bound, and no process of it is left when the object goes.
//
//   Child child;
//   PETREL_RETURN_IF_ERROR(child.start({"make", "-C", "p"}, {}));
//   PETREL_ASSIGN_OR_RETURN(const Child::End end, child.finish(600000));
//   end.code, end.output
#ifndef PETREL_EXTENSION_PROJECT_CHILD_H_
#define PETREL_EXTENSION_PROJECT_CHILD_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace petrel::extension {

class Child {
 public:
  struct Options {
    std::string folder;                                            // "": this one's
    std::vector<std::pair<std::string, std::string>> environment;  // besides this one's
    bool joins_errors = true;  // standard error goes where standard output goes
  };
  struct End {
    int code = 0;        // 128 and the number of a signal that ended it
    std::string output;  // at most 1 MiB, the end of it
  };

  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  // NotFound when there is no such program.
  absl::Status start(const std::vector<std::string>& words, const Options& options);
  // All of it; DeadlineExceeded where it is not read in time, Unavailable when it has ended.
  absl::Status write(absl::string_view bytes, int64_t timeout_ms);
  // What has come, at least one byte; "" at the end. DeadlineExceeded when nothing comes in time.
  absl::StatusOr<std::string> read(size_t most, int64_t timeout_ms);
  // Reads up to its end. DeadlineExceeded when that does not come in time: it is killed then.
  absl::StatusOr<End> finish(int64_t timeout_ms);
  void kill();

 private:
  absl::StatusOr<int> reap(int64_t timeout_ms);

  std::string name_;
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
};

// Where the program lies that the shell would start; "" when it is not installed.
std::string find_program(const std::string& name);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_CHILD_H_
