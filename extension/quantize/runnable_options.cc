// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/runnable_options.h"

#include <algorithm>
#include <vector>

namespace petrel::extension {

exir::ExportOptions options_to_run(const CalibrateOptions& options) {
  const runtime::Registry& registry =
      options.registry == nullptr ? runtime::default_registry() : *options.registry;
  exir::ExportOptions model = options.model;
  const auto is_missing = [&](const std::vector<exir::BackendUse>& uses) {
    return std::any_of(uses.begin(), uses.end(), [&](const exir::BackendUse& use) {
      return use.backend == nullptr || registry.find_backend(use.backend->id()) == nullptr;
    });
  };
  bool any_missing = is_missing(model.backends.for_all);
  for (const auto& [method, uses] : model.backends.for_method) any_missing |= is_missing(uses);
  if (any_missing) model.backends = {};
  return model;
}

}  // namespace petrel::extension
