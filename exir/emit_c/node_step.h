// SPDX-License-Identifier: Apache-2.0
//
// A node as a step of a method: a function of the generated file whose body calls kernels.
//
//   PETREL_ASSIGN_OR_RETURN(CStep step, make_step(node, row, places, "op3", package, &library));
//   step.function    "op3_relu"
//   step.body        "  kws_kernel_relu((const float *)..., 12);\n"
#ifndef PETREL_EXIR_EMIT_C_NODE_STEP_H_
#define PETREL_EXIR_EMIT_C_NODE_STEP_H_

#include <string>

#include "absl/status/statusor.h"
#include "exir/emit_c/kernel_library.h"
#include "exir/emit_c/operators.h"
#include "exir/emit_c/package.h"
#include "exir/emit_c/places.h"

namespace petrel::exir::emit_c {

// What a reader wants to know of a node, in lines.
std::string comment_of(const Node& node);

// Without what its function takes: memories and parameters. The body is empty where nothing is
// left to do. Unimplemented says what about the node does not exist in C.
absl::StatusOr<CStep> make_step(const Node& node, const OperatorRow& row, const Places& places,
                                const std::string& number, const Package& package,
                                KernelLibrary* library);

// Whether `name` stands in `text` as a whole word.
bool has_word(absl::string_view text, const std::string& name);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_NODE_STEP_H_
