// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/workspace.h"

#include <map>

namespace petrel::backends::xnnpack {
namespace {

struct Owners {
  std::mutex mutex;
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
  const std::lock_guard<std::mutex> lock(all.mutex);
  for (auto i = all.workspaces.begin(); i != all.workspaces.end();) {
    i = i->second.expired() ? all.workspaces.erase(i) : std::next(i);
  }
  std::weak_ptr<Workspace>& place = all.workspaces[owner];
  std::shared_ptr<Workspace> workspace = place.lock();
  if (workspace == nullptr) place = workspace = make();
  return workspace;
}

}  // namespace petrel::backends::xnnpack
