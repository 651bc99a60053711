// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/real_text.h"

#include "absl/strings/str_cat.h"
#include "exir/emit_c/extent.h"
#include "exir/emit_c/literal.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::exir::emit_c {
namespace {

// What is computed of itself again and again would be written as often.
constexpr size_t kLongest = 1000;
// Of steps of which each is a call here: an archive may have a million.
constexpr int kMostSteps = 200;

bool is_int(const Argument& argument) {
  return argument.is_value() && argument.value()->type().kind == Type::Kind::kInt;
}

bool is_float(const Argument& argument) {
  return argument.is_value() && argument.value()->type().kind == Type::Kind::kFloat;
}

bool is_truth(const Argument& argument) {
  return argument.is_value() && argument.value()->type().kind == Type::Kind::kBool;
}

absl::Status too_many_steps() {
  return absl::UnimplementedError("numbers that are computed in so many steps do not exist in C");
}

absl::StatusOr<std::string> text_of(const Value* value, int steps);

absl::StatusOr<std::string> text_of(const Argument& argument, int steps) {
  if (argument.is_number()) return number(argument.as_number());
  if (is_float(argument)) return text_of(argument.value(), steps);
  const std::string text = is_int(argument) ? Extent(argument.value()->type().number).text() : "";
  if (!text.empty()) return absl::StrCat("(double)(", text, ")");
  return absl::UnimplementedError("numbers that no size tells do not exist in C yet");
}

// As an integer where it is one, "" where it is none.
std::string integer_text(const Argument& argument) {
  if (argument.is_int()) return number(argument.as_int());
  return is_int(argument) ? Extent(argument.value()->type().number).text() : "";
}

bool is_never_zero(const Argument& argument, int steps) {
  if (argument.is_number()) return argument.as_number() != 0;
  if (is_int(argument)) {
    const SizeRange range = Extent(argument.value()->type().number).range();
    return range.low > 0 || range.high < 0;
  }
  const Node* producer = is_float(argument) ? argument.value()->producer() : nullptr;
  return producer != nullptr && steps < kMostSteps &&
         producer->is(executorch_prim::sym_float_Scalar, executorch_prim::neg_Scalar) &&
         is_never_zero(producer->arguments()[0], steps + 1);
}

// "+" of what has two sides.
const char* sign_of(const Node& node) {
  if (node.is(executorch_prim::add_Scalar)) return "+";
  if (node.is(executorch_prim::sub_Scalar)) return "-";
  if (node.is(executorch_prim::mul_Scalar)) return "*";
  if (node.is(executorch_prim::truediv_Scalar)) return "/";
  if (node.is(executorch_prim::sym_max_Scalar)) return ">";
  return node.is(executorch_prim::sym_min_Scalar) ? "<" : "";
}

// "<" of what compares.
const char* comparison_of(const Node& node) {
  if (node.is(executorch_prim::eq_Scalar)) return "==";
  if (node.is(executorch_prim::lt_Scalar)) return "<";
  if (node.is(executorch_prim::le_Scalar)) return "<=";
  if (node.is(executorch_prim::gt_Scalar)) return ">";
  return node.is(executorch_prim::ge_Scalar) ? ">=" : "";
}

// Integers are compared as integers.
absl::StatusOr<std::string> compared_text(const Node& node, const char* sign, int steps) {
  std::string a = integer_text(node.arguments()[0]), b = integer_text(node.arguments()[1]);
  if (a.empty() || b.empty()) {
    PETREL_ASSIGN_OR_RETURN(a, text_of(node.arguments()[0], steps));
    PETREL_ASSIGN_OR_RETURN(b, text_of(node.arguments()[1], steps));
  }
  return absl::StrCat("((", a, ") ", sign, " (", b, "))");
}

absl::StatusOr<std::string> truth_text(const Argument& argument, int steps) {
  if (is_truth(argument)) return text_of(argument.value(), steps);
  return absl::UnimplementedError("only what compares sizes is true or false in C yet");
}

absl::StatusOr<std::string> text_of(const Node& node, int steps) {
  if (const char* sign = comparison_of(node); sign[0] != '\0') {
    return compared_text(node, sign, steps);
  }
  if (node.is(executorch_prim::sym_not_Scalar)) {
    PETREL_ASSIGN_OR_RETURN(const std::string a, truth_text(node.arguments()[0], steps));
    return absl::StrCat("(!", a, ")");
  }
  if (node.is(executorch_prim::sym_float_Scalar)) return text_of(node.arguments()[0], steps);
  if (finds_size(node)) return absl::StrCat("sizes->", number_member(node.result()));
  if (node.is(executorch_prim::neg_Scalar)) {
    PETREL_ASSIGN_OR_RETURN(const std::string a, text_of(node.arguments()[0], steps));
    return absl::StrCat("(-", a, ")");
  }
  const std::string sign = sign_of(node);
  if (sign.empty()) {
    return absl::UnimplementedError(
        absl::StrCat("numbers that ", node.op().name, " computes do not exist in C yet"));
  }
  if (sign == "/" && !is_never_zero(node.arguments()[1], steps)) {
    return absl::UnimplementedError("C does not divide numbers by what may be 0 yet");
  }
  PETREL_ASSIGN_OR_RETURN(const std::string a, text_of(node.arguments()[0], steps));
  PETREL_ASSIGN_OR_RETURN(const std::string b, text_of(node.arguments()[1], steps));
  if (a.size() + b.size() > kLongest) return too_many_steps();
  const bool chooses = sign == "<" || sign == ">";
  return chooses ? absl::StrCat("(", a, " ", sign, " ", b, " ? ", a, " : ", b, ")")
                 : absl::StrCat("(", a, " ", sign, " ", b, ")");
}

absl::StatusOr<std::string> text_of(const Value* value, int steps) {
  const Node* producer = value->producer();
  if (producer == nullptr) {
    return absl::UnimplementedError("numbers that are inputs do not exist in C yet");
  }
  return steps == kMostSteps ? too_many_steps() : text_of(*producer, steps + 1);
}

}  // namespace

absl::StatusOr<std::string> real_text(const Value* value) { return text_of(value, 0); }

std::string problem_of_real(const Value* value, const std::vector<MethodSize>& sizes) {
  const absl::StatusOr<std::string> text = real_text(value);
  if (!text.ok()) return std::string(text.status().message());
  for (const Argument& argument : value->producer()->arguments()) {
    std::string problem;
    if (is_float(argument) || is_truth(argument)) {
      problem = problem_of_real(argument.value(), sizes);
    }
    if (is_int(argument)) problem = problem_of_size(*argument.value()->type().number, sizes);
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace petrel::exir::emit_c
