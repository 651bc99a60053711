// SPDX-License-Identifier: Apache-2.0
//
// Which kernels generated C has, as the user asks for them.
//
//   KernelOptions options;
//   options.target = Target::kCortexM4;
//   options.forced = {{"conv2d", "direct", is_conv2d}};   // the first that matches counts
#ifndef PETREL_EXIR_EMIT_C_KERNEL_OPTIONS_H_
#define PETREL_EXIR_EMIT_C_KERNEL_OPTIONS_H_

#include <functional>
#include <string>
#include <vector>

namespace petrel::exir::emit_c {

// What the code is fast on; it compiles and computes the same on all of them.
enum class Target { kGeneric, kCortexM4, kCortexM55, kRv32, kX86_64, kArm64 };

// In the order of Target.
inline constexpr const char* kTargetNames[] = {"generic", "cortex-m4", "cortex-m55",
                                               "rv32",    "x86-64",    "arm64"};

// NODE=VARIANT, where NODE says of names of results, and of modules whose weight it is, which it
// means.
struct ForcedKernel {
  std::string node;
  std::string variant;
  std::function<bool(const std::string& name)> matches;
};

// A function of the user, which --kernel names as a variant. It takes the tensors among the
// arguments of the operator in their order, NULL for none, and its results, all of them as the
// program has them:
//
//   void SYMBOL(const void *const *inputs, void *const *outputs);
struct UserKernel {
  std::string symbol;
  std::string file;  // its name, which the package gets behind its own; ends in .c, .S or .a
  std::string text;
};

// What was measured to be best for a node (exir/driver/tuning.h).
struct TunedKernel {
  std::string node;     // the name of its result
  std::string product;  // product_text() of int8_product.h
  std::string variant;
};

struct KernelOptions {
  Target target = Target::kGeneric;
  // Inputs and outputs that have channels and places lie with channels innermost.
  bool channels_last_io = false;
  // All values lie as in the program: whoever reads them by the plan knows no other order.
  bool keeps_order = false;
  std::vector<ForcedKernel> forced;
  // One for each node that no rule forces; empty: the target decides.
  std::vector<TunedKernel> tuned;
  std::vector<UserKernel> user;
  std::vector<std::string> user_flags;  // of the compiler, for the files of `user`
};

// Whether a function of the user may be called so.
bool is_c_name(const std::string& name);
// Whether the table of variants has the name.
bool is_variant(const std::string& name);
// SHA-256 of the text that all variants are made of, 64 hexadecimal digits.
std::string variants_digest();

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_KERNEL_OPTIONS_H_
