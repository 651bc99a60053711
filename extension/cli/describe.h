// SPDX-License-Identifier: Apache-2.0
//
// The contents of a file as JSON, after verifying all of it: `petrel inspect`
// prints the description, `petrel verify` only wants to know that it exists.
//
//   .pte  {"kind": "program", "segments", "named_data", "methods": [{"name",
//          "inputs", "outputs", "arenas", "values", "instructions",
//          "delegates": [{"id", "payload_bytes", "graph"}]}]}
//   .ptd  {"kind": "data", "entries": [{"key", "bytes", "layout"}]}
//   .safetensors  {"kind": "tensors", "entries": as for .ptd}
//   .so   {"kind": "module", "machine", "abi_version", and what manifest.json has}
//   .pt2  {"kind": "archive", "torch_version", "schema", "graph": "text IR"}
#ifndef PETREL_EXTENSION_CLI_DESCRIBE_H_
#define PETREL_EXTENSION_CLI_DESCRIBE_H_

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "runtime/core/error.h"
#include "runtime/core/limits.h"

namespace petrel::extension {

struct DescribeResult {
  // A failure of the runtime's loaders, whose reason is logged; or
  runtime::Error error = runtime::Error::Ok;
  // one of the compiler's, or of telling what the file is.
  absl::Status status;
  nlohmann::ordered_json json;
};

// How much of a program is described: all, or what takes no memory for each part;
// all of it is checked.
enum class Detail { kAll, kOutline };

// `limits` are those of loading a program.
DescribeResult describe_file(const std::string& path, const runtime::Limits& limits,
                             Detail detail = Detail::kAll);

// The description for people, as it is made: a text of its own would take as much
// memory again.
void print_text(const nlohmann::ordered_json& description, std::ostream& out);

// The parts, by kind of file.
DescribeResult describe_program(const std::string& path, const runtime::Limits& limits,
                                Detail detail);
DescribeResult describe_data(const std::string& path);
DescribeResult describe_tensors(const std::string& path);
DescribeResult describe_archive(const std::string& path);
DescribeResult describe_module(const std::string& path);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_DESCRIBE_H_
