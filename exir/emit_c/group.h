// SPDX-License-Identifier: Apache-2.0
//
// Models that never run at the same time and share their memory. What another package asks
// for is read from its manifest.json; what both ask for is left to the compiler, so that it
// is right whichever of them is generated anew:
//
//   #define KWS_GROUP_SRAM_BYTES ...    the larger of the two
//   union kws_group_sram {
//     struct kws_pool_sram kws;
//     struct vww_pool_sram vww;
//   };
//
// Models that are alive together have a struct instead, in which they lie one behind the other.
#ifndef PETREL_EXIR_EMIT_C_GROUP_H_
#define PETREL_EXIR_EMIT_C_GROUP_H_

#include <string>

#include "absl/status/statusor.h"
#include "exir/emit_c/package.h"

namespace petrel::exir::emit_c {

// InvalidArgument for what is no manifest, has no pools, or keeps state where others write.
absl::StatusOr<CSharer> read_sharer(const std::string& manifest, bool together);

// kws_group.h. InvalidArgument where two packages have one name, or this one keeps state
// where others write.
absl::StatusOr<std::string> group_text(const Package& package);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_GROUP_H_
