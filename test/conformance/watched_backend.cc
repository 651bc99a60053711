// SPDX-License-Identifier: Apache-2.0
#include "test/conformance/watched_backend.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "test/conformance/fixture.h"

namespace petrel::conformance {
namespace {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::Span;

Watch& the_watch() {
  static Watch watch;
  return watch;
}

const runtime::Backend& tested() {
  static const runtime::Backend backend = backend_under_test().runtime;
  return backend;
}

// Counts what is out of another map, and damages what is asked for.
class WatchedMap final : public runtime::NamedDataMap {
 public:
  explicit WatchedMap(const runtime::NamedDataMap* map) : map_(map) {}

  Result<FreeableBuffer> get_data(std::string_view key) const override {
    Watch& watch = the_watch();
    const bool fault = watch.requests++ == watch.fail_data;
    if (fault && watch.data_fault == Watch::DataFault::kError) return Error::AccessFailed;
    PETREL_ASSIGN_OR_RETURN(FreeableBuffer data, map_->get_data(key));
    auto loan = std::make_unique<Loan>();
    const void* bytes = data.data();
    size_t size = data.size();
    if (fault && watch.data_fault == Watch::DataFault::kShort) size /= 2;
    if (fault && watch.data_fault == Watch::DataFault::kOtherBytes) {
      loan->other.assign(size / sizeof(Line) + 1, Line());
      std::memset(loan->other[0].bytes, 0x3F, size);  // 0.747 as floats
      bytes = loan->other.data();
    }
    loan->data = std::move(data);
    ++watch.buffers_out;
    return FreeableBuffer(bytes, size, &give_back, loan.release());
  }
  Result<uint32_t> get_num_keys() const override { return map_->get_num_keys(); }
  Result<const char*> get_key(uint32_t index) const override { return map_->get_key(index); }
  Result<const runtime::TensorLayout> get_tensor_layout(std::string_view key) const override {
    return map_->get_tensor_layout(key);
  }

 private:
  struct alignas(64) Line {
    uint8_t bytes[64] = {};
  };
  struct Loan {
    FreeableBuffer data;
    std::vector<Line> other;
  };

  static void give_back(void* loan, void*, size_t) {
    --the_watch().buffers_out;
    delete static_cast<Loan*>(loan);
  }

  const runtime::NamedDataMap* map_;
};

struct WatchedHandle {
  explicit WatchedHandle(const runtime::NamedDataMap* data) : map(data) {}
  WatchedMap map;
  runtime::DelegateHandle* handle = nullptr;
};

class WatchedBackend final : public runtime::BackendInterface {
 public:
  bool is_available() const override { return tested().backend->is_available(); }

  Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, FreeableBuffer* processed,
      Span<const runtime::CompileSpec> compile_specs) const override {
    Watch& watch = the_watch();
    if (watch.attempts++ == watch.fail_init) return Error::DelegateInvalidCompatibility;
    auto watched = std::make_unique<WatchedHandle>(context.get_named_data_map());
    runtime::BackendInitContext inner(
        context.get_runtime_allocator(), context.event_tracer(), context.get_method_name(),
        context.get_named_data_map() == nullptr ? nullptr : &watched->map, context.runtime_specs(),
        context.memory(), context.sizes_are_fixed());
    PETREL_ASSIGN_OR_RETURN(watched->handle,
                            tested().backend->init(inner, processed, compile_specs));
    ++watch.inits;
    watch.fixed += context.sizes_are_fixed() ? 1 : 0;
    return static_cast<runtime::DelegateHandle*>(watched.release());
  }

  Error execute(runtime::BackendExecutionContext& context, runtime::DelegateHandle* handle,
                Span<runtime::EValue*> args) const override {
    return tested().backend->execute(context, static_cast<WatchedHandle*>(handle)->handle, args);
  }

  Result<size_t> num_outputs(runtime::DelegateHandle* handle) const override {
    return tested().backend->num_outputs(static_cast<WatchedHandle*>(handle)->handle);
  }

  void destroy(runtime::DelegateHandle* handle) const override {
    auto* const watched = static_cast<WatchedHandle*>(handle);
    tested().backend->destroy(watched->handle);
    delete watched;
    ++the_watch().destroyed;
  }

  Error set_option(Span<const runtime::BackendOption> options) override {
    return tested().backend->set_option(options);
  }
  Error get_option(Span<runtime::BackendOption> options) override {
    return tested().backend->get_option(options);
  }
};

}  // namespace

Watch& reset_watch() {
  Watch& watch = the_watch();
  watch.fail_init = -1;
  watch.fail_data = -1;
  watch.data_fault = Watch::DataFault::kError;
  watch.inits = 0;
  watch.fixed = 0;
  watch.attempts = 0;
  watch.destroyed = 0;
  watch.requests = 0;
  watch.buffers_out = 0;
  return watch;
}

runtime::Backend watched_backend() {
  static WatchedBackend backend;
  return {tested().name, &backend};
}

}  // namespace petrel::conformance
