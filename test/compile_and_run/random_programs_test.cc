// SPDX-License-Identifier: Apache-2.0
//
// Programs of random operators give what the same operators give one by one:
// whatever the planner reuses, the emitter aliases, the partitioner cuts and
// the runtime keeps between calls.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/null/aot/null_backend.h"
#include "exir/emit/emit.h"
#include "exir/ir/text.h"
#include "exir/ir/verifier.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/partition/partition.h"
#include "gtest/gtest.h"
#include "test/compile_and_run/run.h"

namespace petrel::compile_and_run {
namespace {

namespace aten = exir::aten;
namespace arg = exir::arg;
using exir::Argument;
using exir::Constant;
using exir::Graph;
using exir::Node;
using exir::OpHandle;
using exir::Sizes;
using exir::TensorType;
using exir::Value;
using Elements = std::vector<float>;

TensorType f32(Sizes sizes) {
  return TensorType::contiguous(exir::ScalarType::kFloat, std::move(sizes));
}

// Shapes by number of elements, so that views find another one.
const std::map<int64_t, std::vector<Sizes>>& shapes() {
  static const auto* const kShapes = new std::map<int64_t, std::vector<Sizes>>{
      {1, {{}, {1}, {1, 1}}},
      {12, {{12}, {3, 4}, {4, 3}, {2, 3, 2}, {1, 12}}},
      {24, {{24}, {6, 4}, {4, 6}, {2, 12}, {1, 24}}},
      {36, {{36}, {9, 4}, {3, 12}, {1, 9, 4}}},
      {300, {{300}, {20, 15}, {15, 20}, {3, 10, 10}}},
  };
  return *kShapes;
}

class ProgramMaker {
 public:
  explicit ProgramMaker(uint32_t seed)
      : random_(seed), graph_(std::make_unique<Graph>("forward")) {}

  std::unique_ptr<Graph> make(size_t nodes) {
    for (const auto& [numel, choices] : shapes()) {
      values_.push_back(graph_->add_input(f32(choices[pick(choices.size())]), "x"));
    }
    for (int i = 0; i < 3; ++i) {
      states_.push_back(
          graph_->add_constant(constant("s", f32({12}), Constant::Kind::kMutableBuffer, i == 0)));
      values_.push_back(states_.back());
    }
    for (size_t i = 0; i < nodes; ++i) {
      add_node();
      if (i % 16 == 7) update_state(pick(states_.size()));
    }
    std::vector<Value*> outputs;
    for (int i = 0; i < 6; ++i) outputs.push_back(any_value());
    outputs.push_back(values_.back());
    graph_->set_outputs(outputs);
    std::vector<exir::BufferWrite> writes;
    for (Value* state : states_) {
      Value* value = value_of_type(state->tensor());
      if (updates_.count(state) != 0 && pick(3) != 0) value = updates_[state];
      if (pick(4) != 0) writes.push_back({state, value});
    }
    graph_->set_buffer_writes(writes);
    return std::move(graph_);
  }

 private:
  size_t pick(size_t count) { return random_() % count; }
  Value* any_value() { return values_[pick(values_.size())]; }
  Value* value_of_type(const TensorType& type) {
    std::vector<Value*> fit;
    for (Value* value : values_) {
      if (value->tensor() == type) fit.push_back(value);
    }
    return fit[pick(fit.size())];
  }

  exir::ConstantPtr constant(const std::string& name, const TensorType& type, Constant::Kind kind,
                             bool zeros = false) {
    auto made = std::make_shared<Constant>();
    made->fqn = name + std::to_string(constants_++);
    made->type = type;
    made->kind = kind;
    Elements elements(static_cast<size_t>(type.numel()));
    for (float& element : elements) {
      element = zeros ? 0.0f : static_cast<float>(pick(64)) / 32 - 1;
    }
    std::vector<uint8_t> bytes(elements.size() * sizeof(float));
    std::memcpy(bytes.data(), elements.data(), bytes.size());
    made->data = exir::Blob::owned(std::move(bytes));
    return made;
  }

  void append(OpHandle op, std::vector<Argument> arguments, TensorType type) {
    values_.push_back(
        graph_->append(exir::op(op), std::move(arguments), {std::move(type)}, "v")->result());
  }

