// SPDX-License-Identifier: Apache-2.0
//
// The stream of bytes of a board through the server that its file names: open_transport,
// read_transport, write_transport and close_transport of the project API. The server runs as long
// as the stream is open.
//
//   PETREL_ASSIGN_OR_RETURN(const auto stream, open_any_stream(project, kProfile));
#ifndef PETREL_EXTENSION_PROJECT_SERVER_STREAM_H_
#define PETREL_EXTENSION_PROJECT_SERVER_STREAM_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "extension/project/board_stream.h"
#include "extension/project/project.h"

namespace petrel::extension {

// Through the server where there is one that names open_transport among its methods, else
// open_stream(). The project must outlive the stream.
absl::StatusOr<std::unique_ptr<BoardStream>> open_any_stream(const Project& project,
                                                             const std::string& driver);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_SERVER_STREAM_H_
