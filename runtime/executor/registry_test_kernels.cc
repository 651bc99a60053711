// SPDX-License-Identifier: Apache-2.0
//
// Two kernel libraries that share a name, and a backend that knows one option.

#include "runtime/backend/interface.h"
#include "runtime/kernel/kernel.h"

namespace petrel::test {

using runtime::Backend;
using runtime::BackendExecutionContext;
using runtime::BackendInitContext;
using runtime::BackendInterface;
using runtime::BackendOption;
using runtime::CompileSpec;
using runtime::DelegateHandle;
using runtime::Error;
using runtime::EValue;
using runtime::FreeableBuffer;
using runtime::Kernel;
using runtime::KernelRuntimeContext;
using runtime::Result;
using runtime::Span;

namespace {

void first(KernelRuntimeContext&, Span<EValue*>) {}
void second(KernelRuntimeContext&, Span<EValue*>) {}

constexpr Kernel kFirst[] = {{"test::both.out", &first}};
constexpr Kernel kSecond[] = {{"test::both.out", &second}, {"test::only", &second}};

class QuietBackend final : public BackendInterface {
 public:
  bool is_available() const override { return true; }
  Result<DelegateHandle*> init(BackendInitContext&, FreeableBuffer*,
                               Span<const CompileSpec>) const override {
    return static_cast<DelegateHandle*>(nullptr);
  }
  Error execute(BackendExecutionContext&, DelegateHandle*, Span<EValue*>) const override {
    return Error::Ok;
  }
  void destroy(DelegateHandle*) const override {}
  Error set_option(Span<const BackendOption> options) override {
    const Result<int> level = runtime::get_option_value<int>(options, "level");
    if (!level.ok()) return level.error();
    level_ = *level;
    return Error::Ok;
  }
  Error get_option(Span<BackendOption> options) override {
    for (BackendOption& option : options) option.value = level_;
    return Error::Ok;
  }

 private:
  int level_ = 0;
};

}  // namespace

Span<const Kernel> first_kernels() { return kFirst; }
Span<const Kernel> second_kernels() { return kSecond; }
Backend quiet_backend() {
  static QuietBackend backend;
  return {"Quiet", &backend};
}

}  // namespace petrel::test
