// SPDX-License-Identifier: Apache-2.0
//
// Constants as bytes beside the C: as text a compiler needs minutes and gigabytes for what a
// linker copies in a moment.
//
//   kws_params.bin   the elements of each, little-endian, one behind the other; also those of
//                    external parameters, which an application loads
//   kws_params.S     for GNU as and for clang: a symbol with type and size for each
//
//       .section ".rodata.kws_params", "a", %progbits
//       .balign 16
//     kws_param_conv_weight:
//       .incbin KWS_PARAMS_BIN, 64, 2304
//
// Invariant: every offset in the .bin is a multiple of kArenaAlignment. The .S says the
// digest of each constant, so packages of other constants differ in it.
#ifndef PETREL_EXIR_EMIT_C_CONSTANT_FILE_H_
#define PETREL_EXIR_EMIT_C_CONSTANT_FILE_H_

#include <string>
#include <vector>

#include "exir/emit_c/package.h"
#include "exir/ir/blob.h"

namespace petrel::exir::emit_c {

// Decides whether linked constants are bytes, and gives offsets to them and to external ones.
void place_in_file(Package* package);

// Precondition: package.includes_binary.
std::string assembly_text(const Package& package);
// Empty when there is no file.
std::vector<Blob> constant_file(const Package& package);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_CONSTANT_FILE_H_
