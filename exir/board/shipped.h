// SPDX-License-Identifier: Apache-2.0
//
// The files of exir/board/boards as text, embedded when the compiler is built.
//
//   shipped_boards()[0].name   "cmake-generic"
//
// The texts live as long as the process.
#ifndef PETREL_EXIR_BOARD_SHIPPED_H_
#define PETREL_EXIR_BOARD_SHIPPED_H_

#include <vector>

#include "absl/strings/string_view.h"

namespace petrel::exir {

struct ShippedBoard {
  absl::string_view name;
  absl::string_view text;
};

// In the order of names; made by the build.
const std::vector<ShippedBoard>& shipped_boards();

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BOARD_SHIPPED_H_
