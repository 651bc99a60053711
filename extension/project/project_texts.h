// SPDX-License-Identifier: Apache-2.0
//
// The files of a project that are written for its board and model; the others are copies.
//
//   app_text(package)             firmware/model.c: the model, its context and its memory
//   linker_text(board)            board.ld: MEMORY, what lies in it by section, sections.ld
//   make_text(board, package)     Makefile
//   cmake_text(board, package)    CMakeLists.txt
//
// Equal arguments give equal texts.
#ifndef PETREL_EXTENSION_PROJECT_PROJECT_TEXTS_H_
#define PETREL_EXTENSION_PROJECT_PROJECT_TEXTS_H_

#include <string>
#include <vector>

#include "exir/board/board.h"
#include "extension/project/firmware_files.h"
#include "extension/project/model_package.h"

namespace petrel::extension {

std::string app_text(const ModelPackage& package);

// Precondition: the board has a memory of each kind.
std::string linker_text(const exir::Board& board);

std::string make_text(const exir::Board& board, const ModelPackage& package,
                      const std::vector<FirmwareFile>& firmware);
std::string cmake_text(const exir::Board& board, const ModelPackage& package,
                       const std::vector<FirmwareFile>& firmware);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_PROJECT_TEXTS_H_
