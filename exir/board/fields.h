// SPDX-License-Identifier: Apache-2.0
//
// The keys of one JSON object, each taken once by who knows it, and the first thing that is
// wrong with any of them.
//
//   Fields fields(json, "memories[1]");
//   const std::string name = fields.text("name");
//   const int64_t size = fields.bytes("size", 1, kMaxBytes);
//   PETREL_RETURN_IF_ERROR(fields.finish());   // "memories[1]: size: is -4, must be ..."
//
// A key that nobody takes is an error, so that a misspelt one is seen; who reads a file that may
// have more looks at problem() instead. Refers to the JSON.
#ifndef PETREL_EXIR_BOARD_FIELDS_H_
#define PETREL_EXIR_BOARD_FIELDS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace petrel::exir {

class Fields {
 public:
  using Json = nlohmann::ordered_json;

  Fields(const Json& json, std::string place);

  bool has(const char* key) const;
  // What is missing or wrong reads as the default, "" or the least, and is noted.
  std::string text(const char* key);
  std::string text_or(const char* key, const std::string& otherwise);
  bool flag(const char* key);
  int64_t number(const char* key, int64_t least, int64_t most);
  // A number, or "64K" or "0x20000000".
  int64_t bytes(const char* key, int64_t least, int64_t most);
  std::vector<std::string> texts(const char* key);  // may be missing
  // The objects of a list, which may be missing; each with its place.
  std::vector<Fields> list(const char* key);
  Fields object(const char* key);  // an empty one where it is missing

  void note(const std::string& key, const std::string& problem);
  void note(const absl::Status& status);
  // The first problem so far.
  const absl::Status& problem() const { return problem_; }
  // The first problem, or the first key that nobody took.
  absl::Status finish();

 private:
  const Json* take(const char* key);

  const Json* json_;
  std::string place_;
  std::set<std::string> taken_;
  absl::Status problem_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BOARD_FIELDS_H_
