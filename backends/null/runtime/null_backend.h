// SPDX-License-Identifier: Apache-2.0
//
// The runtime's half of the null backend. A handle is the payload as an array
// of values in memory of the method; results that do not leave the partition have
// room there too, so executing allocates nothing.
//
//   petrel_registry(name = "registry", backends = ["//backends/null/runtime"])
#ifndef PETREL_BACKENDS_NULL_RUNTIME_NULL_BACKEND_H_
#define PETREL_BACKENDS_NULL_RUNTIME_NULL_BACKEND_H_

#include "runtime/backend/interface.h"

namespace petrel::backends::null {

class NullBackend final : public runtime::BackendInterface {
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

runtime::Backend null_backend();

}  // namespace petrel::backends::null

#endif  // PETREL_BACKENDS_NULL_RUNTIME_NULL_BACKEND_H_