  // Three elements of what the state is by now, maybe where it lies.
  void update_state(size_t index) {
    Value*& update = updates_.emplace(states_[index], states_[index]).first->second;
    auto places = std::make_shared<Constant>();
    places->fqn = "i" + std::to_string(constants_++);
    places->type = TensorType::contiguous(exir::ScalarType::kLong, {3});
    const int64_t chosen[] = {static_cast<int64_t>(pick(4)), 11, static_cast<int64_t>(4 + pick(4))};
    std::vector<uint8_t> bytes(sizeof(chosen));
    std::memcpy(bytes.data(), chosen, sizeof(chosen));
    places->data = exir::Blob::owned(std::move(bytes));
    Value* values = graph_->add_constant(constant("u", f32({3}), Constant::Kind::kParameter));
    append(aten::index_put,
           {Argument(update), Argument(Argument::List{Argument(graph_->add_constant(places))}),
            Argument(values), Argument(false)},
           f32({12}));
    update = values_.back();
  }

  // Tensors side by side along `dim`; often some that lie so already.
  void add_cat(Value* a) {
    const Sizes& sizes = a->tensor().sizes;
    if (sizes.empty()) return;
    const size_t dim = sizes.size() > 1 && sizes[0] == 1 ? 1 : pick(4) == 0 ? sizes.size() - 1 : 0;
    std::vector<Value*> parts = {a};
    int64_t numel = a->tensor().numel();
    for (int tries = 0; tries < 6; ++tries) {
      Value* b = values_[values_.size() - 1 - pick(std::min<size_t>(values_.size(), 12))];
      Sizes like = b->tensor().sizes;
      if (like.size() != sizes.size()) continue;
      like[dim] = sizes[dim];
      if (like != sizes || numel + b->tensor().numel() > 36) continue;
      parts.insert(pick(2) == 0 ? parts.begin() : parts.end(), b);
      numel += b->tensor().numel();
    }
    if (shapes().count(numel) == 0) return;
    Sizes whole = sizes;
    whole[dim] = 0;
    for (Value* part : parts) whole[dim] += part->tensor().sizes[dim];
    append(aten::cat, {Argument::of_values(parts), Argument(static_cast<int64_t>(dim))},
           f32(std::move(whole)));
  }

  // A third or half, mostly of neighbours.
  void add_slice(Value* a) {
    Sizes sizes = a->tensor().sizes;
    if (sizes.empty()) return;
    const size_t dim = pick(4) == 0 ? sizes.size() - 1 : sizes[0] == 1 && sizes.size() > 1;
    const int64_t size = sizes[dim];
    const int64_t step = pick(4) == 0 ? 2 : 1;
    const int64_t length = size / (pick(2) == 0 ? 2 : 3);
    if (length == 0 || shapes().count(a->tensor().numel() / size * length) == 0) return;
    const int64_t reach = (length - 1) * step + 1;
    if (reach > size) return;
    const auto start = static_cast<int64_t>(pick(static_cast<size_t>(size - reach + 1)));
    sizes[dim] = length;
    append(aten::slice_copy_Tensor,
           {Argument(a), Argument(static_cast<int64_t>(dim)), Argument(start),
            Argument(start + reach), Argument(step)},
           f32(std::move(sizes)));
  }

  void add_node() {
    Value* a = any_value();
    const TensorType type = a->tensor();
    switch (pick(12)) {
      case 0:
      case 1: {
        const auto& choices = shapes().at(type.numel());
        const Sizes& sizes = choices[pick(choices.size())];
        append(aten::view, {Argument(a), Argument(sizes)}, f32(sizes));
        return;
      }
      case 2:
        append(aten::relu, {Argument(a)}, type);
        return;
      case 3:
        if (type.rank() == 2) {
          append(aten::permute_copy, {Argument(a), Argument(Argument::Ints{1, 0})},
                 f32({type.sizes[1], type.sizes[0]}));
          return;
        }
        [[fallthrough]];
      case 4:
        append(aten::mul_Tensor,
               {Argument(a),
                Argument(graph_->add_constant(constant("w", type, Constant::Kind::kParameter)))},
               type);
        return;
      case 5:
      case 6:
      case 7:
        add_cat(a);
        return;
      case 8:
      case 9:
        add_slice(a);
        return;
      default:
        append(aten::add_Tensor, {Argument(a), Argument(value_of_type(type)), Argument(int64_t{1})},
               type);
        return;
    }
  }

