// SPDX-License-Identifier: Apache-2.0
//
// The runtime's half of the packed backend. A handle is the payload as an array
// of values in memory of the method; results that do not leave the partition have
// room there too, so executing allocates nothing.
//
//   petrel_registry(name = "registry", backends = ["//examples/backend_packed/runtime"])
#ifndef PETREL_EXAMPLES_BACKEND_PACKED_RUNTIME_PACKED_BACKEND_H_
#define PETREL_EXAMPLES_BACKEND_PACKED_RUNTIME_PACKED_BACKEND_H_

#include "runtime/backend/interface.h"

namespace petrel::backends::packed {

class PackedBackend final : public runtime::BackendInterface {
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

runtime::Backend packed_backend();

}  // namespace petrel::backends::packed

#endif  // PETREL_EXAMPLES_BACKEND_PACKED_RUNTIME_PACKED_BACKEND_H_
