// SPDX-License-Identifier: Apache-2.0
//
// The rules of the operator table, and generated C, against runtime/kernels/portable/refusals.txt:
// of a call that kernels refuse no C is made, but where a pass makes another call of it that they
// take, or a step looks at data.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/ir/text.h"
#include "exir/ir/verifier.h"
#include "exir/ops/table.h"
#include "gtest/gtest.h"
#include "runtime/kernels/portable/recorded_call.h"
#include "runtime/kernels/portable/refusals.h"
#include "runtime/kernels/portable/wrong_calls.h"
#include "test/compile_and_run/calls_in_c.h"
#include "test/eager/case_file.h"

namespace petrel::compile_and_run {
namespace {

using exir::ArgKind;
using exir::ArgSpec;
using exir::Argument;
using exir::Graph;
using exir::OpInfo;
using exir::ScalarType;
using test::EagerCase;
using test::EagerTensor;

constexpr size_t kMostShown = 20;
constexpr int64_t kMostBytes = int64_t{1} << 24;

// Rows by the names of their kernels.
const std::map<std::string, const OpInfo*>& rows() {
  static const auto* const kRows = [] {
    auto* made = new std::map<std::string, const OpInfo*>();
    for (const OpInfo* op : exir::all_ops()) {
      // No archive has the compiler's own.
      if (op->infer == nullptr || op->out_name.empty() || op->name.rfind("petrel::", 0) == 0) {
        continue;
      }
      made->emplace(op->out_overload.empty() ? op->out_name
                                             : absl::StrCat(op->out_name, ".", op->out_overload),
                    op);
    }
    return made;
  }();
  return *kRows;
}

// What only the functional form has.
bool is_option(const ArgSpec& spec) {
  return spec.name == "dtype" || spec.name == "layout" || spec.name == "device" ||
         spec.name == "pin_memory";
}

class Maker {
 public:
  // Null where a call is none that a graph can hold.
  std::unique_ptr<Graph> make(const OpInfo& op, const EagerCase& one) {
    graph_ = std::make_unique<Graph>("m");
    values_.clear();
    for (const auto* tensors : {&one.inputs, &one.constants}) {
      for (const EagerTensor& tensor : *tensors) {
        if (!add(tensor)) return nullptr;
      }
    }
    std::vector<Argument> arguments;
    const size_t options =
        static_cast<size_t>(std::count_if(op.args.begin(), op.args.end(), is_option));
    const auto& given = one.call->arguments;
    const bool drops = given.size() + options == op.args.size() && options > 0;
    if (!drops && given.size() != op.args.size()) return nullptr;
    for (size_t i = 0, next = 0; i < op.args.size(); ++i) {
      if (drops && is_option(op.args[i])) {
        arguments.emplace_back();
      } else {
        arguments.push_back(argument_of(op.args[i], given[next++]));
      }
    }
    auto types = op.infer(op, arguments);
    if (!types.ok()) return nullptr;
    const exir::Node* const node = graph_->append(op, std::move(arguments), *std::move(types), "y");
    std::vector<exir::Value*> outputs;
    for (size_t i = 0; i < node->num_results(); ++i) outputs.push_back(node->result(i));
    graph_->set_outputs(std::move(outputs));
    return exir::verify_graph(*graph_).ok() ? std::move(graph_) : nullptr;
  }

 private:
  // Values have the order of their sizes, and dtypes that the compiler knows.
  bool add(const EagerTensor& tensor) {
    if (!std::is_sorted(tensor.dim_order.begin(), tensor.dim_order.end())) return false;
    const auto dtype = static_cast<ScalarType>(tensor.scalar_type);
    if (exir::scalar_type_name(dtype).empty() || tensor.scalar_type == 12) return false;
    exir::Sizes sizes;
    for (const int64_t size : tensor.sizes) sizes.push_back(static_cast<int32_t>(size));
    exir::TensorType type = exir::TensorType::contiguous(dtype, std::move(sizes));
    if (!exir::check_tensor_type(type).ok()) return false;
    values_[tensor.name] = graph_->add_input(std::move(type), tensor.name);
    return true;
  }