  std::mt19937 random_;
  std::unique_ptr<Graph> graph_;
  std::vector<Value*> values_;
  std::vector<Value*> states_;
  std::map<Value*, Value*> updates_;  // the newest, by state
  int constants_ = 0;
};

// The graph one node at a time, every value in memory of its own.
class Interpreter {
 public:
  explicit Interpreter(const Graph& graph) : graph_(graph) {
    for (const Value* value : graph.constants()) {
      const exir::Blob::Bytes bytes = value->constant()->data.bytes();
      Elements& elements = values_[value];
      elements.resize(bytes.size() / sizeof(float));
      std::memcpy(elements.data(), bytes.data(), bytes.size());
    }
  }

  std::vector<Elements> run(const std::vector<Elements>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      values_[graph_.inputs()[i]] = inputs[i];
    }
    for (const auto& node : graph_.nodes()) {
      values_[node->result()] = compute(*node);
    }
    std::vector<Elements> outputs;
    for (const Value* output : graph_.outputs()) {
      outputs.push_back(values_.at(output));
    }
    std::map<const Value*, Elements> written;
    for (const exir::BufferWrite& write : graph_.buffer_writes()) {
      written[write.buffer] = values_.at(write.value);
    }
    for (auto& [buffer, elements] : written) values_[buffer] = elements;
    return outputs;
  }

 private:
  // Elements before, at and behind `dim`.
  struct Shape {
    Shape(const Sizes& sizes, size_t dim) {
      for (size_t d = 0; d < sizes.size(); ++d) {
        (d < dim ? outer : d > dim ? inner : size) *= sizes[d];
      }
    }
    int64_t outer = 1, size = 1, inner = 1;
  };

  Elements joined(const std::vector<Value*>& parts, size_t dim, const Sizes& sizes) const {
    const Shape whole(sizes, dim);
    Elements out;
    for (int64_t i = 0; i < whole.outer; ++i) {
      for (const Value* part : parts) {
        const Shape shape(part->tensor().sizes, dim);
        const auto begin = values_.at(part).begin() + i * shape.size * shape.inner;
        out.insert(out.end(), begin, begin + shape.size * shape.inner);
      }
    }
    return out;
  }

  static Elements cut(const Elements& from, const Sizes& from_sizes, size_t dim, int64_t start,
                      int64_t step, const Sizes& sizes) {
    const Shape whole(from_sizes, dim);
    const Shape part(sizes, dim);
    Elements out;
    for (int64_t i = 0; i < part.outer; ++i) {
      for (int64_t k = 0; k < part.size; ++k) {
        const auto begin = from.begin() + ((i * whole.size) + start + k * step) * whole.inner;
        out.insert(out.end(), begin, begin + whole.inner);
      }
    }
    return out;
  }

  Elements compute(const Node& node) const {
    const std::vector<Value*> operands = node.operands();
    const Elements& a = values_.at(operands[0]);
    Elements out = a;
    if (node.is(aten::relu)) {
      for (float& e : out) e = e > 0 ? e : 0;
    } else if (node.is(aten::permute_copy)) {
      const auto rows = static_cast<size_t>(operands[0]->tensor().sizes[0]);
      const auto columns = static_cast<size_t>(operands[0]->tensor().sizes[1]);
      for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < columns; ++c) {
          out[c * rows + r] = a[r * columns + c];
        }
      }
    } else if (node.is(aten::cat)) {
      out = joined(operands, static_cast<size_t>(node.argument(arg::dim).as_int()),
                   node.result()->tensor().sizes);
    } else if (node.is(aten::slice_copy_Tensor)) {
      out =
          cut(a, operands[0]->tensor().sizes, static_cast<size_t>(node.argument(arg::dim).as_int()),
              node.argument(arg::start).as_int(), node.argument(arg::step).as_int(),
              node.result()->tensor().sizes);
    } else if (node.is(aten::index_put)) {
      const exir::Blob::Bytes places = operands[1]->constant()->data.bytes();
      for (size_t i = 0; i < 3; ++i) {
        int64_t place = 0;
        std::memcpy(&place, places.data() + i * sizeof(place), sizeof(place));
        out[static_cast<size_t>(place)] = values_.at(operands[2])[i];
      }
    } else if (node.is(aten::add_Tensor, aten::mul_Tensor)) {
      const Elements& b = values_.at(operands[1]);
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] = node.is(aten::add_Tensor) ? a[i] + b[i] : a[i] * b[i];
      }
    } else {
      EXPECT_TRUE(node.is(aten::view)) << node.describe();
    }
    return out;
  }

  const Graph& graph_;
  std::map<const Value*, Elements> values_;
};

