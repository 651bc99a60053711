// SPDX-License-Identifier: Apache-2.0
//
// The project API: what whoever adds boards implements, as a process that reads requests from
// its standard input and writes answers to its standard output, one JSON object a line:
//
//   {"id": 1, "method": "build", "params": {"project": "/p", "driver": "standalone"}}
//   {"id": 1, "result": {"image": "/p/build/standalone.elf", "memories": []}}
//   {"id": 1, "progress": "compiling"}           before the result, as often as wanted
//   {"id": 2, "error": {"message": "'west' is not installed"}}
//
// docs/device.md has the methods. `petrel project serve` speaks it for the boards that are
// shipped; a board file names another command as its "server".
//
//   Api api;                                       // the shipped one
//   const Json answer = api.answer(request);       // never fails: errors are answers
#ifndef PETREL_EXTENSION_PROJECT_API_H_
#define PETREL_EXTENSION_PROJECT_API_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "extension/project/board_stream.h"

namespace petrel::extension {

inline constexpr int kApiVersion = 1;

class Api {
 public:
  using Json = nlohmann::ordered_json;

  // The line of an answer to the line of a request, without their ends.
  std::string answer(absl::string_view line);

  // What says that the request of this line is worked on.
  static std::string progress_line(absl::string_view line, const std::string& text);

  // The result of a method.
  absl::StatusOr<Json> call(const std::string& method, const Json& params);

 private:
  std::unique_ptr<BoardStream> stream_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_API_H_
