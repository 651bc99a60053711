// SPDX-License-Identifier: Apache-2.0
//
// The runtime's half of the bytecode backend: a stack machine whose values are
// blocks of elements, so that a chain of operators goes over memory once.
//
//   elements   |  block 0  |  block 1  |  block 2  |..|
//   code             '--> input 0, blob 0, mul, relu, output 0
//
// Blocks lie in temporary memory of the method, (locals + depth of the stack)
// of them. The load option "block" (int) says how long they are.
#ifndef PETREL_EXAMPLES_BACKEND_BYTECODE_RUNTIME_BYTECODE_BACKEND_H_
#define PETREL_EXAMPLES_BACKEND_BYTECODE_RUNTIME_BYTECODE_BACKEND_H_

#include "runtime/backend/interface.h"

namespace petrel::backends::bytecode {

class BytecodeBackend final : public runtime::BackendInterface {
 public:
  bool is_available() const override { return true; }
  runtime::Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::Span<const runtime::CompileSpec> compile_specs) const override;
  runtime::Error execute(runtime::BackendExecutionContext& context, runtime::DelegateHandle* handle,
                         runtime::Span<runtime::EValue*> args) const override;
  runtime::Result<size_t> num_outputs(runtime::DelegateHandle* handle) const override;
  void destroy(runtime::DelegateHandle* handle) const override;
};

runtime::Backend bytecode_backend();

}  // namespace petrel::backends::bytecode

#endif  // PETREL_EXAMPLES_BACKEND_BYTECODE_RUNTIME_BYTECODE_BACKEND_H_
