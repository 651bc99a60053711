// SPDX-License-Identifier: Apache-2.0
//
// Asks the server that a board names (api.h), or ours: a process that runs for one call only, or
// for several.
//
//   PETREL_ASSIGN_OR_RETURN(const Json result,
//                           call_server(project, "build", {{"driver", "standalone"}}, bounds));
//   PETREL_ASSIGN_OR_RETURN(const auto server, Server::start(project));
//   PETREL_ASSIGN_OR_RETURN(const Json again, server->call("build", {}, bounds));
//
// No wait is without a bound: a server is given up that is silent too long, that takes too long for
// all, that talks without an end, or whose answer is no JSON. An error is one line that names the
// server, the method and the bound.
#ifndef PETREL_EXTENSION_PROJECT_SERVER_CALL_H_
#define PETREL_EXTENSION_PROJECT_SERVER_CALL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "extension/project/api.h"
#include "extension/project/child.h"
#include "extension/project/project.h"

namespace petrel::extension {

struct ServerBounds {
  ServerBounds(int64_t total, size_t bytes = size_t{16} << 20)  // NOLINT: a number is one
      : total_ms(total), most_bytes(bytes) {}

  int64_t total_ms;   // for the answer, whatever is said before
  size_t most_bytes;  // of all that it writes
  // A line that the server wrote of how far it is. (optional)
  std::function<void(const std::string& text)> on_progress;
};

// A server that runs as long as the object lives, for calls that belong together.
class Server {
 public:
  // The project must outlive it.
  static absl::StatusOr<std::unique_ptr<Server>> start(const Project& project);

  // Its errors are errors here, Unavailable when no answer comes in time; DeadlineExceeded where it
  // says with code 4 that nothing came from the board. The bound on silence is the board's,
  // server_seconds.
  absl::StatusOr<Api::Json> call(const std::string& method, Api::Json params,
                                 const ServerBounds& bounds);

 private:
  explicit Server(const Project& project) : project_(project) {}

  const Project& project_;
  Child child_;
  std::string text_;  // what it wrote and nobody read
  int id_ = 0;        // of the last request
};

// One call of a server of its own, or of ours.
absl::StatusOr<Api::Json> call_server(const Project& project, const std::string& method,
                                      Api::Json params, const ServerBounds& bounds);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_SERVER_CALL_H_
