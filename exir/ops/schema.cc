// SPDX-License-Identifier: Apache-2.0
//
// The grammar of a schema string:
//
//   schema  := name ["." overload] "(" [arg {"," arg}] ")" "->" returns
//   arg     := "*" | type name ["=" default]
//   type    := base [alias] ["?"] ["[" [int] "]" [alias] ["?"]]
//   alias   := "(" text ")"                 "!" in it: written to
//   returns := "()" | type | "(" type [name] {"," type [name]} ")"
//   default := None | True | False | number | "text" | [default, ...] | word
#include <cctype>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "exir/ops/table.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

struct BaseType {
  const char* name;
  ArgKind kind;
  bool is_symbolic = false;
};

constexpr BaseType kBaseTypes[] = {
    {"Tensor", ArgKind::kTensor},
    {"Scalar", ArgKind::kScalar},
    {"int", ArgKind::kInt},
    {"SymInt", ArgKind::kInt, true},
    {"float", ArgKind::kFloat},
    {"bool", ArgKind::kBool},
    {"str", ArgKind::kString},
    {"ScalarType", ArgKind::kScalarType},
    {"Layout", ArgKind::kLayout},
    {"Device", ArgKind::kDevice},
    {"Generator", ArgKind::kDevice},  // says as little: no archive can hold one
    {"MemoryFormat", ArgKind::kMemoryFormat},
};

