// SPDX-License-Identifier: Apache-2.0
//
// The kernels that this very binary runs programs with, for exports that must
// run here.
#ifndef PETREL_EXTENSION_EXPORT_LINKED_KERNELS_H_
#define PETREL_EXTENSION_EXPORT_LINKED_KERNELS_H_

#include <string>

namespace petrel::extension {

// Whether default_registry() or the primitive operators have "aten::add.out".
bool is_kernel_linked(const std::string& kernel);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_EXPORT_LINKED_KERNELS_H_
