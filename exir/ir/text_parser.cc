// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ir/size_parser.h"
#include "exir/ir/text.h"
#include "exir/ir/text_cursor.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// A recursive-descent reader over the text.
class Parser : private TextCursor {
 public:
  Parser(absl::string_view text, const OpResolver& ops, const ConstantResolver& constants)
      : TextCursor(text), ops_(ops), constants_(constants) {}

  absl::StatusOr<std::unique_ptr<Graph>> parse();

 private:
  // Lists nest at most twice in any operator's schema.
  static constexpr int kMaxNesting = 8;

  absl::StatusOr<Value*> value();
  absl::StatusOr<Type> type();
  absl::StatusOr<Argument> argument(int depth);
  absl::StatusOr<Argument> list(int depth);
  absl::Status inputs();
  absl::Status define(const std::string& name, Value* value);
  absl::Status constant(const std::string& name, bool is_mutable);
  absl::Status node(const std::vector<std::string>& names);
  absl::StatusOr<std::vector<Argument>> arguments(const OpInfo& op);
  absl::StatusOr<std::vector<Type>> result_types(const OpInfo& op,
                                                 const std::vector<Argument>& arguments);
  absl::StatusOr<bool> statement();
  absl::StatusOr<std::unique_ptr<Graph>> method();
  absl::StatusOr<std::unique_ptr<Graph>> region();

  const OpResolver& ops_;
  const ConstantResolver& constants_;
  std::unique_ptr<Graph> graph_;
  std::map<std::string, Value*> values_;
  std::vector<BufferWrite> writes_;
  SizeParser sizes_;  // also of regions
  int depth_ = 0;     // of regions
};

absl::StatusOr<Value*> Parser::value() {
  skip_space();
  const size_t begin = place_;
  PETREL_ASSIGN_OR_RETURN(const std::string id, name('%'));
  auto it = values_.find(id);
  if (it != values_.end()) return it->second;
  place_ = begin;
  return error(absl::StrCat("value '", id, "' is not defined above"));
}

absl::StatusOr<Type> Parser::type() {
  if (accept("int")) {
    if (!accept("(")) return Type::scalar(Type::Kind::kInt);
    PETREL_ASSIGN_OR_RETURN(SizeExpression number, sizes_.expression(*this));
    PETREL_RETURN_IF_ERROR(expect(")"));
    return Type::integer(std::move(number));
  }
  if (accept("float")) return Type::scalar(Type::Kind::kFloat);
  skip_space();
  const size_t begin = place_;
  const std::string dtype_name(word());
  if (dtype_name == "bool" && !at("[")) {
    return Type::scalar(Type::Kind::kBool);
  }
  const std::optional<ScalarType> dtype = parse_scalar_type(dtype_name);
  if (!dtype) {
    place_ = begin;
    return error(absl::StrCat("expected a type, found '", dtype_name, "'"));
  }
  std::vector<SizeExpression> sizes;
  PETREL_RETURN_IF_ERROR(expect("["));
  while (!accept("]")) {
    if (!sizes.empty()) PETREL_RETURN_IF_ERROR(expect(","));
    PETREL_ASSIGN_OR_RETURN(SizeExpression size, sizes_.expression(*this));
    sizes.push_back(std::move(size));
  }
  TensorType type = TensorType::dynamic(*dtype, std::move(sizes));
  if (accept("{")) {
    type.dim_order.clear();
    while (!accept("}")) {
      if (!type.dim_order.empty()) PETREL_RETURN_IF_ERROR(expect(","));
      PETREL_ASSIGN_OR_RETURN(const int64_t dim, integer());
      if (dim < 0 || dim >= static_cast<int64_t>(type.rank())) {
        return error(absl::StrCat("dim order holds ", dim, ", must be in [0, ", type.rank(), ")"));
      }
      type.dim_order.push_back(static_cast<uint8_t>(dim));
    }
  }
  const absl::Status valid = check_tensor_type(type);
  if (!valid.ok()) {
    place_ = begin;
    return error(std::string(valid.message()));
  }
  return Type(std::move(type));
}

absl::StatusOr<Argument> Parser::list(int depth) {
  if (depth > kMaxNesting) {
    return error(absl::StrCat("lists nest deeper than ", kMaxNesting));
  }
  PETREL_RETURN_IF_ERROR(expect("["));
  Argument::List items;
  bool ints = true;
  bool floats = true;
  bool bools = true;
  while (!accept("]")) {
    if (!items.empty()) PETREL_RETURN_IF_ERROR(expect(","));
    PETREL_ASSIGN_OR_RETURN(Argument item, argument(depth));
    ints = ints && item.is_int();
    floats = floats && item.is_float();
    bools = bools && item.is_bool();
    items.push_back(std::move(item));
  }
  if (ints) {
    Argument::Ints typed;
    for (const Argument& item : items) typed.push_back(item.as_int());
    return Argument(std::move(typed));
  }
  if (floats) {
    Argument::Floats typed;
    for (const Argument& item : items) typed.push_back(item.as_float());
    return Argument(std::move(typed));
  }
  if (bools) {
    Argument::Bools typed;
    for (const Argument& item : items) typed.push_back(item.as_bool());
    return Argument(std::move(typed));
  }
  return Argument(std::move(items));
}

