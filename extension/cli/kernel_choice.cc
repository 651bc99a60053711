// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/kernel_choice.h"

#include "runtime/kernels/portable/kernels.h"

namespace petrel::extension {

using runtime::KernelLibrary;
using runtime::Registry;

void add_kernels_option(CLI::App& verb, std::string* choice) {
  *choice = "optimized";
  verb.add_option("--kernels", *choice,
                  "reference: only the portable kernels; optimized (default): a faster kernel\n"
                  "where this build has one, else the portable one")
      ->check(CLI::IsMember({"reference", "optimized"}));
}

const Registry& registry_of(const std::string& choice) {
  static constexpr KernelLibrary kPortable[] = {&runtime::portable_kernels};
  static const Registry reference(kPortable, runtime::default_registry().backends());
  return choice == "reference" ? reference : runtime::default_registry();
}

}  // namespace petrel::extension