class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {}

  absl::StatusOr<OpInfo> parse() {
    OpInfo op;
    op.name = word();
    if (op.name.find("::") == std::string::npos) {
      return error("no namespace in the name");
    }
    if (accept('.')) op.overload = word();
    PETREL_RETURN_IF_ERROR(expect('('));
    PETREL_RETURN_IF_ERROR(parse_args(&op));
    PETREL_RETURN_IF_ERROR(expect('-'));
    PETREL_RETURN_IF_ERROR(expect('>'));
    PETREL_RETURN_IF_ERROR(parse_returns(&op));
    skip_spaces();
    if (place_ != text_.size()) return error("text behind the schema");
    mark_tensor_options(&op);
    return op;
  }

 private:
  absl::Status error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(
        "schema: ", what, " at '", text_.substr(0, place_), " -->", text_.substr(place_), "'"));
  }

  void skip_spaces() {
    while (place_ < text_.size() && text_[place_] == ' ') ++place_;
  }

  bool accept(char c) {
    skip_spaces();
    if (place_ >= text_.size() || text_[place_] != c) return false;
    ++place_;
    return true;
  }

  absl::Status expect(char c) {
    if (accept(c)) return absl::OkStatus();
    return error(absl::StrCat("no '", std::string(1, c), "'"));
  }

  static bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':';
  }

  std::string word() {
    skip_spaces();
    const size_t start = place_;
    while (place_ < text_.size() && in_word(text_[place_])) ++place_;
    return std::string(text_.substr(start, place_ - start));
  }

  // "(a!)", "(a -> *)"; true when it says that the tensor is written.
  bool alias() {
    if (!accept('(')) return false;
    bool written = false;
    while (place_ < text_.size() && text_[place_] != ')') {
      written = written || text_[place_] == '!';
      ++place_;
    }
    accept(')');
    return written;
  }

  absl::Status parse_type(ArgSpec* spec) {
    const std::string name = word();
    bool known = false;
    for (const BaseType& base : kBaseTypes) {
      if (name != base.name) continue;
      spec->kind = base.kind;
      spec->is_symbolic = base.is_symbolic;
      known = true;
    }
    if (!known) return error(absl::StrCat("no type '", name, "'"));
    spec->is_written = alias();
    const bool optional = accept('?');
    if (!accept('[')) {
      spec->is_optional = optional;
      return absl::OkStatus();
    }
    spec->is_list = true;
    spec->has_optional_items = optional;
    const std::string length = word();
    if (!length.empty() && !absl::SimpleAtoi(length, &spec->fixed_length)) {
      return error("bad list length");
    }
    PETREL_RETURN_IF_ERROR(expect(']'));
    spec->is_written = alias() || spec->is_written;
    spec->is_optional = accept('?');
    return absl::OkStatus();
  }

  absl::Status parse_args(OpInfo* op) {
    if (accept(')')) return absl::OkStatus();
    do {
      if (accept('*')) continue;
      ArgSpec spec;
      PETREL_RETURN_IF_ERROR(parse_type(&spec));
      spec.name = word();
      if (spec.name.empty()) return error("no argument name");
      if (accept('=')) {
        spec.has_default = true;
        PETREL_ASSIGN_OR_RETURN(spec.default_value, parse_default(spec));
      }
      op->args.push_back(std::move(spec));
    } while (accept(','));
    return expect(')');
  }

  absl::Status parse_returns(OpInfo* op) {
    ArgSpec spec;
    if (!accept('(')) {
      PETREL_RETURN_IF_ERROR(parse_type(&spec));
      op->has_list_result = spec.is_list;
      op->num_results = 1;
      return absl::OkStatus();
    }
    op->num_results = 0;
    if (accept(')')) return absl::OkStatus();
    do {
      spec = ArgSpec();
      PETREL_RETURN_IF_ERROR(parse_type(&spec));
      if (spec.is_list) return error("list among several results");
      word();
      ++op->num_results;
    } while (accept(','));
    return expect(')');
  }

  std::string literal() {
    skip_spaces();
    const size_t start = place_;
    while (place_ < text_.size() && text_[place_] != ',' && text_[place_] != ')' &&
           text_[place_] != ']') {
      ++place_;
    }
    return std::string(text_.substr(start, place_ - start));
  }

  absl::StatusOr<std::string> quoted() {
    const size_t end = text_.find('"', place_);
    if (end == absl::string_view::npos) return error("open string");
    std::string result(text_.substr(place_, end - place_));
    place_ = end + 1;
    return result;
  }

  absl::StatusOr<Argument> parse_default(const ArgSpec& spec) {
    if (spec.is_list) return parse_list_default(spec);
    if (accept('"')) {
      PETREL_ASSIGN_OR_RETURN(std::string value, quoted());
      return Argument(std::move(value));
    }
    const std::string text = literal();
    if (text == "None") return Argument();
    switch (spec.kind) {
      case ArgKind::kBool:
        if (text == "True" || text == "False") return Argument(text == "True");
        return error("bad bool default");
      case ArgKind::kFloat:
        return parse_float(text);
      case ArgKind::kInt:
        return parse_int(text);
      case ArgKind::kScalar: {
        if (text == "True" || text == "False") return Argument(text == "True");
        int64_t value = 0;
        if (absl::SimpleAtoi(text, &value)) return Argument(value);
        return parse_float(text);
      }
      case ArgKind::kMemoryFormat:
        return parse_memory_format(text);
      case ArgKind::kScalarType:
        // As the exporter prints the default of the few that have one.
        if (text == "4" || text == "long") return Argument(ScalarType::kLong);
        if (text == "6" || text == "float") return Argument(ScalarType::kFloat);
        return error("bad dtype default");
      default:
        return error("a default of this type is not known");
    }
  }

  absl::StatusOr<Argument> parse_int(const std::string& text) {
    int64_t value = 0;
    if (absl::SimpleAtoi(text, &value)) return Argument(value);
    // Named constants: the reduction of a loss.
    if (text == "Mean") return Argument(int64_t{1});
    return error("bad int default");
  }

  absl::StatusOr<Argument> parse_float(const std::string& text) {
    double value = 0;
    if (absl::SimpleAtod(text, &value)) return Argument(value);
    return error("bad float default");
  }

  absl::StatusOr<Argument> parse_memory_format(const std::string& text) {
    // The exporter prints the number of the enumeration.
    if (text == "0" || text == "contiguous_format") {
      return Argument(MemoryFormat::kContiguous);
    }
    if (text == "1" || text == "preserve_format") {
      return Argument(MemoryFormat::kPreserve);
    }
    return error("bad memory format default");
  }

  absl::StatusOr<Argument> parse_list_default(const ArgSpec& spec) {
    if (!accept('[')) {
      const std::string text = literal();
      if (text == "None") return Argument();
      if (spec.kind != ArgKind::kInt) return error("bad list default");
      // `int[2] padding=0`: one int stands for all.
      PETREL_ASSIGN_OR_RETURN(Argument item, parse_int(text));
      const size_t length = spec.fixed_length == 0 ? 1 : spec.fixed_length;
      return Argument(Argument::Ints(length, item.as_int()));
    }
    if (accept(']')) return Argument(Argument::Ints());
    ArgSpec item_spec = spec;
    item_spec.is_list = false;
    Argument::Ints ints;
    Argument::Bools bools;
    Argument::Floats floats;
    do {
      PETREL_ASSIGN_OR_RETURN(Argument item, parse_default(item_spec));
      if (item.is_int()) ints.push_back(item.as_int());
      if (item.is_bool()) bools.push_back(item.as_bool());
      if (item.is_float()) floats.push_back(item.as_float());
    } while (accept(','));
    PETREL_RETURN_IF_ERROR(expect(']'));
    if (!bools.empty()) return Argument(std::move(bools));
    if (!floats.empty()) return Argument(std::move(floats));
    return Argument(std::move(ints));
  }

  // Whoever takes a layout makes a new tensor from the four options.
  static void mark_tensor_options(OpInfo* op) {
    if (op->find_arg("layout") < 0 || op->num_results == 0) return;
    for (const char* name : {"dtype", "layout", "device", "pin_memory"}) {
      const int index = op->find_arg(name);
      if (index >= 0) op->args[index].is_tensor_option = true;
    }
  }

  absl::string_view text_;
  size_t place_ = 0;
};

}  // namespace

absl::StatusOr<OpInfo> parse_schema(absl::string_view schema) { return Parser(schema).parse(); }

}  // namespace petrel::exir
