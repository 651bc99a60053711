// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/backend_choice.h"

#include "backends/xnnpack/aot/xnnpack_backend.h"

namespace petrel::extension {

std::vector<std::string> backend_names() { return {"xnnpack", "none"}; }

const exir::Backend* find_backend(const std::string& name) {
  return name == "xnnpack" ? backends::xnnpack::aot::xnnpack_backend() : nullptr;
}

}  // namespace petrel::extension
