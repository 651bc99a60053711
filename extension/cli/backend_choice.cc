// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/backend_choice.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/status_macros.h"
#include "extension/cli/linked_backends.h"

namespace petrel::extension {
namespace {

constexpr char kNone[] = "none";  // kernels only

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const LinkedBackend& linked : linked_backends()) names.push_back(linked.name);
  names.push_back(kNone);
  return names;
}

const LinkedBackend* find_linked(const std::string& name) {
  for (const LinkedBackend& linked : linked_backends()) {
    if (name == linked.name) return &linked;
  }
  return nullptr;
}

// Compile specs by name of the backend; "" for those that name none.
using Specs = std::map<std::string, std::vector<exir::CompileSpec>>;

absl::StatusOr<Specs> read_specs(const std::vector<std::string>& texts) {
  Specs specs;
  for (const std::string& text : texts) {
    exir::CompileSpec spec;
    if (!split_pair(text, &spec.key, &spec.value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--compile-spec is '", text, "', must be KEY=VALUE or NAME:KEY=VALUE"));
    }
    std::string name;
    const size_t colon = spec.key.find(':');
    if (colon != std::string::npos && find_linked(spec.key.substr(0, colon)) != nullptr) {
      name = spec.key.substr(0, colon);
      spec.key.erase(0, colon + 1);
    }
    specs[name].push_back(std::move(spec));
  }
  return specs;
}

// The backends that are named, each once, with their lists.
class Choice {
 public:
  absl::Status add(const std::string& text) {
    std::string method, name;
    const bool has_method = split_pair(text, &method, &name);
    if (!has_method) name = text;
    std::vector<exir::BackendUse>& list =
        has_method ? selection_.for_method[method] : selection_.for_all;
    bool& has_none = has_none_[has_method ? method : ""];
    const LinkedBackend* linked = find_linked(name);
    if (linked == nullptr && name != kNone) {
      return absl::InvalidArgumentError(
          absl::StrCat("--backend is '", text, "', must be NAME or METHOD=NAME with a name of ",
                       absl::StrJoin(names(), ", ")));
    }
    if (has_none || (linked == nullptr && !list.empty())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--backend '", text, "' cannot be combined with others: none must be alone"));
    }
    if (linked == nullptr) {
      has_none = true;
    } else {
      list.push_back({linked->backend()});
      used_[linked->name] = list.back().backend;
    }
    return absl::OkStatus();
  }

  absl::Status add_specs(const Specs& specs) {
    for (const auto& [name, of_backend] : specs) {
      const std::string option =
          absl::StrCat("--compile-spec '", of_backend[0].key, "=", of_backend[0].value, "'");
      if (name.empty() && used_.size() != 1) {
        return absl::InvalidArgumentError(absl::StrCat(option, " names no backend, there are ",
                                                       used_.size(), "; write NAME:KEY=VALUE"));
      }
      const auto found = name.empty() ? used_.begin() : used_.find(name);
      if (found == used_.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat(option, " is for backend '", name, "', which is not used"));
      }
      give(*found->second, of_backend);
    }
    return absl::OkStatus();
  }

  exir::BackendSelection take() { return std::move(selection_); }

 private:
  void give(const exir::Backend& backend, const std::vector<exir::CompileSpec>& specs) {
    const auto give_to = [&](std::vector<exir::BackendUse>& list) {
      for (exir::BackendUse& use : list) {
        if (use.backend != &backend) continue;
        use.compile_specs.insert(use.compile_specs.end(), specs.begin(), specs.end());
      }
    };
    give_to(selection_.for_all);
    for (auto& [method, list] : selection_.for_method) give_to(list);
  }

  exir::BackendSelection selection_;
  std::map<std::string, bool> has_none_;  // by method, "" for all
  std::map<std::string, const exir::Backend*> used_;
};

}  // namespace

bool split_pair(const std::string& text, std::string* out_key, std::string* out_value) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return false;
  *out_key = text.substr(0, equals);
  *out_value = text.substr(equals + 1);
  return true;
}

void add_backend_option(CLI::App& verb, OptionWords* given, OtherMethods others) {
  const std::string default_name = others == OtherMethods::kNone ? kNone : names().front();
  verb.add_option_function<Words>(
          "--backend", [given](const Words& words) { (*given)["backend"] = words; },
          absl::StrCat(absl::StrJoin(names(), ", "), " (default: ", default_name,
                       "; none: kernels only);\nseveral in order of priority;"
                       " METHOD=NAME for one method"))
      ->take_all()
      ->allow_extra_args(false);
}

absl::StatusOr<exir::BackendSelection> select_backends(const OptionWords& given) {
  return select_given_backends(given, OtherMethods::kFirstLinked);
}

absl::StatusOr<exir::BackendSelection> select_given_backends(const OptionWords& given,
                                                             OtherMethods others) {
  const auto words_of = [&](const char* name) {
    const auto words = given.find(name);
    return words == given.end() ? Words() : words->second;
  };
  Choice choice;
  bool names_all = false;
  for (const std::string& text : words_of("backend")) {
    PETREL_RETURN_IF_ERROR(choice.add(text));
    names_all = names_all || text.find('=') == std::string::npos;
  }
  if (!names_all && others == OtherMethods::kFirstLinked) {
    PETREL_RETURN_IF_ERROR(choice.add(names().front()));
  }
  PETREL_ASSIGN_OR_RETURN(const Specs specs, read_specs(words_of("compile-spec")));
  PETREL_RETURN_IF_ERROR(choice.add_specs(specs));
  exir::BackendSelection selection = choice.take();
  if (selection.empty() && given.count("whole-methods") != 0) {
    return absl::InvalidArgumentError("--whole-methods needs a backend to give them to");
  }
  return selection;
}

}  // namespace petrel::extension
