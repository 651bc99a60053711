// SPDX-License-Identifier: Apache-2.0
//
// A kernel that is not Petrel's, for the registry of an app.
#include <petrel/runtime/kernel/kernel.h>
#include <petrel/runtime/kernel/kernel_args.h>
#include <petrel/runtime/kernel/kernel_runtime_context.h>

namespace own {
namespace {

using petrel::runtime::Error;
using petrel::runtime::EValue;
using petrel::runtime::Kernel;
using petrel::runtime::KernelRuntimeContext;
using petrel::runtime::Span;

void refuse(KernelRuntimeContext& context, Span<EValue*>) { context.fail(Error::NotSupported); }

constexpr Kernel kKernels[] = {{"own::nothing.out", &refuse, {}}};

}  // namespace

Span<const Kernel> kernels() { return kKernels; }

}  // namespace own
