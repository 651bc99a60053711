// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/backend_selection.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// One list; `owner` is "method 'x'" or "all methods". `known` has the backends
// of the lists before it by id.
absl::Status check_list(const std::string& owner, const std::vector<BackendUse>& uses,
                        std::map<std::string, const Backend*>* known) {
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < uses.size(); ++i) {
    const BackendUse& use = uses[i];
    if (use.backend == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("backend ", i, " of ", owner, " is null"));
    }
    const std::string id = use.backend->id();
    if (id.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("backend ", i, " of ", owner, " has an empty id"));
    }
    const auto [first, is_new] = seen.emplace(id, i);
    if (!is_new) {
      return absl::InvalidArgumentError(absl::StrCat("backend '", id, "' is given twice for ",
                                                     owner, ", as backends ", first->second,
                                                     " and ", i));
    }
    const Backend*& of_id = (*known)[id];
    if (of_id != nullptr && of_id != use.backend) {
      return absl::InvalidArgumentError(absl::StrCat("backend ", i, " of ", owner, " has the id '",
                                                     id, "', which another backend has, too"));
    }
    of_id = use.backend;
    if (use.whole_method && uses.size() > 1) {
      return absl::InvalidArgumentError(absl::StrCat("backend '", id,
                                                     "' is to get whole methods, but ", owner,
                                                     " has ", uses.size(), " backends"));
    }
    PETREL_RETURN_IF_ERROR(use.backend->check_compile_specs(use.compile_specs));
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<BackendUse>& BackendSelection::of(const std::string& method) const {
  const auto own = for_method.find(method);
  return own == for_method.end() ? for_all : own->second;
}

bool BackendSelection::empty() const {
  return for_all.empty() && std::all_of(for_method.begin(), for_method.end(),
                                        [](const auto& entry) { return entry.second.empty(); });
}

bool BackendSelection::keeps(const std::string& method, const OpInfo& op) const {
  const std::vector<BackendUse>& uses = of(method);
  return std::any_of(uses.begin(), uses.end(),
                     [&](const BackendUse& use) { return use.backend->partitioner().keeps(op); });
}

absl::Status BackendSelection::check(const std::set<std::string>& methods) const {
  std::map<std::string, const Backend*> known;
  PETREL_RETURN_IF_ERROR(check_list("all methods", for_all, &known));
  for (const auto& [method, uses] : for_method) {
    if (methods.count(method) == 0) {
      return absl::InvalidArgumentError(absl::StrCat("backends are chosen for method '", method,
                                                     "', which is not there; the methods are ",
                                                     absl::StrJoin(methods, ", ")));
    }
    PETREL_RETURN_IF_ERROR(check_list(absl::StrCat("method '", method, "'"), uses, &known));
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
