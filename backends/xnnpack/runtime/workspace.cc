// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/workspace.h"

#include <petrel/workspace.h>

#include <algorithm>
#include <map>

#include "backends/xnnpack/runtime/touch.h"
#include "runtime/platform/process_mutex.h"

namespace petrel::backends::xnnpack {
namespace {

struct Owners {
  // Workspaces of the parent may be at work, and then are locked for ever in the child of fork().
  static void forget(void* self) { static_cast<Owners*>(self)->workspaces.clear(); }

  runtime::ProcessMutex mutex{&forget, this};
  std::map<const void*, std::weak_ptr<Workspace>> workspaces;
};

Owners& owners() {
  // Never destroyed: delegates may outlive static objects.
  static Owners* const owners = new Owners;
  return *owners;
}

}  // namespace

std::shared_ptr<Workspace> Workspace::make() {
  xnn_workspace_t workspace = nullptr;
  if (xnn_create_workspace(&workspace) != xnn_status_success) return nullptr;
  return std::shared_ptr<Workspace>(new Workspace(workspace));
}

std::shared_ptr<Workspace> Workspace::of(const void* owner) {
  Owners& all = owners();
  const std::lock_guard<runtime::ProcessMutex> lock(all.mutex);
  for (auto i = all.workspaces.begin(); i != all.workspaces.end();) {
    i = i->second.expired() ? all.workspaces.erase(i) : std::next(i);
  }
  std::weak_ptr<Workspace>& place = all.workspaces[owner];
  std::shared_ptr<Workspace> workspace = place.lock();
  if (workspace == nullptr) place = workspace = make();
  return workspace;
}

Workspace::Payment::Payment(Workspace* workspace, uint64_t free, runtime::Budget* memory,
                            PaidCall* call)
    : workspace_(workspace), free_(free), memory_(memory), call_(call) {
  petrel_set_workspace_payer(&pay, this);
}

Workspace::Payment::~Payment() { petrel_set_workspace_payer(nullptr, nullptr); }

bool Workspace::Payment::pay(void* context, size_t bytes) {
  auto& self = *static_cast<Payment*>(context);
  self.was_asked_ = true;
  self.call_->allow(bytes);
  if (self.memory_ == nullptr || bytes <= self.free_) return true;
  self.error_ = self.workspace_->pay_for(bytes - self.free_, self.memory_);
  return self.error_ == runtime::Error::Ok;
}

void Workspace::touch(uint64_t bytes, pthreadpool_t threads) {
  size_t size = 0;
  auto* const memory = static_cast<uint8_t*>(petrel_workspace_memory(workspace_, &size));
  if (memory != touched_) touched_bytes_ = 0;
  touched_ = memory;
  touchable_bytes_ += bytes;
  const auto more =
      static_cast<size_t>(std::min<uint64_t>(touchable_bytes_, size - touched_bytes_));
  xnnpack::touch(memory + touched_bytes_, more, threads);
  touched_bytes_ += more;
  touchable_bytes_ -= more;
}

}  // namespace petrel::backends::xnnpack
