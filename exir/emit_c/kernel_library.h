// SPDX-License-Identifier: Apache-2.0
//
// The functions that a generated file needs: each kernel with its names in capitals
// replaced, once per different text, and before it the functions of numbers that it
// calls.
//
//   KernelLibrary library;
//   library.add(call)          "petrel_kernel_relu": the function to call, and before the
//                              call's own arguments the values of those of its varying sizes
//                              that the function has
//   library.includes()         {"math.h", "stdint.h"}
//   library.text()             all of it, in the order of first use
//
// Kernels begin with PETREL_KERNEL, which whoever writes the file defines. Names still begin with
// petrel_; whoever writes the file gives them its prefix.
#ifndef PETREL_EXIR_EMIT_C_KERNEL_LIBRARY_H_
#define PETREL_EXIR_EMIT_C_KERNEL_LIBRARY_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "exir/emit_c/kernel_call.h"

namespace petrel::exir::emit_c {

// `text` with every whole word that is a key replaced.
std::string with_words_replaced(absl::string_view text,
                                const std::map<std::string, std::string>& words);

// The headers of the C library for what the code in `text` calls by name. A kernel may call
// what it does not include, by what stands for its names in capitals.
std::set<std::string> standard_includes(absl::string_view text);

struct KernelFunction {
  std::string name;
  std::vector<std::string> sizes;  // C expressions
};

class KernelLibrary {
 public:
  // Internal when the kernel has no such source.
  absl::StatusOr<KernelFunction> add(const KernelCall& call);
  // Of code that calls them, outside of kernels.
  absl::Status need_functions_in(absl::string_view text);

  const std::set<std::string>& includes() const { return includes_; }
  // Includes within conditions: "#if defined(__AVX__)\n#include <immintrin.h>\n#endif\n".
  const std::string& conditional_includes() const { return conditional_includes_; }
  const std::string& text() const { return text_; }

 private:
  absl::Status need(absl::string_view path);
  std::string without_conditional_includes(absl::string_view text);
  absl::StatusOr<std::string> body_of(absl::string_view path);

  std::set<std::string> includes_;
  std::string conditional_includes_;
  std::set<std::string> needed_;              // paths
  std::map<std::string, std::string> names_;  // by text of the function
  std::map<std::string, int> functions_by_name_;
  std::string text_;
};

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_KERNEL_LIBRARY_H_
