// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "exir/ir/text.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$' ||
         c == '/' || c == '@';
}

// A recursive-descent reader over the text. Every function starts by skipping
// white space and comments (`// ...`) and leaves the cursor behind what it read.
class Parser {
 public:
  Parser(absl::string_view text, const OpResolver& ops,
         const ConstantResolver& constants)
      : text_(text), ops_(ops), constants_(constants) {}

  absl::StatusOr<std::unique_ptr<Graph>> parse();

 private:
  // Lists nest at most twice in any operator's schema.
  static constexpr int kMaxNesting = 8;

  absl::Status error(const std::string& what) const;
  void skip_space();
  bool at(absl::string_view token);
  bool accept(absl::string_view token);
  absl::Status expect(absl::string_view token);
  absl::string_view word();
  absl::StatusOr<std::string> string_literal();
  absl::StatusOr<std::string> name(char sigil);
  absl::StatusOr<Value*> value();
  absl::StatusOr<int64_t> integer();
  absl::StatusOr<Type> type();
  absl::StatusOr<Argument> argument(int depth);
  absl::StatusOr<Argument> list(int depth);
  absl::StatusOr<Argument> literal();
  absl::Status inputs();
  absl::Status define(const std::string& name, Value* value);
  absl::Status constant(const std::string& name, bool is_mutable);
  absl::Status node(const std::vector<std::string>& names);
  absl::StatusOr<std::vector<Argument>> arguments(const OpInfo& op);
  absl::StatusOr<std::vector<Type>> result_types(
      const OpInfo& op, const std::vector<Argument>& arguments);
  absl::StatusOr<bool> statement();

  absl::string_view text_;
  size_t place_ = 0;
  const OpResolver& ops_;
  const ConstantResolver& constants_;
  std::unique_ptr<Graph> graph_;
  std::map<std::string, Value*> values_;
  std::vector<BufferWrite> writes_;
};

absl::Status Parser::error(const std::string& what) const {
  size_t line = 1;
  size_t column = 1;
  for (size_t i = 0; i < place_; ++i) {
    column = text_[i] == '\n' ? 1 : column + 1;
    line += text_[i] == '\n' ? 1 : 0;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("line ", line, ", column ", column, ": ", what));
}

void Parser::skip_space() {
  while (place_ < text_.size()) {
    const char c = text_[place_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++place_;
    } else if (absl::StartsWith(text_.substr(place_), "//")) {
      while (place_ < text_.size() && text_[place_] != '\n') ++place_;
    } else {
      return;
    }
  }
}

bool Parser::at(absl::string_view token) {
  skip_space();
  if (!absl::StartsWith(text_.substr(place_), token)) return false;
  const size_t end = place_ + token.size();
  // A keyword ends where the word does; a sigil does not.
  const bool keyword = token.back() >= 'a' && token.back() <= 'z';
  return !keyword || end == text_.size() || !is_word_char(text_[end]);
}

bool Parser::accept(absl::string_view token) {
  if (!at(token)) return false;
  place_ += token.size();
  return true;
}

absl::Status Parser::expect(absl::string_view token) {
  if (accept(token)) return absl::OkStatus();
  return error(absl::StrCat("expected '", token, "'"));
}

absl::string_view Parser::word() {
  skip_space();
  const size_t begin = place_;
  while (place_ < text_.size() && is_word_char(text_[place_])) ++place_;
  return text_.substr(begin, place_ - begin);
}

absl::StatusOr<std::string> Parser::string_literal() {
  PETREL_RETURN_IF_ERROR(expect("\""));
  const size_t begin = place_;
  while (place_ < text_.size() && text_[place_] != '"') {
    place_ += text_[place_] == '\\' ? 2 : 1;
  }
  if (place_ >= text_.size()) {
    place_ = text_.size();
    return error("the string has no closing quote");
  }
  std::string text;
  std::string why;
  if (!absl::CUnescape(text_.substr(begin, place_ - begin), &text, &why)) {
    return error(absl::StrCat("bad escape in a string: ", why));
  }
  ++place_;
  return text;
}

