// SPDX-License-Identifier: Apache-2.0
//
// What the row of an operator works on: one node, and the kernel calls that it becomes.
//
//   KernelCall& call = calls.add("kernels/map.h", "relu");
//   calls.bind(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
//   call.arguments = {calls.read(x), calls.write(y), calls.count(y)};
#ifndef PETREL_EXIR_EMIT_C_NODE_CALLS_H_
#define PETREL_EXIR_EMIT_C_NODE_CALLS_H_

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "exir/emit_c/extent.h"
#include "exir/emit_c/kernel_call.h"
#include "exir/emit_c/kernel_choices.h"
#include "exir/emit_c/memories.h"
#include "exir/emit_c/places.h"
#include "exir/ir/graph.h"

namespace petrel::exir::emit_c {

// What a kernel computes in: that of the portable kernels, so that bits are the same.
enum class Arithmetic {
  kDouble,   // of floats
  kInteger,  // of integers and bool
  kModular,  // of integers, modulo 2^64
};

class NodeCalls {
 public:
  // The most numbers that a processor computes at once: doubles or floats, and floats where more
  // of them lie side by side.
  static constexpr int64_t kMostLanes = 8, kWideLanes = 16;

  // `choice` is null for nodes whose kernel has no variants.
  NodeCalls(const Node& node, const Places& places, const CPools& pools, const KernelChoice* choice)
      : node_(node), places_(places), pools_(pools), choice_(choice) {}

  const Node& node() const { return node_; }
  const Value* out(size_t i = 0) const { return node_.result(i); }
  const KernelChoice* choice() const { return choice_; }
  // Floats may be computed in floats.
  bool is_fast() const { return pools_.fast_math; }
  // Whether anybody reads a result: a node, the caller, or a host that compares all of them.
  bool is_read(const Value* result) const { return pools_.has_device_rpc || result->is_used(); }
  // What the plan has for the node. Precondition: its variant asks for some.
  std::string scratch(const std::string& type) const { return places_.scratch(node_, type); }
  // Whether a size was asked for that C cannot compute.
  bool is_unknown() const;
  std::vector<KernelCall> take() && { return {calls_.begin(), calls_.end()}; }
  // What is true of data that the step refuses before its first call.
  const std::vector<std::string>& refused() const { return refused_; }

  // The step refuses data with which this is below 0: a place that is found at run time, which
  // the rule of the operator cannot check, and whose kernel does.
  void require_not_negative(const Extent& value);

  // The reference stays valid when more are added.
  KernelCall& add(std::string source, std::string name);

  // The types of an operand: ROLE_TYPE and LOAD_ROLE, or STORE_ROLE for a result.
  static void bind_read(KernelCall& call, const std::string& role, ScalarType type,
                        Arithmetic arithmetic);
  static void bind_write(KernelCall& call, const std::string& role, ScalarType type,
                         Arithmetic arithmetic);
  // The function or cast before a double that rounds it to what the type holds.
  static std::string rounding(ScalarType type);
  // What it makes of a number that is known: the element of a floating type.
  static double rounded(double value, ScalarType type);
  // What products of elements of a floating type, of which the result is too, are summed in, side
  // by side: doubles, or floats where they may be. SUM_TYPE, LOAD_SUM, and SUM_VECTOR, LANES,
  // LOAD_LANES, ADD_PRODUCT and ADD_PRODUCTS of vectors, wide ones if there are kWideLanes of
  // floats. After bind_write().
  void bind_sums(KernelCall& call, ScalarType type, bool fills_wide) const;
  // Whether the numbers of a weight, which nothing replaces at run time, are all finite.
  bool is_finite(const Value* weight) const;
  // Of elements that are only moved.
  static void bind_elements(KernelCall& call, ScalarType type);
  // How far apart batches, channels, rows and columns of [N, C, H, W] or [N, C, W] are: ROLE_BATCH,
  // ROLE_PLANE, ROLE_ROW, ROLE_COLUMN.
  static void bind_steps(KernelCall& call, const std::string& role, const TensorType& type);
  // A number stands in the kernel; a size that varies is a parameter of it.
  static void bind(KernelCall& call, const std::string& token, const Extent& value);
  static void bind_list(KernelCall& call, const std::string& token, const Extents& values);
  // A number as an expression of doubles, and of integers as kernels take it; one that is computed
  // from sizes is a parameter of the kernel, named after `token`.
  static std::string real(KernelCall& call, const std::string& token, const Argument& value);
  static std::string integer(KernelCall& call, const std::string& token, const Argument& value);

  std::string read(const Value* value, const Extent& element = 0) const {
    return places_.read(value, offset(element));
  }
  std::string write(const Value* value, const Extent& element = 0) const {
    return places_.write(value, offset(element));
  }
  // An argument that counts: "12", or "(int32_t)(8 * sizes->s31)".
  std::string count(const Extent& value) const;
  // An argument that is a double or, where that is what sizes make, an int32_t. Precondition: it is
  // computed from sizes.
  std::string computed(const Argument& value) const;
  // Both begin at one address.
  bool same_place(const Value* a, const Value* b) const {
    return !places_.has_symbol(a) && places_.bytes(a) == places_.bytes(b);
  }

 private:
  std::string offset(const Extent& element) const;

  const Node& node_;
  const Places& places_;
  const CPools& pools_;
  const KernelChoice* const choice_;
  mutable bool is_unknown_ = false;
  std::vector<std::string> refused_;
  std::deque<KernelCall> calls_;
};

bool is_floating(const Value* value);

// kDouble when one of `values` is floating, else kInteger.
Arithmetic arithmetic_of(std::initializer_list<const Value*> values);

// The numbers of a list, one of which may stand for `count` equal ones; 0 takes the list
// as it is. Precondition: it holds numbers only.
std::vector<int64_t> ints_of(const Argument& argument, size_t count = 0);

// A number as the kernels of integers take it: floats towards zero, saturating, NaN as 0.
// Never through a double, which holds no integer beyond 2^53 exactly.
int64_t integer_of(const Argument& number);

// A float of the program, or one that is computed from sizes.
bool is_float_number(const Argument& argument);

// An int of the program, or one that is computed from sizes; unknown for others.
Extent extent_of(const Argument& argument);
// The numbers of a list, each perhaps computed from sizes.
Extents extents_of_list(const Argument& list);

// Null for none.
const Value* tensor_of(const Argument& argument);

// The dim that an argument names, from 0. Precondition: it is an int in range.
size_t dim_of(const Argument& argument, const TensorType& type);

// A tensor as [outer, size, inner] around one of its dims.
struct Split {
  Extent outer = 1, size = 1, inner = 1;
};
Split split_at(const TensorType& type, size_t dim);

// How far apart the elements along each dim are.
Extents strides_of(const TensorType& type);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_NODE_CALLS_H_
