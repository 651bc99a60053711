// SPDX-License-Identifier: Apache-2.0
//
// Sizes that vary: the struct of the context that keeps them, what takes them from the inputs
// of a call, and what tells those of inputs and outputs.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/comment_text.h"
#include "exir/emit_c/extent.h"
#include "exir/emit_c/text_files.h"

namespace petrel::exir::emit_c {
namespace {

std::string set_signature(const Package& package, const CMethod& method) {
  return absl::StrCat("int32_t ", method.prefix, "_set_sizes(struct ", package.name,
                      "_context *context,\n    const struct ", method.prefix, "_inputs *inputs)");
}

std::string tell_signature(const Package& package, const CMethod& method, const char* role,
                           const CTensor& tensor) {
  return absl::StrCat("void ", method.prefix, "_", role, "_", tensor.c_name, "_sizes(const struct ",
                      package.name, "_context *context, int32_t *sizes_of)");
}

// Calls fn(role, tensor) for those whose sizes vary.
template <typename Fn>
void for_each_varying(const CMethod& method, Fn fn) {
  for (const CTensor& tensor : method.inputs) {
    if (tensor.varies()) fn("input", tensor);
  }
  for (const CTensor& tensor : method.outputs) {
    if (tensor.varies()) fn("output", tensor);
  }
}

// Before anything is known of it.
std::string first_text(const MethodSize& size) {
  return size.is_real ? "0.0" : absl::StrCat(size.range.high);
}

std::string given_text(const CMethod& method, const MethodSize& size) {
  const std::string dim =
      absl::StrCat("inputs->", method.inputs[size.input].c_name, "_sizes[", size.dim, "]");
  if (size.factor == 1 && size.shift == 0) return dim;
  return absl::StrCat("((int64_t)", dim, " - (", size.shift, ")) / ", size.factor);
}

std::string set_text(const Package& package, const CMethod& method) {
  const std::string refuse = absl::StrCat(") {\n    return ", package.capitals, "_E_SHAPE;\n  }\n");
  std::string text = absl::StrCat(
      set_signature(package, method), " {\n  struct ", method.prefix, "_sizes given;\n  struct ",
      method.prefix, "_sizes *const sizes = &given;\n  if (context == NULL || inputs == NULL) {\n",
      "    return ", package.capitals, "_E_NULL;\n  }\n");
  for (const MethodSize& size : method.sizes) {
    if (size.finder != nullptr) {
      absl::StrAppend(&text, "  sizes->", size.member, " = ", first_text(size), ";\n");
      continue;
    }
    absl::StrAppend(&text, "  sizes->", size.member, " = ", given_text(method, size),
                    ";\n  if (sizes->", size.member, " < ", size.range.low, " || sizes->",
                    size.member, " > ", size.range.high, refuse);
  }
  for (const CTensor& tensor : method.inputs) {
    if (!tensor.varies()) continue;
    const Extents dims = extents_of(tensor.type);
    for (size_t d = 0; d < dims.size(); ++d) {
      absl::StrAppend(&text, "  if (inputs->", tensor.c_name, "_sizes[", d, "] != ", dims[d].text(),
                      refuse);
    }
  }
  return absl::StrCat(text, "  context->", method.sizes_member, " = given;\n  return ",
                      package.capitals, "_OK;\n}\n\n");
}

}  // namespace

std::string bytes_text(const TensorType& type) {
  const Extent bytes = nbytes_of(type);
  return bytes.is_number() ? absl::StrCat(bytes.number(), "u")
                           : absl::StrCat("(size_t)(", bytes.text(), ")");
}

std::string sizes_pointer_text(const CMethod& method) {
  return absl::StrCat("  const struct ", method.prefix, "_sizes *const sizes = &context->",
                      method.sizes_member, ";\n");
}

std::string sizes_struct_text(const CMethod& method) {
  if (method.sizes.empty()) return "";
  std::string text =
      absl::StrCat("\n/* The sizes that vary from call to call of method '",
                   comment_text(method.name), "'. */\nstruct ", method.prefix, "_sizes {\n");
  for (const MethodSize& size : method.sizes) {
    if (size.is_real) {
      absl::StrAppend(&text, "  double ", size.member, "; /* what a step finds in '",
                      comment_text(size.finder->operands()[0]->name()), "' */\n");
      continue;
    }
    absl::StrAppend(&text, "  int64_t ", size.member, "; /* ", size.range.low, " to ",
                    size.range.high, ", ",
                    size.finder != nullptr
                        ? absl::StrCat("the largest until a step finds '",
                                       comment_text(size.finder->result()->name()), "' */\n")
                        : absl::StrCat("of dim ", size.dim, " of input '",
                                       comment_text(method.inputs[size.input].name), "' */\n"));
  }
  return text + "};\n";
}

std::string sizes_header_text(const Package& package, const CMethod& method) {
  if (method.sizes.empty()) return "";
  std::string text = absl::StrCat(
      "/* Takes the sizes of the inputs, as every run does: ", package.capitals,
      "_E_SHAPE for those that the\n * model does not take. Before a run it is for who wants to "
      "know those of the outputs. */\n",
      set_signature(package, method),
      ";\n/* The sizes that were taken last; at first they are the largest. */\n");
  for_each_varying(method, [&](const char* role, const CTensor& tensor) {
    absl::StrAppend(&text, tell_signature(package, method, role, tensor), ";\n");
  });
  return text;
}

std::string sizes_source_text(const Package& package, const CMethod& method) {
  if (method.sizes.empty()) return "";
  std::string text = set_text(package, method);
  for_each_varying(method, [&](const char* role, const CTensor& tensor) {
    absl::StrAppend(&text, tell_signature(package, method, role, tensor), " {\n",
                    sizes_pointer_text(method));
    const Extents dims = extents_of(tensor.type);
    for (size_t d = 0; d < dims.size(); ++d) {
      absl::StrAppend(&text, "  sizes_of[", d, "] = (int32_t)(", dims[d].text(), ");\n");
    }
    absl::StrAppend(&text, "}\n\n");
  });
  return text;
}

std::string sizes_init_text(const CMethod& method) {
  std::string text;
  for (const MethodSize& size : method.sizes) {
    absl::StrAppend(&text, "  context->", method.sizes_member, ".", size.member, " = ",
                    first_text(size), ";\n");
  }
  return text;
}

}  // namespace petrel::exir::emit_c
