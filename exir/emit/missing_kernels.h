// SPDX-License-Identifier: Apache-2.0
//
// Kernels that a program calls and that are not where it is to run. The file
// itself is fine: another runtime may have them.
//
//   EmitOptions options;
//   options.has_kernel = [](const std::string& kernel) { return kernel == "aten::add.out"; };
//
//   error    1 kernel is missing: aten::relu.out of f32 (2 calls in method
//            'forward', the first by node 'relu' (aten.relu.default) at
//            model.py:12, in forward)
#ifndef PETREL_EXIR_EMIT_MISSING_KERNELS_H_
#define PETREL_EXIR_EMIT_MISSING_KERNELS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace petrel::exir {

struct KernelUse;

// Whether there is the kernel "aten::add.out".
using HasKernelFn = std::function<bool(const std::string& kernel)>;

struct MissingKernel {
  std::string method;
  std::string kernel;  // "aten::add.out"
  size_t calls = 0;
  // Of the first call; empty where no node makes it.
  std::string dtypes;  // of its tensors: "f32", "f32, i64"
  std::string node;
  std::string op;        // "aten.relu.default"
  std::string location;  // in the user's model
};

MissingKernel missing_kernel(const std::string& method, const KernelUse& use);

// All of them in one line. Precondition: there is one.
std::string describe_missing(const std::vector<MissingKernel>& missing);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_MISSING_KERNELS_H_
