// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/any_arguments.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "exir/ir/verifier.h"

namespace petrel::exir {
namespace {

// What so many bytes have is a constant now and then.
constexpr size_t kSmall = 1024;
// One number of so many is computed at run time.
constexpr size_t kMostWritten = 12;

}  // namespace

std::vector<Argument> AnyArguments::make(const OpInfo& op, Graph* graph,
                                         const std::vector<Value*>& made) {
  graph_ = graph;
  made_.clear();
  for (Value* value : made) {
    if (value->type().is_tensor()) made_.push_back(value);
  }
  tensors_.clear();
  only_numbers_ = below(8) == 0;
  varies_ = !only_numbers_ && below(8) == 0;
  most_ = below(2) == 0 ? 16 : 2147483647;
  std::vector<Argument> arguments;
  for (const ArgSpec& spec : op.args) arguments.push_back(any_of(spec));
  return arguments;
}

bool AnyArguments::add_call(const OpInfo& op, Graph* graph, std::optional<size_t> absent) {
  std::vector<Value*> outputs = graph->outputs();
  std::vector<Argument> arguments = make(op, graph, outputs);
  if (absent) arguments[*absent] = Argument();
  auto types = op.infer(op, arguments);
  if (!types.ok()) return false;
  const Node* const node = graph->append(op, std::move(arguments), *std::move(types), "y");
  for (size_t i = 0; i < node->num_results(); ++i) outputs.push_back(node->result(i));
  graph->set_outputs(std::move(outputs));
  return verify_graph(*graph).ok();
}

int64_t AnyArguments::integer() {
  constexpr int64_t kPool[] = {0,
                               1,
                               2,
                               3,
                               4,
                               5,
                               6,
                               7,
                               -1,
                               -2,
                               -3,
                               -4,
                               12,
                               16,
                               1 << 30,
                               2147483647,
                               2147483648,
                               -2147483648,
                               std::numeric_limits<int64_t>::max(),
                               std::numeric_limits<int64_t>::min(),
                               std::numeric_limits<int64_t>::max() - 1,
                               int64_t{1} << 62};
  // Small ones most of the time, so that rules get past their first check.
  return kPool[below(below(3) == 0 ? std::size(kPool) : 8)];
}

double AnyArguments::real() {
  constexpr double kPool[] = {0.0,
                              1.0,
                              2.0,
                              0.5,
                              -1.0,
                              1e300,
                              -1e300,
                              std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()};
  return kPool[below(std::size(kPool))];
}

Value* AnyArguments::varying_tensor() {
  const SizeExpression n("n", {0, most_});
  const std::vector<SizeExpression> sizes[] = {
      {n}, {n, SizeExpression(3)}, {SizeExpression(1), SizeExpression(3), n, n}, {n, n, n}};
  const size_t index = below(std::size(sizes));
  Value*& known = tensors_[1000 + index];
  if (known == nullptr) {
    const TensorType type = TensorType::dynamic(ScalarType::kFloat, sizes[index]);
    if (!check_tensor_type(type).ok()) return nullptr;
    known = graph_->add_input(type, "x");
  }
  return known;
}

Value* AnyArguments::tensor() {
  if (!made_.empty() && below(2) == 0) return made_[below(made_.size())];
  if (varies_ && below(2) == 0) {
    if (Value* const value = varying_tensor()) return value;
  }
  static const auto* const kSizes = new std::vector<Sizes>{{},
                                                           {0},
                                                           {1},
                                                           {4},
                                                           {2, 3},
                                                           {3, 3},
                                                           {0, 3},
                                                           {1, 3, 8, 8},
                                                           {4, 3, 3},
                                                           {2, 2, 3, 4},
                                                           {2, 4, 4},
                                                           {4, 3, 3, 3},
                                                           {2147483647, 1000000},
                                                           {1, 2, 3, 4, 5, 6}};
  constexpr ScalarType kTypes[] = {ScalarType::kFloat, ScalarType::kLong, ScalarType::kBool,
                                   ScalarType::kHalf};
  const size_t index = below((only_numbers_ ? 1 : kSizes->size()) * std::size(kTypes));
  Value*& made = tensors_[index];
  if (made != nullptr) return made;
  TensorType type = TensorType::contiguous(kTypes[index % std::size(kTypes)],
                                           (*kSizes)[index / std::size(kTypes)]);
  if (static_cast<uint64_t>(type.nbytes()) > kSmall || below(3) != 0) {
    return made = graph_->add_input(std::move(type), "x");
  }
  auto constant = std::make_shared<Constant>();
  constant->fqn = "w" + std::to_string(index);
  constant->data = Blob::owned(std::vector<uint8_t>(static_cast<size_t>(type.nbytes()), 1));
  constant->type = std::move(type);
  return made = graph_->add_constant(std::move(constant));
}

// Computed at run time from the sizes of something.
Argument AnyArguments::computed_number() {
  return Argument(graph_->add_input(Type::integer(SizeExpression("k", {1, 6})), "k"));
}

Argument AnyArguments::any_of(const ArgSpec& spec) {
  if (below(20) == 0) return anything();
  if (spec.is_optional && below(3) == 0) return Argument();
  if (spec.has_default && below(3) == 0) return spec.default_value;
  return spec.is_list ? list_of(spec) : single(spec.kind);
}

Argument AnyArguments::list_of(const ArgSpec& spec) {
  const size_t count = spec.fixed_length > 0 && below(4) != 0 ? spec.fixed_length : below(7);
  if (spec.kind == ArgKind::kTensor) {
    Argument::List list;
    for (size_t i = 0; i < count; ++i) {
      list.push_back(spec.has_optional_items && below(3) == 0 ? Argument() : Argument(tensor()));
    }
    return Argument(std::move(list));
  }
  if (spec.kind == ArgKind::kFloat) {
    Argument::Floats floats(count);
    std::generate(floats.begin(), floats.end(), [this] { return real(); });
    return Argument(std::move(floats));
  }
  Argument::Ints ints(count);
  std::generate(ints.begin(), ints.end(), [this] { return integer(); });
  if (count == 0 || below(kMostWritten) != 0) return Argument(std::move(ints));
  Argument::List items(ints.begin(), ints.end());
  items[below(count)] = computed_number();
  return Argument(std::move(items));
}

Argument AnyArguments::single(ArgKind kind) {
  switch (kind) {
    case ArgKind::kTensor:
      return Argument(tensor());
    case ArgKind::kScalar:
      if (below(kMostWritten) == 0) return computed_number();
      return below(2) == 0 ? Argument(integer()) : Argument(real());
    case ArgKind::kInt:
      return below(kMostWritten) == 0 ? computed_number() : Argument(integer());
    case ArgKind::kFloat:
      return below(kMostWritten) == 0 ? computed_number() : Argument(real());
    case ArgKind::kBool:
      return Argument(below(2) == 0);
    case ArgKind::kString: {
      constexpr const char* kPool[] = {"same",     "valid", "reflect", "ij,jk->ik", "xy",
                                       "->...a",   "...,",  ",,,->",   "",          "a...b->b",
                                       "constant", "tanh",  "trunc",   "amax",      "SYMMETRIC"};
      return Argument(std::string(kPool[below(std::size(kPool))]));
    }
    case ArgKind::kScalarType:
      return Argument(below(2) == 0 ? ScalarType::kFloat : ScalarType::kChar);
    case ArgKind::kMemoryFormat:
      return Argument(MemoryFormat::kContiguous);
    default:
      return Argument();
  }
}

Argument AnyArguments::anything() {
  switch (below(7)) {
    case 0:
      return Argument();
    case 1:
      return Argument(Argument::List{Argument(int64_t{1}), Argument()});
    case 2:
      return Argument(Argument::Ints{integer(), integer()});
    case 3:
      return Argument(std::string("x"));
    case 4:
      return Argument(Argument::Bools{true});
    case 5: {
      Value* const number = graph_->add_input(Type::scalar(Type::Kind::kInt), "n");
      return below(2) == 0 ? Argument(number) : Argument(Argument::List{Argument(number)});
    }
    default:
      return Argument(tensor());
  }
}

}  // namespace petrel::exir
