// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/sources.h"

namespace petrel::exir::emit_c {

const Source* find_source(absl::string_view path) {
  for (const Source& source : all_sources()) {
    if (source.path == path) return &source;
  }
  return nullptr;
}

}  // namespace petrel::exir::emit_c
