// SPDX-License-Identifier: Apache-2.0
//
// "XnnpackBackend" for the runtime: runs payloads that this project's compiler
// or ExecuTorch's wrote, as long as all their values are fp32.
//
//   petrel_registry(name = "registry", backends = ["//backends/xnnpack/runtime:backend"])
//
// Options, process wide with Registry::set_option:
//   num_threads             int   threads of methods loaded from now on, 0 for one
//                                 per processor
//   weight_cache_enabled    bool  share packed weights (true); also per load
//   winograd                bool  compute convolutions of 3 x 3 by Winograd's algorithm where it
//                                 is faster (true); also per load
//   math                    text  "exact" (default), or "fast": products may leave out the last
//                                 bits of floats where that is faster; also per load
//   huge_pages              text  packed weights lie in huge pages: "auto" (default) where those
//                                 cost nothing to get, "on" or "off"; also per load
//   tiles                   text  in which tile products of floats are computed, for the whole
//                                 process: "rule" (default) by instruction sets, "trial" by
//                                 measuring for 20 ms at the first load, or a file that `petrel
//                                 tune` wrote, see tiles.h; also per load. Outputs are the same
//                                 bits. With packed_weights_file a trial is kept beside that, as
//                                 FILE.tiles, for the next process
//   packed_weights_file     text  per load only: a file that packed weights are mapped
//                                 from and added to, see packed_file.h
//   verify_packed           text  per load only: "first" (default) checks a blob of that
//                                 file at its first use, "never" does not
//   workspace_sharing_mode  int   who shares the memory between nodes: 0 nobody, 1
//                                 (default) the partitions of a method, 2 all of the
//                                 process, which then wait for each other

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_XNNPACK_DELEGATE_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_XNNPACK_DELEGATE_H_

#include <atomic>
#include <mutex>
#include <string>

#include "backends/xnnpack/runtime/packed_arena.h"
#include "runtime/backend/interface.h"

namespace petrel::backends::xnnpack {

class XnnpackBackend final : public runtime::BackendInterface {
 public:
  bool is_available() const override;
  runtime::Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::Span<const runtime::CompileSpec> compile_specs) const override;
  runtime::Error execute(runtime::BackendExecutionContext& context, runtime::DelegateHandle* handle,
                         runtime::Span<runtime::EValue*> args) const override;
  runtime::Result<size_t> num_outputs(runtime::DelegateHandle* handle) const override;
  void destroy(runtime::DelegateHandle* handle) const override;
  runtime::Error set_option(runtime::Span<const runtime::BackendOption> options) override;
  runtime::Error get_option(runtime::Span<runtime::BackendOption> options) override;

 private:
  std::atomic<bool> share_weights_{true};
  std::atomic<bool> winograd_{true};
  std::atomic<bool> fast_math_{false};
  std::atomic<HugePages> huge_pages_{HugePages::kWhereCheap};
  std::atomic<int> workspace_sharing_mode_{1};
  mutable std::mutex mutex_;
  std::string tiles_;  // empty: nobody asked
};

// The one of the process, under its name in programs.
runtime::Backend xnnpack_backend();

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_XNNPACK_DELEGATE_H_
