// SPDX-License-Identifier: Apache-2.0
//
// What data a file has or needs, as JSON:
//
//   {"file", "kind": "program", "entries": [
//     {"key", "bytes", "place", "layout": {"dtype", "sizes", "dim_order"},
//      "users": [{"method", "backend"}]}], "unread": [{"method", "backend"}]}
//
//   place    "named"     in the program, as delegates find it
//            "constant"  for kernels, in the program, under the weight's name
//            "outside"   to be given from a data file
//            "file"      an entry of a data file, which has no users
//   has_more_users   there, and true, where there are too many to list
//   users    by method and backend, "kernels" among these
//   unread   delegates whose keys only their backends know
#ifndef PETREL_EXTENSION_RELINK_DATA_LIST_H_
#define PETREL_EXTENSION_RELINK_DATA_LIST_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/core/limits.h"

namespace petrel::extension {

absl::StatusOr<nlohmann::ordered_json> list_data(const std::string& path,
                                                 const runtime::Limits& limits = {});

// One line per entry, and the sum.
std::string render_data_list(const nlohmann::ordered_json& list);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_RELINK_DATA_LIST_H_
