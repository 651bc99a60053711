// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/names.h"
#include "exir/emit_c/returns.h"
#include "exir/emit_c/text_files.h"

namespace petrel::exir::emit_c {
namespace {

// Of texts without names of the user, which may hold anything.
bool is_input(const std::string& variable) { return absl::StartsWith(variable, "in_"); }
bool is_output(const std::string& variable) { return absl::StartsWith(variable, "out_"); }

std::string parameters_of(const Package& package, const CMethod& method, const CStep& step) {
  std::vector<std::string> parameters;
  for (const std::string& variable : step.memories) {
    parameters.push_back(
        absl::StrCat(is_input(variable) ? "const " : "", "unsigned char *", variable));
  }
  for (const size_t index : step.parameters) {
    const CParameter& parameter = package.parameters[index];
    parameters.push_back(
        absl::StrCat("const ", c_type(parameter.constant->type.dtype), " *", parameter.variable));
  }
  if (step.delegate.has_value()) parameters.push_back("void *handle");
  if (step.round.has_value()) parameters.push_back("uint32_t round");
  if (!step.finds.empty()) {
    parameters.push_back(step.finds_number ? "double *found" : "int64_t *found");
  }
  if (step.sizes)
    parameters.push_back(absl::StrCat("const struct ", method.prefix, "_sizes *sizes"));
  return parameters.empty() ? "void" : absl::StrJoin(parameters, ", ");
}

// What run() calls it: "context->arena", "(const unsigned char *)inputs->image". `wanted` is a copy
// of the caller's outputs, whose pointers are not const.
std::string in_run(const std::string& variable) {
  if (is_input(variable)) return "(const unsigned char *)inputs->" + variable.substr(3);
  if (is_output(variable)) return "(unsigned char *)wanted." + variable.substr(4);
  return "context->" + variable;
}

// "context->rounds[1]".
std::string counter_of(const CMethod& method, size_t counter) {
  return absl::StrCat("context->", method.rounds_member, "[", counter, "]");
}

std::string arguments_of(const Package& package, const CMethod& method, const CStep& step) {
  std::vector<std::string> arguments;
  for (const std::string& variable : step.memories) arguments.push_back(in_run(variable));
  for (const size_t index : step.parameters) {
    arguments.push_back(in_run(package.parameters[index].variable));
  }
  if (step.delegate.has_value()) {
    arguments.push_back(absl::StrCat("context->delegate_", *step.delegate));
  }
  if (step.round.has_value()) arguments.push_back(counter_of(method, *step.round));
  if (!step.finds.empty()) {
    arguments.push_back(absl::StrCat("&context->", method.sizes_member, ".", step.finds));
  }
  if (step.sizes) arguments.push_back("sizes");
  return absl::StrJoin(arguments, ", ");
}

std::string step_text(const Package& package, const CMethod& method, const CStep& step) {
  return absl::StrCat("/* ", absl::StrReplaceAll(step.comment, {{"\n", "\n * "}}), "\n */\n",
                      step.can_fail ? "static int32_t " : "static void ", method.prefix, "_",
                      step.function, "(", parameters_of(package, method, step), ") {\n", step.body,
                      "}\n\n");
}

std::string copy_text(const std::string& to, const std::string& from, const TensorType& type) {
  const std::string source = absl::StrCat("(const void *)(", from, ")");
  return absl::StrCat("  if ((const void *)(", to, ") != ", source, ") {\n    (void)memcpy(", to,
                      ", ", source, ", ", bytes_text(type), ");\n  }\n");
}

// A tensor must lie in its place in the arena or outside of that. An output of the caller
// lies apart from all that steps read.
std::string checks_text(const Package& package, const CMethod& method) {
  const std::string refuse = absl::StrCat("{\n    return ", package.capitals, "_E_ALIAS;\n  }\n");
  std::string text;
  std::vector<std::pair<std::string, std::string>> seen;  // borrowed ones, and their bytes
  const auto check = [&](const char* structure, const CTensor& tensor, bool is_written) {
    const std::string bytes = bytes_text(tensor.type);
    const std::string data = absl::StrCat(structure, "->", tensor.c_name);
    if (tensor.type.nbytes() == 0) return;
    if (has_arena(package)) {
      absl::StrAppend(&text, "  if (", package.name, "_strays(context, ", data, ", ", bytes, ", ",
                      package.borrows() ? "NULL" : at_run(tensor.place), ")) ", refuse);
    }
    if (!package.borrows()) return;
    for (const auto& [other, other_bytes] : seen) {
      if (!is_written) break;
      absl::StrAppend(&text, "  if (", package.name, "_meets(", data, ", ", bytes, ", ", other,
                      ", ", other_bytes, ")) ", refuse);
    }
    seen.emplace_back(data, bytes);
  };
  for (const CTensor& tensor : method.inputs) check("inputs", tensor, false);
  for (const CTensor& tensor : method.outputs) check("outputs", tensor, true);
  return text;
}

std::string input_copies_text(const Package& package, const CMethod& method) {
  std::string text;
  for (const CTensor& tensor : method.inputs) {
    if (package.borrows()) break;
    text += copy_text(at_run(tensor.place), absl::StrCat("inputs->", tensor.c_name), tensor.type);
  }
  return text;
}

// What comes before the first step: checks, and copies of inputs.
std::string begin_text(const Package& package, const CMethod& method) {
  const std::string null = package.capitals + "_E_NULL";
  std::string text;
  for (const CTensor& tensor : method.inputs) {
    text += return_if(absl::StrCat("inputs->", tensor.c_name, " == NULL"), null);
  }
  for (const CTensor& tensor : method.outputs) {
    text += return_if(absl::StrCat("outputs->", tensor.c_name, " == NULL"), null);
  }
  text += missing_pointers_text(package, method);
  const bool has_delegate =
      std::any_of(method.steps.begin(), method.steps.end(),
                  [](const CStep& step) { return step.delegate.has_value(); });
  if (has_delegate) {
    text += return_if(absl::StrCat("context->open_delegates != ", package.delegates.size(), "u"),
                      package.capitals + "_E_DEVICE");
  }
  if (!method.sizes.empty()) {
    absl::StrAppend(&text, "  status = ", method.prefix, "_set_sizes(context, inputs);\n",
                    return_errors(package));
  }
  text += checks_text(package, method);
  return text + input_copies_text(package, method);
}

// Steps are counted from 1: what comes before them is one, too. A counter of rounds is that of a
// row in whatever order steps are done: a host may ask a device for any.
std::string jump_text(const Package& package, const CMethod& method, const CJump& jump) {
  const std::string go = absl::StrCat("*next = ", jump.to + 1, "u;\n");
  if (jump.rounds.has_value()) {
    const std::string counter = counter_of(method, jump.rounds->counter);
    const std::string leave = absl::StrCat(go, "    return ", package.capitals, "_OK;\n  }\n");
    const std::string& count = jump.rounds->count;
    if (!jump.rounds->is_before) {
      return absl::StrCat("  if (((int64_t)", counter, " + 1) < ", count, ") {\n    ", counter,
                          " = ", counter, " + 1u;\n    ", leave);
    }
    return absl::StrCat("  ", counter, " = 0u;\n",
                        count.empty() ? "" : absl::StrCat("  if (", count, " < 1) {\n    ", leave));
  }
  if (jump.unless.empty()) return absl::StrCat("  ", go, "  return ", package.capitals, "_OK;\n");
  return absl::StrCat("  if (!*(const bool *)(const void *)(", at_run(jump.unless), ")) {\n    ",
                      go, "    return ", package.capitals, "_OK;\n  }\n");
}

std::string call_text(const Package& package, const CMethod& method, const CStep& step) {
  if (step.jump.has_value()) return jump_text(package, method, *step.jump);
  std::string text = need_text(package, step.parameters);
  absl::StrAppend(&text, step.can_fail ? "  status = " : "  ", method.prefix, "_", step.function,
                  "(", arguments_of(package, method, step), ");\n");
  if (!step.can_fail) return text;
  return text + return_errors(package);
}

// What comes after the last step: state, and copies of outputs.
std::string end_text(const Package& package, const CMethod& method) {
  std::string text;
  for (const CWrite& write : method.writes) {
    const bool placed = write.from.find(" + ") != std::string::npos;
    if (write.parameter.has_value()) text += need_text(package, {*write.parameter});
    absl::StrAppend(&text, "  (void)memcpy(", at_run(write.to), ", (const void *)(",
                    placed                        ? at_run(write.from)
                    : write.parameter.has_value() ? in_run(write.from)
                                                  : write.from,
                    "), ", write.bytes, "u);\n");
  }
  for (const CTensor& tensor : method.outputs) {
    // Where steps write it; what is returned several times is at another.
    if (tensor.place == absl::StrCat("out_", tensor.c_name, " + 0")) continue;
    text += copy_text(absl::StrCat("outputs->", tensor.c_name), at_run(tensor.place), tensor.type);
  }
  return text;
}

std::string signature_text(const Package& package, const CMethod& method, const char* function,
                           const char* more) {
  return absl::StrCat("int32_t ", method.prefix, function, "(struct ", package.name,
                      "_context *context, const struct ", method.prefix,
                      "_inputs *inputs,\n    const struct ", method.prefix, "_outputs *outputs",
                      more, ") {\n");
}

std::string unused_text(const std::string& body) {
  std::string text;
  for (const char* name : {"context", "inputs", "outputs"}) {
    if (!absl::StrContains(body, name)) absl::StrAppend(&text, "  (void)", name, ";\n");
  }
  return text;
}

constexpr char kNext[] = ",\n    uint32_t *next";

// One step, which both entries below take, one step at a call and all of them.
std::string next_step_text(const Package& package, const CMethod& method) {
  std::string cases;
  uint64_t count = 0;
  const auto add = [&](const std::string& body) {
    absl::StrAppend(&cases, "    case ", count++,
                    "u:", absl::StrReplaceAll("\n" + body, {{"\n  ", "\n      "}}),
                    "      break;\n");
  };
  add(begin_text(package, method));
  for (const CStep& step : method.steps) add(call_text(package, method, step));
  add(end_text(package, method));
  const bool has_sizes = absl::StrContains(cases, "sizes->") ||
                         std::any_of(method.steps.begin(), method.steps.end(),
                                     [](const CStep& step) { return step.sizes; });
  // A variable that nothing sets would be a warning.
  const bool can_fail = cases.find(" status = ") != std::string::npos;
  const std::string wanted =
      absl::StrContains(cases, "wanted.")
          ? absl::StrCat("  struct ", method.prefix, "_outputs wanted = *outputs;\n")
          : "";
  const std::string head = absl::StrCat(can_fail ? "  int32_t status;\n" : "", wanted,
                                        has_sizes ? sizes_pointer_text(method) : "");
  return absl::StrCat("static ", signature_text(package, method, "_next_step", kNext), head,
                      unused_text(head + cases), "  switch (*next) {\n", cases,
                      "    default:\n      return ", package.capitals,
                      "_E_NOT_FOUND;\n  }\n  ++*next;\n  return ", package.capitals, "_OK;\n}\n\n");
}

std::string run_text(const Package& package, const CMethod& method) {
  const std::string& big = package.capitals;
  const std::string no_pointers =
      absl::StrCat("  if (", no_context(package), " || inputs == NULL || outputs == NULL");
  const std::string null = absl::StrCat(") {\n    return ", big, "_E_NULL;\n  }\n");
  const std::string next_step =
      absl::StrCat(method.prefix, "_next_step(context, inputs, outputs, ");
  return absl::StrCat(signature_text(package, method, "_run_step", kNext), no_pointers,
                      "\n      || next == NULL", null, "  return ", next_step, "next);\n}\n\n",
                      signature_text(package, method, "_run", ""), "  uint32_t next = 0;\n",
                      "  int32_t status = ", big, "_OK;\n", no_pointers, null, "  while (next < ",
                      in_capitals(method.prefix), "_STEPS && status == ", big,
                      "_OK) {\n    status = ", next_step, "&next);\n  }\n  return status;\n}\n\n");
}

// All steps without the checks before them. Branches go step by step, which takes the first as
// done.
std::string unchecked_text(const Package& package, const CMethod& method) {
  const bool has_jump = std::any_of(method.steps.begin(), method.steps.end(),
                                    [](const CStep& step) { return step.jump.has_value(); });
  const std::string& big = package.capitals;
  std::string body;
  if (!method.sizes.empty()) {
    absl::StrAppend(&body, "  status = ", method.prefix, "_set_sizes(context, inputs);\n",
                    return_errors(package));
  }
  body += input_copies_text(package, method);
  if (has_jump) {
    absl::StrAppend(&body, "  while (next < ", in_capitals(method.prefix),
                    "_STEPS) {\n    status = ", method.prefix,
                    "_next_step(context, inputs, outputs, &next);\n    if (status != ", big,
                    "_OK) {\n      return status;\n    }\n  }\n");
  } else {
    for (const CStep& step : method.steps) body += call_text(package, method, step);
    body += end_text(package, method);
  }
  std::string head;
  if (body.find(" status = ") != std::string::npos) head += "  int32_t status;\n";
  if (has_jump) head += "  uint32_t next = 1;\n";
  if (absl::StrContains(body, "wanted.")) {
    absl::StrAppend(&head, "  struct ", method.prefix, "_outputs wanted = *outputs;\n");
  }
  const bool has_sizes = absl::StrContains(body, "sizes->") ||
                         (!has_jump && std::any_of(method.steps.begin(), method.steps.end(),
                                                   [](const CStep& step) { return step.sizes; }));
  if (has_sizes) head += sizes_pointer_text(method);
  head += unused_text(head + body);
  return absl::StrCat(signature_text(package, method, "_run_unchecked", ""), head, body,
                      "  return ", big, "_OK;\n}\n\n");
}

}  // namespace

std::string at_run(const std::string& place) {
  const size_t end = place.find(' ');
  return in_run(place.substr(0, end)) + place.substr(end);
}

std::string steps_text(const Package& package, const CMethod& method) {
  std::string text;
  for (const CStep& step : method.steps) {
    if (!step.jump.has_value()) text += step_text(package, method, step);
  }
  return text;
}

std::string runs_text(const Package& package, const CMethod& method) {
  return absl::StrCat(next_step_text(package, method), run_text(package, method),
                      unchecked_text(package, method));
}

}  // namespace petrel::exir::emit_c
