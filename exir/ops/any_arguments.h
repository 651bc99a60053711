// SPDX-License-Identifier: Apache-2.0
//
// Arguments that nobody should trust, for tests: of the kinds that a schema asks for
// most of the time, with sizes and numbers that break careless arithmetic.
//
//   AnyArguments any(1);
//   Graph graph("m");
//   const std::vector<Argument> arguments = any.make(op, &graph);
//   if (any.add_call(op, &graph)) ...                    // a node with such arguments
//
// Invariant: equal seeds and calls give equal arguments. Tensors in them are inputs and
// constants that it adds to the graph, which owns them.
#ifndef PETREL_EXIR_OPS_ANY_ARGUMENTS_H_
#define PETREL_EXIR_OPS_ANY_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "exir/ir/graph.h"

namespace petrel::exir {

class AnyArguments {
 public:
  explicit AnyArguments(uint32_t seed) : random_(seed) {}

  // `made`: results of calls in the graph, which take the place of inputs now and then.
  std::vector<Argument> make(const OpInfo& op, Graph* graph, const std::vector<Value*>& made = {});

  // A node of `op`, whose results become outputs; argument `absent` is left out. False where the
  // rule of `op` refuses the arguments, or the graph is none.
  bool add_call(const OpInfo& op, Graph* graph, std::optional<size_t> absent = std::nullopt);

 private:
  size_t below(size_t bound) { return random_() % bound; }
  int64_t integer();
  double real();
  Value* tensor();
  Value* varying_tensor();
  Argument computed_number();
  Argument any_of(const ArgSpec& spec);
  Argument list_of(const ArgSpec& spec);
  Argument single(ArgKind kind);
  Argument anything();

  std::mt19937 random_;
  Graph* graph_ = nullptr;
  std::vector<Value*> made_;
  std::map<size_t, Value*> tensors_;  // of the graph
  bool only_numbers_ = false;         // all tensors in these arguments are of rank 0
  bool varies_ = false;               // some sizes in these arguments, up to
  int64_t most_ = 0;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_OPS_ANY_ARGUMENTS_H_
