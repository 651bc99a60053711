// SPDX-License-Identifier: Apache-2.0
//
// What a board says of the memories of a package: a pool for each of its memories, as large as
// what is free of it, reached by whom it names. The core that runs generated C is the target c.
//
//   memories[1] of qemu-microbit   -->   name=sram,size=15360
//   memories[0]                    -->   name=flash,kind=ro,size=262144
//   with "needs_flush": true       -->   name=shared,cached=yes,...
//
//   use_board(board, &options);   options.pools, options.other_parameters
#ifndef PETREL_EXIR_DRIVER_BOARD_POOLS_H_
#define PETREL_EXIR_DRIVER_BOARD_POOLS_H_

#include "exir/board/board.h"
#include "exir/driver/generate.h"

namespace petrel::exir {

// Pools of the user stay and come first; one of the name of a memory replaces it. Parameters lie
// in the read-only memories unless the user says otherwise (`places_parameters`).
void use_board(const Board& board, bool places_parameters, GenerateOptions* options);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_DRIVER_BOARD_POOLS_H_
