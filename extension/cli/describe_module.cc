// SPDX-License-Identifier: Apache-2.0
//
// A compiled module as JSON: its file as data, nothing of it is run.
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/json/json_text.h"
#include "extension/cli/describe.h"
#include "extension/compiled/module_file.h"

namespace petrel::extension {

DescribeResult describe_module(const std::string& path) {
  DescribeResult result;
  const auto file = ModuleFile::open(path);
  if (!file.ok()) {
    result.error = file.error();
    return result;
  }
  auto manifest = exir::parse_json(file->manifest());
  if (manifest.ok() && !manifest->is_object()) {
    manifest = absl::InvalidArgumentError("is not a JSON object");
  }
  if (!manifest.ok()) {
    result.status = exir::annotate(manifest.status(), absl::StrCat(path, ": its manifest"));
    return result;
  }
  result.json = {{"file", path},
                 {"kind", "module"},
                 {"bytes", file->bytes()},
                 {"machine", file->machine()},
                 {"abi_version", file->abi_version()}};
  // What the file itself is, the manifest does not decide.
  for (auto& [key, value] : manifest->items()) {
    if (!result.json.contains(key)) result.json[key] = std::move(value);
  }
  return result;
}

}  // namespace petrel::extension
