// SPDX-License-Identifier: Apache-2.0
//
// NeededData: every key that a program looks up, in itself or in data files, and who
// does: kernels, by the names of tensors, and delegates, by what their payloads say.
//
//   const NeededData needed = needed_data(program);
//   for (const auto& [key, need] : needed.keys) use(key, need.bytes, need.users);
//
// Payloads of XNNPACK are read; what other backends look up only they know, so
// their delegates are listed, and the weights that the program remembers have no
// user then.
#ifndef PETREL_EXTENSION_RELINK_NEEDED_DATA_H_
#define PETREL_EXTENSION_RELINK_NEEDED_DATA_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exir/ir/type.h"
#include "extension/relink/data_program.h"

namespace petrel::extension {

struct DataUser {
  std::string method;
  std::string backend;  // "kernels" for these

  bool operator<(const DataUser& other) const {
    return method != other.method ? method < other.method : backend < other.backend;
  }
};

struct NeededKey {
  uint64_t bytes = 0;
  std::optional<exir::TensorType> layout;
  std::set<DataUser> users;
  bool is_inside = false;  // as named data or as a constant
};

struct NeededData {
  // Many methods may share a payload with many keys: of more pairs of a user and a key than
  // this, the rest is not told.
  static constexpr size_t kMaxUses = 100'000;

  std::map<std::string, NeededKey> keys;
  bool has_more_users = false;
  // Whose keys are not known.
  std::set<DataUser> unread;

  // Keys that data files have to give.
  std::vector<std::string> missing() const;
};

NeededData needed_data(const DataProgram& program);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_RELINK_NEEDED_DATA_H_
