// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/op.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace petrel::exir {

std::string OpInfo::full_name() const {
  return absl::StrCat(absl::StrReplaceAll(name, {{"::", "."}}), ".",
                      overload.empty() ? "default" : overload);
}

int OpInfo::find_arg(const std::string& arg_name) const {
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].name == arg_name) return static_cast<int>(i);
  }
  return -1;
}

int OpInfo::find_arg(ArgHandle arg) const {
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].handle == arg) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace petrel::exir