absl::StatusOr<Argument> Parser::argument(int depth) {
  if (at("%")) {
    PETREL_ASSIGN_OR_RETURN(Value * found, value());
    return Argument(found);
  }
  if (at("[")) return list(depth + 1);
  if (at("\"")) {
    PETREL_ASSIGN_OR_RETURN(std::string text, string_literal());
    return Argument(std::move(text));
  }
  return literal();
}

absl::Status Parser::define(const std::string& name, Value* value) {
  if (!values_.emplace(name, value).second) {
    return error(absl::StrCat("value '", name, "' is defined twice"));
  }
  graph_->rename(value, name);
  return absl::OkStatus();
}

absl::Status Parser::inputs() {
  PETREL_RETURN_IF_ERROR(expect("("));
  bool first = true;
  while (!accept(")")) {
    if (!first) PETREL_RETURN_IF_ERROR(expect(","));
    first = false;
    PETREL_ASSIGN_OR_RETURN(const std::string id, name('%'));
    PETREL_RETURN_IF_ERROR(expect(":"));
    PETREL_ASSIGN_OR_RETURN(Type input_type, type());
    PETREL_RETURN_IF_ERROR(define(id, graph_->add_input(std::move(input_type), id)));
  }
  return absl::OkStatus();
}

absl::Status Parser::constant(const std::string& id, bool is_mutable) {
  PETREL_ASSIGN_OR_RETURN(const std::string fqn, name('@'));
  PETREL_RETURN_IF_ERROR(expect(":"));
  PETREL_ASSIGN_OR_RETURN(const Type wanted, type());
  if (!wanted.is_tensor()) {
    return error(absl::StrCat("constant '", fqn, "' is not a tensor"));
  }
  const ConstantPtr found = constants_(fqn, wanted.tensor);
  if (found == nullptr) {
    return error(absl::StrCat("constant '", fqn, "' is unknown"));
  }
  if (found->type != wanted.tensor) {
    return error(absl::StrCat("constant '", fqn, "' is ", to_string(found->type), ", not ",
                              to_string(wanted.tensor)));
  }
  if (found->is_mutable() != is_mutable) {
    return error(
        absl::StrCat("constant '", fqn, "' is ", found->is_mutable() ? "mutable" : "not mutable"));
  }
  const size_t before = graph_->constants().size();
  Value* made = graph_->add_constant(found);
  if (graph_->constants().size() == before) {
    return error(absl::StrCat("constant '", fqn, "' occurs twice"));
  }
  return define(id, made);
}

absl::StatusOr<std::vector<Argument>> Parser::arguments(const OpInfo& op) {
  std::vector<Argument> found(op.args.size());
  std::vector<bool> given(op.args.size(), false);
  size_t next = 0;
  PETREL_RETURN_IF_ERROR(expect("("));
  while (!accept(")")) {
    if (next > 0) PETREL_RETURN_IF_ERROR(expect(","));
    skip_space();
    const size_t begin = place_;
    size_t index = next;
    // `name=value` goes where the schema has it.
    const std::string key(word());
    if (!key.empty() && accept("=")) {
      const int place = op.find_arg(key);
      if (place < 0) {
        place_ = begin;
        return error(absl::StrCat(op.full_name(), " has no argument '", key, "'"));
      }
      index = static_cast<size_t>(place);
    } else {
      place_ = begin;
    }
    if (index >= op.args.size()) {
      return error(
          absl::StrCat(op.full_name(), " takes ", op.args.size(), " arguments, found more"));
    }
    if (given[index]) {
      return error(absl::StrCat("argument '", op.args[index].name, "' is given twice"));
    }
    PETREL_ASSIGN_OR_RETURN(found[index], argument(0));
    given[index] = true;
    ++next;
  }
  for (size_t i = 0; i < op.args.size(); ++i) {
    if (given[i]) continue;
    if (!op.args[i].has_default) {
      return error(absl::StrCat(op.full_name(), " lacks argument '", op.args[i].name, "'"));
    }
    found[i] = op.args[i].default_value;
  }
  return found;
}

absl::StatusOr<std::vector<Type>> Parser::result_types(const OpInfo& op,
                                                       const std::vector<Argument>& arguments) {
  std::vector<Type> types;
  if (accept(":")) {
    do {
      PETREL_ASSIGN_OR_RETURN(Type one, type());
      types.push_back(std::move(one));
    } while (accept(","));
    return types;
  }
  if (op.num_results == 0 && !op.has_list_result) return types;
  if (op.infer == nullptr) {
    return error(absl::StrCat(op.full_name(), " needs its result types"));
  }
  absl::StatusOr<std::vector<Type>> inferred = op.infer(op, arguments);
  if (!inferred.ok()) return error(std::string(inferred.status().message()));
  return inferred;
}