  Argument value(const std::string& name) {
    const auto found = values_.find(name);
    return found == values_.end() ? Argument() : Argument(found->second);
  }

  Argument argument_of(const ArgSpec& spec, const test::CallArgument& given) {
    return std::visit(
        [&](const auto& one) -> Argument {
          using T = std::decay_t<decltype(one)>;
          if constexpr (std::is_same_v<T, std::monostate>) {
            return Argument();
          } else if constexpr (std::is_same_v<T, test::TensorName>) {
            return value(one.name);
          } else if constexpr (std::is_same_v<T, test::TensorNames>) {
            Argument::List list;
            for (const std::string& name : one.names) list.push_back(value(name));
            return Argument(std::move(list));
          } else if constexpr (std::is_same_v<T, int64_t>) {
            if (spec.kind == ArgKind::kMemoryFormat) {
              return Argument(exir::MemoryFormat::kContiguous);
            }
            if (spec.kind != ArgKind::kScalarType) return Argument(one);
            const auto dtype = static_cast<ScalarType>(one);
            const bool is_known =
                one >= 0 && one < 30 && one != 12 && !exir::scalar_type_name(dtype).empty();
            return is_known ? Argument(dtype) : Argument();
          } else {
            return Argument(one);
          }
        },
        given);
  }

  std::unique_ptr<Graph> graph_;
  std::map<std::string, exir::Value*> values_;
};

bool refused(const std::string& digits, size_t i) {
  const char digit = digits[i / 4];
  const int value = digit <= '9' ? digit - '0' : digit - 'a' + 10;
  return (value >> (3 - i % 4) & 1) != 0;
}

// Where a kernel puts its results is decided by the compiler.
bool is_of_output(const EagerCase& right, const std::string& change) {
  if (absl::StartsWith(change, "output ")) return true;
  return std::any_of(right.expected.begin(), right.expected.end(), [&](const EagerTensor& tensor) {
    return absl::StartsWith(change, tensor.name + ": ");
  });
}

TEST(WrongCalls, WhatKernelsRefuseIsNoC) {
  const runtime::Refusals refusals = runtime::kept_refusals();
  size_t tried = 0, accepted = 0, made = 0, wrong = 0;
  std::set<std::string> seen;
  for (const EagerCase& right : test::load_eager_cases(runtime::kRecordedCalls)) {
    const auto row = rows().find(right.call->function);
    const auto digits = refusals.find(right.name);
    if (row == rows().end() || digits == refusals.end()) continue;
    size_t i = 0;
    for (const runtime::WrongCall& call : runtime::wrong_calls(right)) {
      if (!refused(digits->second, i++) || is_of_output(right, call.change)) continue;
      ++tried;
      std::unique_ptr<Graph> graph = Maker().make(*row->second, call.call);
      if (graph == nullptr || !seen.insert(exir::print_graph(*graph)).second) continue;
      ++accepted;
      exir::Program program;
      program.methods["m"].graph = std::move(graph);
      const absl::StatusOr<CallsInC> c = calls_in_c(&program, "calls");
      EXPECT_FALSE(absl::IsInternal(c.status())) << c.status();
      const Graph& last = *program.methods.at("m").graph;
      if (!c.ok() || c->can_fail || io_bytes(last) > kMostBytes || is_harmless(last)) continue;
      ++made;
      const absl::Status status = run_by_kernels(last);
      if (!absl::IsFailedPrecondition(status) || ++wrong > kMostShown) continue;
      ADD_FAILURE() << right.name << ", " << call.change << ": " << status << "\n"
                    << exir::print_graph(last);
    }
  }
  EXPECT_EQ(wrong, 0u) << "the first " << kMostShown << " are shown";
  // Else nothing was compared.
  EXPECT_GT(tried, 20000u);
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(made, 300u);
}

}  // namespace
}  // namespace petrel::compile_and_run
