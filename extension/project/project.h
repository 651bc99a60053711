// SPDX-License-Identifier: Apache-2.0
//
// A project: a folder with a generated model, the firmware around it and what board that is
// for. Everything in it is text that its owner may change; `create` writes it once.
//
//   project.json    which board, which model, which device       board.json   the board file
//   model/          what `petrel gen-c` wrote                     firmware/    C of the board
//   board.ld        its memories, for the linker                  Makefile, CMakeLists.txt
//   build/          what is made; may be removed
//
//   PETREL_RETURN_IF_ERROR(create_project("qemu-mps2-an386", "kws_c", "p"));
//   PETREL_ASSIGN_OR_RETURN(const Project project, Project::read("p"));
//
// Owns all that it holds; the folder is the caller's.
#ifndef PETREL_EXTENSION_PROJECT_PROJECT_H_
#define PETREL_EXTENSION_PROJECT_PROJECT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/board/board.h"
#include "extension/project/model_package.h"

namespace petrel::extension {

struct Project {
  std::string folder;
  exir::Board board;
  ModelPackage package;
  std::string device;  // the serial number of one board among several; "": the only one

  static absl::StatusOr<Project> read(const std::string& folder);
};

// FailedPrecondition where the model does not fit the board, with what is missing of which
// memory: as far as that is known before anything is compiled.
absl::Status check_fits(const ModelPackage& package, const exir::Board& board);

// `board` as for read_board(). AlreadyExists when the folder holds anything; nothing is left of
// it when this fails.
absl::Status create_project(const std::string& board, const std::string& model,
                            const std::string& folder, const std::string& device);

// The same project with another package of its model, and the programs that this version has.
// What its owner changed stays. FailedPrecondition for a package of another model.
absl::Status copy_project(const Project& project, const std::string& model,
                          const std::string& folder);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_PROJECT_H_
