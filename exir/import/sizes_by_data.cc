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
namespace {

int64_t int_at(const std::vector<Argument>& arguments, const OpInfo& op, const char* name,
               int64_t otherwise) {
  const int i = op.find_arg(name);
  if (i < 0 || !arguments[static_cast<size_t>(i)].is_int()) return otherwise;
  return arguments[static_cast<size_t>(i)].as_int();
}

}  // namespace

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

// A node of `op` whose size `dim` the exporter records as that of dim `recorded_dim` of `name`.
absl::StatusOr<Value*> GraphReader::sized_by_data(const OpInfo& op, std::vector<Argument> arguments,
                                                  const std::string& name, size_t recorded_dim,
                                                  const Source& source) {
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, op.infer(op, arguments));
  const auto it = scopes_.back().tensor_metas.find(name);
  if (it == scopes_.back().tensor_metas.end()) {
    return absl::InvalidArgumentError(absl::StrCat("value '", name, "' has no type"));
  }
  absl::StatusOr<TensorType> recorded = read_tensor_type(it->second, *symbols_);
  if (!recorded.ok()) return annotate(recorded.status(), absl::StrCat("value '", name, "'"));
  if (recorded_dim >= recorded->rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("value '", name, "' has rank ", recorded->rank(), " in the archive"));
  }
  const TensorType& ruled = types[0].tensor;
  std::vector<SizeExpression> sizes = ruled.all_sizes();
  sizes[0] = recorded->size(recorded_dim);
  TensorType made =
      TensorType::dynamic(ruled.dtype, std::move(sizes), {recorded->sizes[recorded_dim]});
  if (!agree(made, ruled) && !agrees_by_data(made, ruled)) {
    return absl::InvalidArgumentError(
        absl::StrCat("value '", name, "' is ", to_string(*recorded),
                     " in the archive, but its operator gives at most ", ruled.sizes[0]));
  }
  types[0] = std::move(made);
  return graph_->append(op, std::move(arguments), std::move(types), name + "_by_data", source)
      ->result();
}

absl::Status GraphReader::read_made_of_others(const OpInfo& op, const Json& node,
                                              const Source& source) {
  PETREL_ASSIGN_OR_RETURN(Json inputs, node.at("inputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments, arguments_.read(op, inputs));
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> ruled, op.infer(op, arguments));
  PETREL_ASSIGN_OR_RETURN(std::vector<std::string> names, output_names(node));
  if (names.size() != ruled.size() || names.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", names.size(), " results, its operator gives ", ruled.size()));
  }
  const auto call = [&](const OpInfo& called, std::vector<Argument> with,
                        const std::string& name) -> absl::StatusOr<Value*> {
    PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, called.infer(called, with));
    return graph_->append(called, std::move(with), std::move(types), name, source)->result();
  };
  std::vector<Value*> results;
  if (op.is(aten::repeat_interleave_self_Tensor)) {
    Value* x = arguments[0].value();
    if (!arguments[static_cast<size_t>(op.find_arg("dim"))].is_int()) {
      PETREL_ASSIGN_OR_RETURN(
          x, call(exir::op(aten::reshape), {Argument(x), Argument(Argument::Ints{-1})},
                  names[0] + "_flat"));
    }
    const auto rank = static_cast<int64_t>(x->tensor().rank());
    int64_t dim = int_at(arguments, op, "dim", 0);
    dim = dim < 0 ? dim + rank : dim;
    const OpInfo& places = exir::op(aten::repeat_interleave_Tensor);
    PETREL_ASSIGN_OR_RETURN(
        Value * nth,
        sized_by_data(places,
                      {arguments[1], arguments[static_cast<size_t>(op.find_arg("output_size"))]},
                      names[0], static_cast<size_t>(dim), source));
    PETREL_ASSIGN_OR_RETURN(
        Value * made,
        call(exir::op(aten::index_select), {Argument(x), Argument(dim), Argument(nth)}, names[0]));
    results.push_back(made);
  } else {
    PETREL_ASSIGN_OR_RETURN(Value * places, sized_by_data(exir::op(aten::nonzero), {arguments[0]},
                                                          names[0], 0, source));
    if (op.is(aten::argwhere)) results.push_back(places);
    for (size_t i = results.size(); i < names.size(); ++i) {
      PETREL_ASSIGN_OR_RETURN(Value * column, call(exir::op(aten::select_int),
                                                   {Argument(places), Argument(int64_t{1}),
                                                    Argument(static_cast<int64_t>(i))},
                                                   names[i]));
      results.push_back(column);
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