absl::StatusOr<std::string> Parser::name(char sigil) {
  PETREL_RETURN_IF_ERROR(expect(std::string(1, sigil)));
  if (place_ < text_.size() && text_[place_] == '"') return string_literal();
  const size_t begin = place_;
  const std::string found(word());
  if (found.empty() || text_[begin] != found[0]) {
    place_ = begin;
    return error(absl::StrCat("expected a name after '",
                              std::string(1, sigil), "'"));
  }
  return found;
}

absl::StatusOr<Value*> Parser::value() {
  skip_space();
  const size_t begin = place_;
  PETREL_ASSIGN_OR_RETURN(const std::string id, name('%'));
  auto it = values_.find(id);
  if (it != values_.end()) return it->second;
  place_ = begin;
  return error(absl::StrCat("value '", id, "' is not defined above"));
}

absl::StatusOr<int64_t> Parser::integer() {
  skip_space();
  const size_t begin = place_;
  if (place_ < text_.size() && text_[place_] == '-') ++place_;
  while (place_ < text_.size() && is_word_char(text_[place_])) ++place_;
  int64_t number = 0;
  const absl::string_view digits = text_.substr(begin, place_ - begin);
  if (absl::SimpleAtoi(digits, &number)) return number;
  place_ = begin;
  return error(absl::StrCat("expected an integer, found '", digits, "'"));
}

