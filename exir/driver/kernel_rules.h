// SPDX-License-Identifier: Apache-2.0
//
// Rules of a user that say which kernel a node of generated C has.
//
//   PETREL_ASSIGN_OR_RETURN(options.kernels.forced, read_kernel_rules({"conv2d*=direct"}));
//   PETREL_ASSIGN_OR_RETURN(options.kernels.user, read_kernel_sources({"my.c:my_conv"}));
#ifndef PETREL_EXIR_DRIVER_KERNEL_RULES_H_
#define PETREL_EXIR_DRIVER_KERNEL_RULES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/emit_c/kernel_options.h"

namespace petrel::exir {

// InvalidArgument for a word that is not NODE=VARIANT.
absl::StatusOr<std::vector<emit_c::ForcedKernel>> read_kernel_rules(
    const std::vector<std::string>& words);

// FILE.c:SYMBOL, FILE.S:SYMBOL or FILE.a:SYMBOL. NotFound for a file that is not there;
// InvalidArgument for other files, and for one that does not have SYMBOL.
absl::StatusOr<std::vector<emit_c::UserKernel>> read_kernel_sources(
    const std::vector<std::string>& words);

// Flags of a compiler for these files. InvalidArgument for what make or a shell would take apart.
absl::StatusOr<std::vector<std::string>> read_kernel_flags(const std::vector<std::string>& words);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_DRIVER_KERNEL_RULES_H_