struct Variant {
  bool delegates;
  bool external;
};

class RandomPrograms : public ::testing::TestWithParam<Variant> {};

TEST_P(RandomPrograms, GiveWhatTheirOperatorsGiveOneByOne) {
  const Variant variant = GetParam();
  size_t elided = 0;
  size_t in_place = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    exir::Program program;
    program.methods["forward"].graph = ProgramMaker(seed).make(1 + seed / 2);
    Graph& graph = *program.methods["forward"].graph;
    ASSERT_TRUE(exir::verify_graph(graph).ok())
        << exir::verify_graph(graph) << exir::print_graph(graph);
    const std::unique_ptr<Graph> original = graph.clone();

    exir::RoutedBlobStore store(variant.external ? "w.ptd" : "");
    if (variant.delegates) {
      auto report =
          exir::lower_to_backend(program, *backends::null::aot::null_backend(), {}, store);
      ASSERT_TRUE(report.ok()) << report.status();
    }
    exir::EmitOptions options;
    options.planning.node_budget = 5000;
    if (variant.external) options.external_weights = "w.ptd";
    Files files;
    auto report = exir::emit_program(
        program, store, options, [&](const std::string& name) -> absl::StatusOr<exir::ByteSink> {
          std::string* file = &files[name];
          return exir::ByteSink([file](absl::Span<const uint8_t> part) {
            file->append(reinterpret_cast<const char*>(part.data()), part.size());
            return absl::OkStatus();
          });
        });
    ASSERT_TRUE(report.ok()) << report.status();
    elided += report->memory[0].elided_copies;
    in_place += report->kernels["forward"]["aten::index_put_"];

    LoadedMethod method(files, "forward");
    ASSERT_EQ(method.error(), runtime::Error::Ok) << "seed " << seed;
    Interpreter expected(*original);
    std::mt19937 random(seed);
    for (int call = 0; call < 3; ++call) {
      std::vector<Elements> inputs;
      for (const Value* input : original->inputs()) {
        inputs.emplace_back(static_cast<size_t>(input->tensor().numel()));
        for (float& element : inputs.back()) {
          element = static_cast<float>(random() % 64) / 32 - 1;
        }
      }
      const std::vector<Elements> outputs = method.run(inputs);
      const std::vector<Elements> wanted = expected.run(inputs);
      ASSERT_EQ(outputs.size(), wanted.size());
      for (size_t i = 0; i < outputs.size(); ++i) {
        ASSERT_EQ(outputs[i], wanted[i])
            << "seed " << seed << ", call " << call << ", output " << i << "\n"
            << exir::print_graph(*original);
      }
    }
  }
  // The programs are such that there is something to get wrong.
  EXPECT_GT(elided, 400u);
  EXPECT_GT(in_place, 20u);
}

INSTANTIATE_TEST_SUITE_P(All, RandomPrograms,
                         ::testing::Values(Variant{false, false}, Variant{false, true},
                                           Variant{true, false}, Variant{true, true}),
                         [](const ::testing::TestParamInfo<Variant>& info) {
                           return std::string(info.param.delegates ? "Delegated" : "Kernels") +
                                  (info.param.external ? "External" : "Inline");
                         });

}  // namespace
}  // namespace petrel::compile_and_run
