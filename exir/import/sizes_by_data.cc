// SPDX-License-Identifier: Apache-2.0
//
// Operators with a size that depends on data. The exporter has a symbol for it, which types of
// the graph take over. Those without a kernel become ones that have it:
//
//   %i, %j = aten.where(%c)       %n = aten.nonzero(%c)          : i64[u0,2]
//                                 %i = aten.select.int(%n, 1, 0) : i64[u0]
//                                 %j = aten.select.int(%n, 1, 1)
//   %y = aten.repeat_interleave.self_Tensor(%x, %times, 0)
//                                 %n = aten.repeat_interleave.Tensor(%times) : i64[u0]
//                                 %y = aten.index_select(%x, 0, %n)
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/import/graph_reader.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/status_macros.h"

namespace petrel::exir {

// Of a size that depends on data the exporter knows the name and, from assertions, a bound.
absl::Status GraphReader::take_sizes_by_data(const std::string& name, Value& value) {
  const auto it = scopes_.back().tensor_metas.find(name);
  if (it == scopes_.back().tensor_metas.end()) return absl::OkStatus();
  absl::StatusOr<TensorType> recorded = read_part_tensor_type(it->second, *symbols_);
  const bool is_by_data = recorded.ok() && !agree(*recorded, value.tensor()) &&
                          agrees_by_data(*recorded, value.tensor());
  if (!is_by_data) return check_recorded(name, value);
  value.set_type(*std::move(recorded));
  return absl::OkStatus();
}

bool GraphReader::is_made_of_others(const OpInfo& op) {
  return op.is(aten::where, aten::nonzero_numpy, aten::argwhere,
               aten::repeat_interleave_self_Tensor);
}

absl::StatusOr<Value*> GraphReader::appended(OpHandle handle, std::vector<Argument> arguments,
                                             const std::string& name, const Source& source) {
  const OpInfo& called = op(handle);
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, called.infer(called, arguments));
  return graph_->append(called, std::move(arguments), std::move(types), name, source)->result();
}

// A node whose first size the exporter records as dim `dim` of `name`.
absl::StatusOr<Value*> GraphReader::sized_by_data(OpHandle handle, std::vector<Argument> arguments,
                                                  const std::string& name, size_t dim,
                                                  const Source& source) {
  const auto it = scopes_.back().tensor_metas.find(name);
  if (it == scopes_.back().tensor_metas.end()) {
    return absl::InvalidArgumentError(absl::StrCat("value '", name, "' has no type"));
  }
  const absl::StatusOr<TensorType> recorded = read_tensor_type(it->second, *symbols_);
  if (!recorded.ok()) return annotate(recorded.status(), absl::StrCat("value '", name, "'"));
  if (dim >= recorded->rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("value '", name, "' has rank ", recorded->rank(), " in the archive"));
  }
  PETREL_ASSIGN_OR_RETURN(
      Value * made, appended(handle, std::move(arguments), absl::StrCat(name, "_by_data"), source));
  const TensorType ruled = made->tensor();
  std::vector<SizeExpression> sizes = ruled.all_sizes();
  sizes[0] = recorded->size(dim);
  TensorType type = TensorType::dynamic(ruled.dtype, std::move(sizes), {recorded->sizes[dim]});
  if (!agree(type, ruled) && !agrees_by_data(type, ruled)) {
    return absl::InvalidArgumentError(
        absl::StrCat("value '", name, "' is ", to_string(*recorded),
                     " in the archive, but its operator gives at most ", ruled.sizes[0]));
  }
  made->set_type(std::move(type));
  return made;
}

// x repeated along a dim, or all of its elements where there is none.
absl::StatusOr<Value*> GraphReader::repeated(const OpInfo& op,
                                             const std::vector<Argument>& arguments,
                                             const std::string& name, const Source& source) {
  Argument x = arguments[0];
  const Argument& given_dim = arguments[static_cast<size_t>(op.find_arg("dim"))];
  if (!given_dim.is_int()) {
    PETREL_ASSIGN_OR_RETURN(Value * flat, appended(aten::reshape, {x, Argument(Argument::Ints{-1})},
                                                   name + "_flat", source));
    x = Argument(flat);
  }
  int64_t dim = given_dim.is_int() ? given_dim.as_int() : 0;
  if (dim < 0) dim += static_cast<int64_t>(x.value()->tensor().rank());
  const Argument& size = arguments[static_cast<size_t>(op.find_arg("output_size"))];
  PETREL_ASSIGN_OR_RETURN(Value * places,
                          sized_by_data(aten::repeat_interleave_Tensor, {arguments[1], size}, name,
                                        static_cast<size_t>(dim), source));
  return appended(aten::index_select, {x, Argument(dim), Argument(places)}, name, source);
}

absl::Status GraphReader::read_made_of_others(const OpInfo& op, const Json& node,
                                              const Source& source) {
  PETREL_ASSIGN_OR_RETURN(Json inputs, node.at("inputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments, arguments_.read(op, inputs));
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> ruled, op.infer(op, arguments));
  PETREL_ASSIGN_OR_RETURN(std::vector<std::string> names, output_names(node));
  if (names.size() != ruled.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", names.size(), " results, its operator gives ", ruled.size()));
  }
  std::vector<Value*> results;
  if (op.is(aten::repeat_interleave_self_Tensor)) {
    PETREL_ASSIGN_OR_RETURN(Value * made, repeated(op, arguments, names[0], source));
    results.push_back(made);
  } else {
    PETREL_ASSIGN_OR_RETURN(Value * places,
                            sized_by_data(aten::nonzero, {arguments[0]}, names[0], 0, source));
    if (op.is(aten::argwhere)) results.push_back(places);
    for (size_t i = results.size(); i < names.size(); ++i) {
      const Argument column(static_cast<int64_t>(i));
      PETREL_ASSIGN_OR_RETURN(
          Value * made, appended(aten::select_int, {Argument(places), Argument(int64_t{1}), column},
                                 names[i], source));
      results.push_back(made);
    }
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    PETREL_RETURN_IF_ERROR(check_recorded(names[i], *results[i]));
    PETREL_RETURN_IF_ERROR(define(names[i], {Argument(results[i]), {}}));
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