absl::StatusOr<Type> Parser::type() {
  if (accept("int")) return Type::scalar(Type::Kind::kInt);
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
  Sizes sizes;
  PETREL_RETURN_IF_ERROR(expect("["));
  while (!accept("]")) {
    if (!sizes.empty()) PETREL_RETURN_IF_ERROR(expect(","));
    PETREL_ASSIGN_OR_RETURN(const int64_t size, integer());
    sizes.push_back(size);
  }
  TensorType type = TensorType::contiguous(*dtype, std::move(sizes));
  if (accept("{")) {
    type.dim_order.clear();
    while (!accept("}")) {
      if (!type.dim_order.empty()) PETREL_RETURN_IF_ERROR(expect(","));
      PETREL_ASSIGN_OR_RETURN(const int64_t dim, integer());
      if (dim < 0 || dim >= static_cast<int64_t>(type.rank())) {
        return error(absl::StrCat("dim order holds ", dim,
                                  ", must be in [0, ", type.rank(), ")"));
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

absl::StatusOr<Argument> Parser::literal() {
  skip_space();
  const size_t begin = place_;
  if (place_ < text_.size() && text_[place_] == '-') ++place_;
  while (place_ < text_.size() && is_word_char(text_[place_])) {
    const bool exponent = text_[place_] == 'e';
    ++place_;
    // The sign inside 1e-05 is not a word character.
    if (exponent && place_ < text_.size() &&
        (text_[place_] == '-' || text_[place_] == '+') && begin < place_ - 1 &&
        text_[place_ - 2] >= '.' && text_[place_ - 2] <= '9') {
      ++place_;
    }
  }
  const std::string token(text_.substr(begin, place_ - begin));
  if (token == "none") return Argument();
  if (token == "true") return Argument(true);
  if (token == "false") return Argument(false);
  if (token == "inf") return Argument(std::numeric_limits<double>::infinity());
  if (token == "-inf") {
    return Argument(-std::numeric_limits<double>::infinity());
  }
  if (token == "nan") {
    return Argument(std::numeric_limits<double>::quiet_NaN());
  }
  if (token == "contiguous_format") return Argument(MemoryFormat::kContiguous);
  if (token == "preserve_format") return Argument(MemoryFormat::kPreserve);
  if (token == "channels_last") return Argument(MemoryFormat::kChannelsLast);
  if (token == "channels_last_3d") {
    return Argument(MemoryFormat::kChannelsLast3d);
  }
  if (const std::optional<ScalarType> dtype = parse_scalar_type(token)) {
    return Argument(*dtype);
  }
  int64_t number = 0;
  if (absl::SimpleAtoi(token, &number)) return Argument(number);
  double real = 0;
  const bool starts_number =
      !token.empty() && (token[0] == '-' || (token[0] >= '0' && token[0] <= '9'));
  const bool is_real = token.find('.') != std::string::npos ||
                       token.find('e') != std::string::npos;
  if (starts_number && is_real && absl::SimpleAtod(token, &real)) {
    return Argument(real);
  }
  place_ = begin;
  return error(absl::StrCat("expected an argument, found '", token, "'"));
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
    PETREL_RETURN_IF_ERROR(
        define(id, graph_->add_input(std::move(input_type), id)));
  }
  return absl::OkStatus();
}

absl::Status Parser::constant(const std::string& id, bool is_mutable) {
  PETREL_ASSIGN_OR_RETURN(const std::string fqn, name('@'));
  PETREL_RETURN_IF_ERROR(expect(":"));
  PETREL_ASSIGN_OR_RETURN(const Type wanted, type());
  if (!wanted.is_tensor()) {
    return error(absl::StrCat("constant '", fqn, "' is no tensor"));
  }
  const ConstantPtr found = constants_(fqn, wanted.tensor);
  if (found == nullptr) {
    return error(absl::StrCat("constant '", fqn, "' is unknown"));
  }
  if (found->type != wanted.tensor) {
    return error(absl::StrCat("constant '", fqn, "' is ",
                              to_string(found->type), ", not ",
                              to_string(wanted.tensor)));
  }
  if (found->is_mutable() != is_mutable) {
    return error(absl::StrCat("constant '", fqn, "' is ",
                              found->is_mutable() ? "mutable" : "not mutable"));
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
        return error(
            absl::StrCat(op.full_name(), " has no argument '", key, "'"));
      }
      index = static_cast<size_t>(place);
    } else {
      place_ = begin;
    }
    if (index >= op.args.size()) {
      return error(absl::StrCat(op.full_name(), " takes ", op.args.size(),
                                " arguments, found more"));
    }
    if (given[index]) {
      return error(absl::StrCat("argument '", op.args[index].name,
                                "' is given twice"));
    }
    PETREL_ASSIGN_OR_RETURN(found[index], argument(0));
    given[index] = true;
    ++next;
  }
  for (size_t i = 0; i < op.args.size(); ++i) {
    if (given[i]) continue;
    if (!op.args[i].has_default) {
      return error(absl::StrCat(op.full_name(), " lacks argument '",
                                op.args[i].name, "'"));
    }
    found[i] = op.args[i].default_value;
  }
  return found;
}

absl::StatusOr<std::vector<Type>> Parser::result_types(
    const OpInfo& op, const std::vector<Argument>& arguments) {
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
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                          this->arguments(*op));
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types,
                          result_types(*op, arguments));
  if (types.size() != names.size()) {
    place_ = begin;
    return error(absl::StrCat(names.size(), " names for ", types.size(),
                              " results"));
  }
  // A name that no text form has, so that the wanted ones are all free.
  Node* made = graph_->append(*op, std::move(arguments), std::move(types),
                              "\n");
  for (size_t i = 0; i < names.size(); ++i) {
    PETREL_RETURN_IF_ERROR(define(names[i], made->result(i)));
  }
  return absl::OkStatus();
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
  PETREL_RETURN_IF_ERROR(expect("method"));
  PETREL_ASSIGN_OR_RETURN(const std::string graph_name, name('@'));
  graph_ = std::make_unique<Graph>(graph_name);
  PETREL_RETURN_IF_ERROR(inputs());
  PETREL_RETURN_IF_ERROR(expect("{"));
  bool more = true;
  while (more) {
    PETREL_ASSIGN_OR_RETURN(more, statement());
  }
  PETREL_RETURN_IF_ERROR(expect("}"));
  skip_space();
  if (place_ != text_.size()) return error("text behind the method");
  return std::move(graph_);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Graph>> parse_graph(
    absl::string_view text, const OpResolver& ops,
    const ConstantResolver& constants) {
  return Parser(text, ops, constants).parse();
}

}  // namespace petrel::exir
