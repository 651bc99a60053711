// SPDX-License-Identifier: Apache-2.0
//
// Kernels and backends that do what those of the binary do and tell the tap.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "extension/diff/tap.h"
#include "runtime/core/log.h"
#include "runtime/kernels/portable/kernels.h"

namespace petrel::extension {
namespace {

using runtime::BackendExecutionContext;
using runtime::BackendInitContext;
using runtime::BackendInterface;
using runtime::DelegateHandle;
using runtime::Error;
using runtime::EValue;
using runtime::Kernel;
using runtime::Result;
using runtime::Span;

Tap* tap_of(runtime::EventTracer* tracer) { return static_cast<Tap*>(tracer); }

// The kernels that define results, and nothing else.
const runtime::Registry& reference_registry() {
  static constexpr runtime::KernelLibrary kPortable[] = {&runtime::portable_kernels};
  static const runtime::Registry registry(kPortable, runtime::default_registry().backends());
  return registry;
}

template <const runtime::Registry& (*kSource)()>
void call_and_record(runtime::KernelRuntimeContext& context, Span<EValue*> args) {
  const Kernel* const kernel = kSource().find_kernel(context.kernel_name());
  kernel->fn(context, args);
  if (context.failure_state() != Error::Ok || context.event_tracer() == nullptr) return;
  tap_of(context.event_tracer())->record_kernel(*kernel, args);
}

template <const runtime::Registry& (*kSource)()>
Span<const Kernel> tapped_kernels() {
  static const auto* const kKernels = [] {
    auto* const kernels = new std::vector<Kernel>;
    for (const auto& library : kSource().kernels()) {
      for (const Kernel& kernel : library()) {
        kernels->push_back({kernel.name, &call_and_record<kSource>, kernel.outputs});
      }
    }
    return kernels;
  }();
  return {kKernels->data(), kKernels->size()};
}

class TappedBackend final : public BackendInterface {
 public:
  explicit TappedBackend(const runtime::Backend& source) : source_(source) {}

  bool is_available() const override { return source_.backend->is_available(); }

  Result<DelegateHandle*> init(BackendInitContext& context, runtime::FreeableBuffer* processed,
                               Span<const runtime::CompileSpec> specs) const override {
    auto delegate = std::make_unique<Delegate>();
    if (std::string(source_.name) == "XnnpackBackend") {
      auto opened =
          OpenedPayload::open(processed->data(), processed->size(), context.get_named_data_map());
      if (opened.ok()) delegate->opened = std::move(opened.get());
    }
    PETREL_ASSIGN_OR_RETURN(delegate->handle, source_.backend->init(context, processed, specs));
    return static_cast<DelegateHandle*>(delegate.release());
  }

  Error execute(BackendExecutionContext& context, DelegateHandle* handle,
                Span<EValue*> args) const override {
    const auto& delegate = *static_cast<const Delegate*>(handle);
    Tap& tap = *tap_of(context.event_tracer());
    std::map<uint32_t, NpyArray> inner;
    bool is_open = delegate.opened != nullptr;
    if (is_open) {
      auto shown = delegate.opened->run(context, args);
      is_open = shown.ok();
      if (is_open) inner = std::move(shown.get());
    }
    PETREL_RETURN_IF_ERROR(source_.backend->execute(context, delegate.handle, args));
    if (is_open) {
      tap.record_payload(*delegate.opened, std::move(inner), args);
      return Error::Ok;
    }
    tap.note_closed(source_.name);
    const Result<size_t> outputs = source_.backend->num_outputs(delegate.handle);
    tap.record_delegate(source_.name, outputs.ok() ? *outputs : 1, args);
    return Error::Ok;
  }

  Result<size_t> num_outputs(DelegateHandle* handle) const override {
    return source_.backend->num_outputs(static_cast<const Delegate*>(handle)->handle);
  }

  void destroy(DelegateHandle* handle) const override {
    const std::unique_ptr<Delegate> delegate(static_cast<Delegate*>(handle));
    source_.backend->destroy(delegate->handle);
  }

  Error set_option(Span<const runtime::BackendOption> options) override {
    return source_.backend->set_option(options);
  }
  Error get_option(Span<runtime::BackendOption> options) override {
    return source_.backend->get_option(options);
  }

 private:
  struct Delegate {
    DelegateHandle* handle = nullptr;
    std::unique_ptr<OpenedPayload> opened;  // null for what cannot be opened
  };
  const runtime::Backend source_;
};

// A library is a function without an object, so there is one for each backend.
template <size_t kIndex>
runtime::Backend tapped_backend() {
  const runtime::Backend source = runtime::default_registry().backends()[kIndex]();
  static auto* const kBackend = new TappedBackend(source);
  return {source.name, kBackend};
}

template <size_t... kIndex>
constexpr std::array<runtime::BackendLibrary, sizeof...(kIndex)> libraries(
    std::index_sequence<kIndex...>) {
  return {&tapped_backend<kIndex>...};
}

// Of one binary; those beyond it are not watched, and programs that need them not loaded.
constexpr size_t kMaxBackends = 16;

template <const runtime::Registry& (*kSource)()>
const runtime::Registry& tapped() {
  static constexpr runtime::KernelLibrary kKernels[] = {&tapped_kernels<kSource>};
  static constexpr auto kBackends = libraries(std::make_index_sequence<kMaxBackends>());
  static const runtime::Registry registry(
      kKernels, {kBackends.data(),
                 std::min(kBackends.size(), runtime::default_registry().backends().size())});
  return registry;
}

}  // namespace

const runtime::Registry& tapped_registry() { return tapped<runtime::default_registry>(); }

const runtime::Registry& tapped_reference_registry() { return tapped<reference_registry>(); }

}  // namespace petrel::extension
