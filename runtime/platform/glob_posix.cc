// SPDX-License-Identifier: Apache-2.0
#include <fnmatch.h>

#include "runtime/platform/glob.h"

namespace petrel::runtime {

bool matches_glob(const char* glob, const char* text) {
  return fnmatch(glob, text, FNM_NOESCAPE) == 0;
}

}  // namespace petrel::runtime
