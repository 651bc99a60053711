// SPDX-License-Identifier: Apache-2.0
//
// Calls with `out=`: what the operator without it gives is written over the tensors, one for each
// result.
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
  PETREL_ASSIGN_OR_RETURN(const Json inputs, node.at("inputs"));
  std::vector<Argument> places;
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments, arguments_.read(op, inputs, &places));
  if (op.infer == nullptr) {
    return absl::UnimplementedError(
        "is not supported with 'out', as an operator of complex numbers");
  }
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, op.infer(op, arguments));
  if (names.size() != types.size() || places.size() != types.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", names.size(), " results, its operator gives ", types.size()));
  }
  const Node* made = graph_->append(op, std::move(arguments), std::move(types),
                                    absl::StrCat(names[0], "_made"), source);
  for (size_t i = 0; i < names.size(); ++i) {
    PETREL_RETURN_IF_ERROR(write_result(places[i], made->result(i), names[i], source));
  }
  return absl::OkStatus();
}

absl::Status GraphReader::write_result(const Argument& place, Value* result,
                                       const std::string& name, const Source& source) {
  if (!place.value()->type().is_tensor() || !result->type().is_tensor()) {
    return absl::InvalidArgumentError(
        absl::StrCat("what '", name, "' is written to is not a tensor"));
  }
  const TensorType& type = place.value()->tensor();
  if (type.all_sizes() == result->tensor().all_sizes()) {
    PETREL_ASSIGN_OR_RETURN(
        result, appended(aten::copy_, {place, Argument(result), Argument(false)}, name, source));
  } else if (type.numel() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("'out' is ", to_string(type), ", the result is ", to_string(result->type())));
  }
  PETREL_RETURN_IF_ERROR(check_recorded(name, *result));
  return define(name, {Argument(result), {}});
}

}  // namespace petrel::exir
