// SPDX-License-Identifier: Apache-2.0
//
// Calls with `out=`: what the operator without it gives is written over the tensor.
//
//   %z = aten.maximum.out(%x, %y, out=%empty)
//     -> %z_made = aten.maximum.default(%x, %y)
//        %z = aten.copy_.default(%empty, %z_made)
//
// A tensor without elements is none to write over: torch gives it the sizes of the result.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/import/graph_reader.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::exir {

absl::Status GraphReader::read_out_call(const OpInfo& op, const Json& node, const Source& source) {
  PETREL_ASSIGN_OR_RETURN(const std::vector<std::string> names, output_names(node));
  if (names.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat("has ", names.size(), " results, must have 1"));
  }
  PETREL_ASSIGN_OR_RETURN(const Json inputs, node.at("inputs"));
  Argument out;
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments, arguments_.read(op, inputs, &out));
  if (!out.is_value() || !out.value()->type().is_tensor()) {
    return inputs.error("argument 'out' is not a tensor");
  }
  if (op.infer == nullptr) return absl::InvalidArgumentError("occurs only inside the compiler");
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, op.infer(op, arguments));
  if (types.size() != 1) {
    return absl::UnimplementedError(
        absl::StrCat("gives ", types.size(), " results, with out= only one is supported"));
  }
  Value* made = graph_
                    ->append(op, std::move(arguments), std::move(types),
                             absl::StrCat(names[0], "_made"), source)
                    ->result();
  const TensorType& place = out.value()->tensor();
  if (place.all_sizes() == made->tensor().all_sizes()) {
    PETREL_ASSIGN_OR_RETURN(
        made, appended(aten::copy_, {out, Argument(made), Argument(false)}, names[0], source));
  } else if (place.numel() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("'out' is ", to_string(place), ", the result is ", to_string(made->tensor())));
  }
  PETREL_RETURN_IF_ERROR(check_recorded(names[0], *made));
  return define(names[0], {Argument(made), {}});
}

}  // namespace petrel::exir