absl::Status Parser::node(const std::vector<std::string>& names) {
  skip_space();
  const size_t begin = place_;
  const std::string op_name(word());
  const OpInfo* op = ops_(op_name);
  if (op == nullptr) {
    place_ = begin;
    return error(absl::StrCat("operator '", op_name, "' is unknown"));
  }
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments, this->arguments(*op));
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, result_types(*op, arguments));
  if (types.size() != names.size()) {
    place_ = begin;
    return error(absl::StrCat(names.size(), " names for ", types.size(), " results"));
  }
  // A name that no text form has, so that the wanted ones are all free.
  Node* made = graph_->append(*op, std::move(arguments), std::move(types), "\n");
  for (size_t i = 0; i < names.size(); ++i) {
    PETREL_RETURN_IF_ERROR(define(names[i], made->result(i)));
  }
  if (!accept("do")) return absl::OkStatus();
  PETREL_RETURN_IF_ERROR(expect("{"));
  std::vector<std::shared_ptr<Graph>> regions;
  while (!accept("}")) {
    PETREL_ASSIGN_OR_RETURN(std::unique_ptr<Graph> region, this->region());
    regions.push_back(std::move(region));
  }
  made->set_regions(std::move(regions));
  return absl::OkStatus();
}

// A graph in a graph: names outside of it mean nothing inside.
absl::StatusOr<std::unique_ptr<Graph>> Parser::region() {
  if (++depth_ > kMaxNesting) {
    return error(absl::StrCat("regions nest deeper than ", kMaxNesting));
  }
  std::unique_ptr<Graph> outer = std::move(graph_);
  std::map<std::string, Value*> outer_values;
  std::vector<BufferWrite> outer_writes;
  values_.swap(outer_values);
  writes_.swap(outer_writes);
  absl::StatusOr<std::unique_ptr<Graph>> inner = method();
  graph_ = std::move(outer);
  values_.swap(outer_values);
  writes_.swap(outer_writes);
  --depth_;
  return inner;
}

// Reads one statement; false when it was the return.
absl::StatusOr<bool> Parser::statement() {
  if (accept("return")) {
    std::vector<Value*> outputs;
    while (!at("}")) {
      if (!outputs.empty()) PETREL_RETURN_IF_ERROR(expect(","));
      PETREL_ASSIGN_OR_RETURN(Value * output, value());
      outputs.push_back(output);
    }
    graph_->set_outputs(std::move(outputs));
    graph_->set_buffer_writes(writes_);
    return false;
  }
  if (accept("write")) {
    PETREL_ASSIGN_OR_RETURN(Value * written, value());
    PETREL_RETURN_IF_ERROR(expect("to"));
    PETREL_ASSIGN_OR_RETURN(Value * buffer, value());
    writes_.push_back({buffer, written});
    return true;
  }
  std::vector<std::string> names;
  if (at("%")) {
    do {
      PETREL_ASSIGN_OR_RETURN(std::string id, name('%'));
      names.push_back(std::move(id));
    } while (accept(","));
    PETREL_RETURN_IF_ERROR(expect("="));
  }
  if (names.size() == 1) {
    if (accept("constant")) {
      PETREL_RETURN_IF_ERROR(constant(names[0], false));
      return true;
    }
    if (accept("state")) {
      PETREL_RETURN_IF_ERROR(constant(names[0], true));
      return true;
    }
  }
  PETREL_RETURN_IF_ERROR(node(names));
  return true;
}

absl::StatusOr<std::unique_ptr<Graph>> Parser::parse() {
  PETREL_ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, method());
  skip_space();
  if (!at_end()) return error("text behind the method");
  return graph;
}

absl::StatusOr<std::unique_ptr<Graph>> Parser::method() {
  PETREL_RETURN_IF_ERROR(expect("method"));
  PETREL_ASSIGN_OR_RETURN(const std::string graph_name, name('@'));
  graph_ = std::make_unique<Graph>(graph_name);
  PETREL_RETURN_IF_ERROR(sizes_.declare(*this));
  PETREL_RETURN_IF_ERROR(inputs());
  PETREL_RETURN_IF_ERROR(expect("{"));
  bool more = true;
  while (more) {
    PETREL_ASSIGN_OR_RETURN(more, statement());
  }
  PETREL_RETURN_IF_ERROR(expect("}"));
  return std::move(graph_);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Graph>> parse_graph(absl::string_view text, const OpResolver& ops,
                                                   const ConstantResolver& constants) {
  return Parser(text, ops, constants).parse();
}

}  // namespace petrel::exir
