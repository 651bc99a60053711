// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/emit.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/emit/test_graphs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "schema/formats.h"
#include "schema/method_limits.h"

namespace petrel::exir {
namespace {

namespace fb = schema::program;
using testing::add;
using testing::arena_offset;
using testing::constant;
using testing::decode;
using ::testing::ElementsAre;
using testing::emit_files;
using testing::emit_one;
using testing::f32;
using testing::f32_constant;
using ::testing::HasSubstr;
using testing::kernel_call;
using testing::list;
using testing::program_of;
using testing::read;
using testing::relu;
using testing::segment;
using testing::segment_base;
using testing::tensor;

TEST(Emit, WritesAPlainFlatbufferWhenThereAreNoSegmentBytes) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2, 3}), "x");
  graph->set_outputs({relu(*graph, x)});
  const std::string pte = emit_one(std::move(graph));
  EXPECT_EQ(pte.substr(4, 4), "ET12");
  EXPECT_NE(pte.substr(8, 4), "eh00");
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(program->version(), 0u);
  ASSERT_EQ(program->segments()->size(), 1u);
  EXPECT_EQ(program->segments()->Get(0)->size(), 0u);
  EXPECT_THAT(list(program->constant_segment()->offsets()), ElementsAre(0));
}

TEST(Emit, SplicesTheHeaderAndPlacesConstants) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({5}), "x");
  Value* w = graph->add_constant(f32_constant("w", {5}, {1, 2, 3, 4, 5}));
  Value* b = graph->add_constant(f32_constant("b", {5}, {6, 7, 8, 9, 10}));
  graph->set_outputs({add(*graph, add(*graph, x, w), b)});
  const std::string pte = emit_one(std::move(graph));

  EXPECT_EQ(pte.substr(8, 4), "eh00");
  EXPECT_EQ(read<uint32_t>(pte, 12), 32u);
  const uint64_t program_bytes = read<uint64_t>(pte, 16);
  const uint64_t base = segment_base(pte);
  EXPECT_EQ(base, (program_bytes + 127) / 128 * 128);
  EXPECT_EQ(pte.size(), base + read<uint64_t>(pte, 32));

  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  // 20, padded to 32, and 20; then the names of both.
  ASSERT_EQ(program->segments()->size(), 2u);
  EXPECT_EQ(program->segments()->Get(0)->size(), 52u);
  ASSERT_EQ(program->named_data()->size(), 1u);
  EXPECT_EQ(program->named_data()->Get(0)->key()->str(), "petrel.program");
  EXPECT_THAT(list(program->constant_segment()->offsets()), ElementsAre(0, 0, 32));
  EXPECT_EQ(program->constant_segment()->segment_index(), 0u);
  EXPECT_EQ(read<float>(pte, base + 4), 2.0f);
  EXPECT_EQ(read<float>(pte, base + 32), 6.0f);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  const int32_t entry = kernel_call(plan, 1)->args()->Get(1);
  EXPECT_EQ(tensor(plan, entry)->data_buffer_idx(), 2u);
  EXPECT_EQ(tensor(plan, entry)->allocation_info(), nullptr);
}

TEST(Emit, ScalarAndEmptyTensorsKeepTheirSizes) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({}), "x");
  Value* e = graph->add_input(f32({2, 0}), "e");
  Value* w = graph->add_constant(f32_constant("w", {}, {3}));
  Value* z = graph->add_constant(f32_constant("z", {2, 0}, {}));
  graph->set_outputs({add(*graph, x, w), add(*graph, e, z)});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  const fb::Tensor* scalar = tensor(plan, plan->outputs()->Get(0));
  ASSERT_NE(scalar->sizes(), nullptr);
  ASSERT_NE(scalar->dim_order(), nullptr);
  EXPECT_EQ(scalar->sizes()->size(), 0u);
  const fb::Tensor* empty = tensor(plan, plan->outputs()->Get(1));
  EXPECT_THAT(list(empty->sizes()), ElementsAre(2, 0));
  EXPECT_LE(arena_offset(empty), 96u + 64u);
  // The next aligned offset would lie outside of the segment.
  EXPECT_THAT(list(program->constant_segment()->offsets()), ElementsAre(0, 0, 0));
  EXPECT_EQ(program->segments()->Get(0)->size(), 4u);
}

// The ExecuTorch wheel refuses to load what refers to a segment without bytes.
TEST(Emit, ConstantsWithoutElementsHaveASegmentWithBytes) {
  auto graph = std::make_unique<Graph>("forward");
  Value* e = graph->add_input(f32({2, 0}), "e");
  Value* z = graph->add_constant(f32_constant("z", {2, 0}, {}));
  graph->set_outputs({add(*graph, e, z)});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  EXPECT_THAT(list(program->constant_segment()->offsets()), ElementsAre(0, 0));
  EXPECT_EQ(program->segments()->Get(0)->size(), 1u);
}

TEST(Emit, ChannelsLastConstantsKeepTheirOrder) {
  TensorType type = f32({1, 2, 1, 2});
  type.dim_order = {0, 2, 3, 1};
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(type, "x");
  Value* w = graph->add_constant(constant("w", type, std::vector<uint8_t>(16, 1)));
  graph->set_outputs({add(*graph, x, w)});
  const std::string pte = emit_one(std::move(graph));
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  const fb::ExecutionPlan* plan = program->execution_plan()->Get(0);
  const fb::Tensor* w_entry = tensor(plan, kernel_call(plan, 0)->args()->Get(1));
  EXPECT_THAT(list(w_entry->dim_order()), ElementsAre(0, 2, 3, 1));
}

TEST(Emit, FixedOutputsStandBetweenTheComputedOnes) {
  Program program;
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2}), "x");
  Value* sum = add(*graph, x, x);
  graph->set_outputs({sum, x});
  Method& method = program.methods["forward"];
  method.graph = std::move(graph);
  method.signature.fixed_outputs = {{0, Argument()},
                                    {2, Argument(int64_t{7})},
                                    {3, Argument(0.5)},
                                    {5, Argument(true)},
                                    {6, Argument(std::string("done"))}};
  RoutedBlobStore store;
  EmitReport report;
  auto files = emit_files(program, store, {}, &report);
  ASSERT_TRUE(files.ok()) << files.status();
  const fb::ExecutionPlan* plan = decode(files->at(""))->execution_plan()->Get(0);
  ASSERT_EQ(plan->outputs()->size(), 7u);
  const auto output = [&](int i) { return plan->values()->Get(plan->outputs()->Get(i)); };
  EXPECT_EQ(output(0)->val_type(), fb::KernelTypes::Null);
  EXPECT_NE(output(1)->val_as_Tensor(), nullptr);
  EXPECT_EQ(output(2)->val_as_Int()->int_val(), 7);
  EXPECT_EQ(output(3)->val_as_Double()->double_val(), 0.5);
  EXPECT_NE(output(4)->val_as_Tensor(), nullptr);
  EXPECT_TRUE(output(5)->val_as_Bool()->bool_val());
  EXPECT_EQ(output(6)->val_as_String()->string_val()->str(), "done");
}

TEST(Emit, EqualConstantsOfAllMethodsAreStoredOnce) {
  Program program;
  for (const char* name : {"a", "b"}) {
    auto graph = std::make_unique<Graph>(name);
    Value* x = graph->add_input(f32({2}), "x");
    Value* w = graph->add_constant(f32_constant("w", {2}, {1, 2}));
    graph->set_outputs({add(*graph, x, w)});
    program.methods[name].graph = std::move(graph);
    program.methods[name].signature.in_spec = std::string("in of ") + name;
    program.methods[name].signature.out_spec = std::string("out of ") + name;
  }
  RoutedBlobStore store;
  EmitReport report;
  auto files = emit_files(program, store, {}, &report);
  ASSERT_TRUE(files.ok()) << files.status();
  const fb::Program* decoded = decode(files->at(""));
  ASSERT_NE(decoded, nullptr);
  ASSERT_EQ(decoded->execution_plan()->size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const fb::ExecutionPlan* plan = decoded->execution_plan()->Get(i);
    const std::string name = i == 0 ? "a" : "b";
    EXPECT_EQ(plan->name()->str(), name);
    EXPECT_EQ(plan->container_meta_type()->encoded_inp_str()->str(), "in of " + name);
    EXPECT_EQ(plan->container_meta_type()->encoded_out_str()->str(), "out of " + name);
  }
  EXPECT_EQ(decoded->constant_segment()->offsets()->size(), 2u);
  EXPECT_EQ(report.weight_bytes, 8u);
  EXPECT_EQ(report.shared_weight_bytes, 8u);
  EXPECT_EQ(report.file_bytes.at(""), files->at("").size());
  EXPECT_EQ(report.kernels.at("a").at("aten::add.out"), 1u);
}

TEST(Emit, NamedDataOfConstantsLieInTheConstantSegment) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({1}), "x");
  Value* a = graph->add_constant(f32_constant("a", {1}, {1}));
  Value* b = graph->add_constant(f32_constant("b", {1}, {2}));
  graph->set_outputs({add(*graph, add(*graph, x, a), b)});
  RoutedBlobStore store;
  const Blob of_b = f32_constant("b", {1}, {2})->data;
  ASSERT_TRUE(*store.add_named_blob("k", of_b, 16, ""));
  ASSERT_TRUE(*store.add_named_blob("other", Blob::owned({9, 9, 9}), 256, ""));
  EmitReport report;
  auto files = emit_files(program_of(std::move(graph)), store, {}, &report);
  ASSERT_TRUE(files.ok()) << files.status();
  const std::string& pte = files->at("");
  const fb::Program* program = decode(pte);
  ASSERT_NE(program, nullptr);
  EXPECT_THAT(list(program->constant_segment()->offsets()), ElementsAre(0, 0, 128));
  ASSERT_EQ(program->named_data()->size(), 3u);
  EXPECT_EQ(program->named_data()->Get(2)->key()->str(), "petrel.program");
  const fb::NamedData* k = program->named_data()->Get(0);
  EXPECT_EQ(k->key()->str(), "k");
  EXPECT_EQ(program->segments()->Get(k->segment_index())->offset(), 128u);
  EXPECT_EQ(segment(pte, program, k->segment_index()), std::string("\0\0\0\x40", 4));
  const fb::NamedData* other = program->named_data()->Get(1);
  const uint64_t offset = program->segments()->Get(other->segment_index())->offset();
  EXPECT_EQ(segment(pte, program, other->segment_index()), "\t\t\t");
  EXPECT_EQ((segment_base(pte) + offset) % 256, 0u);
  EXPECT_EQ(report.weight_bytes, 11u);
  EXPECT_EQ(report.shared_weight_bytes, 4u);
}

TEST(Emit, RejectsScalarInputsAndBadAlignments) {
  auto graph = std::make_unique<Graph>("forward");
  graph->set_outputs({graph->add_input(Type::scalar(Type::Kind::kInt), "n")});
  const Program program = program_of(std::move(graph));
  auto bytes = emit_to_memory(program);
  EXPECT_THAT(std::string(bytes.status().message()), HasSubstr("input 'n' is of type int"));

  auto empty = std::make_unique<Graph>("forward");
  const Program valid = program_of(std::move(empty));
  for (uint64_t alignment : {uint64_t{0}, uint64_t{8}, uint64_t{100}, uint64_t{1} << 40}) {
    RoutedBlobStore store;
    EmitOptions options;
    options.segment_alignment = alignment;
    EXPECT_EQ(emit_files(valid, store, options).status().code(), absl::StatusCode::kInvalidArgument)
        << alignment;
  }
}

TEST(Emit, RefusesToCallMissingKernelsUnlessTold) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({5}), "x");
  Source source;
  source.stack_trace = "  File \"model.py\", line 12, in forward\n";
  Node* first = graph->append(testing::test_op("aten.relu.default"), {Argument(x)}, {f32({5})},
                              "first", source);
  graph->set_outputs({add(*graph, x, relu(*graph, first->result()))});
  const Program program = program_of(std::move(graph));

  EmitOptions options;
  options.has_kernel = [](const std::string& kernel) { return kernel == "aten::add.out"; };
  RoutedBlobStore store;
  const auto refused = emit_files(program, store, options);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("1 kernel is missing: aten::relu.out of f32 (2 calls in method 'forward', "
                        "the first by node 'first' (aten.relu.default) at model.py:12, in "
                        "forward);"));

  options.allow_missing_kernels = true;
  EmitReport report;
  const auto files = emit_files(program, store, options, &report);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->at(""), *emit_to_memory(program));
  ASSERT_EQ(report.missing_kernels.size(), 1u);
  EXPECT_EQ(report.missing_kernels[0].kernel, "aten::relu.out");
  EXPECT_EQ(report.missing_kernels[0].calls, 2u);
}

TEST(Emit, MissingKernelsAreFoundWhereStateIsWrittenBack) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({2}), "x");
  Value* s = graph->add_constant(f32_constant("s", {2}, {1, 2}, Constant::Kind::kMutableBuffer));
  graph->set_outputs({add(*graph, x, s)});
  graph->set_buffer_writes({{s, x}});
  EmitOptions options;
  options.has_kernel = [](const std::string& kernel) { return kernel == "aten::add.out"; };
  RoutedBlobStore store;
  const auto refused = emit_files(program_of(std::move(graph)), store, options);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("1 kernel is missing: aten::copy_ (1 call in method 'forward');"));
}

TEST(Emit, RejectsNamesThatNoLoaderTakes) {
  for (const std::string& name : {std::string(), std::string(1024, 'm'), std::string("a\0b", 3)}) {
    Program program;
    program.methods[name].graph = std::make_unique<Graph>(name);
    EXPECT_EQ(emit_to_memory(program).status().code(), absl::StatusCode::kInvalidArgument);
  }
  Program program;
  program.methods["m"].graph = std::make_unique<Graph>("m");
  RoutedBlobStore store;
  EmitOptions options;
  options.external_weights = "a/b.ptd";
  EXPECT_EQ(emit_files(program, store, options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Emit, RejectsNamesOfInputsAndWeightsThatNoLoaderTakes) {
  for (const std::string& name : {std::string(4097, 'x'), std::string("a\0b", 3)}) {
    auto graph = std::make_unique<Graph>("forward");
    graph->set_outputs({relu(*graph, graph->add_input(f32({1}), name))});
    EXPECT_THAT(std::string(emit_to_memory(program_of(std::move(graph))).status().message()),
                HasSubstr("method 'forward': the name of input '" + name.substr(0, 80) + "' has " +
                          std::to_string(name.size()) + " bytes or a NUL"));
    graph = std::make_unique<Graph>("forward");
    graph->set_outputs({relu(*graph, graph->add_constant(f32_constant(name, {1}, {1.0f})))});
    EXPECT_THAT(std::string(emit_to_memory(program_of(std::move(graph))).status().message()),
                HasSubstr("the name of weight '" + name.substr(0, 80)));
  }
}

TEST(Emit, RejectsMoreMethodsThanLoadersTake) {
  Program program;
  for (size_t i = 0; i <= schema::kMaxMethods; ++i) {
    const std::string name = absl::StrCat("m", i);
    program.methods[name].graph = std::make_unique<Graph>(name);
  }
  EXPECT_EQ(emit_to_memory(program).status().message(),
            "program has 1025 methods, must have at most 1024");
  program.methods.erase("m0");
  EXPECT_TRUE(emit_to_memory(program).ok());
}

TEST(Emit, RejectsMoreInputsAndOutputsThanLoadersTake) {
  for (const bool are_inputs : {true, false}) {
    auto graph = std::make_unique<Graph>("forward");
    std::vector<Value*> values = {graph->add_input(f32({1}), "x")};
    while (values.size() <= schema::kMaxInputs) {
      const std::string name = absl::StrCat("x", values.size());
      values.push_back(are_inputs ? graph->add_input(f32({1}), name) : values[0]);
    }
    if (are_inputs) values.resize(1);
    graph->set_outputs(values);
    EXPECT_EQ(emit_to_memory(program_of(std::move(graph))).status().message(),
              absl::StrCat("method 'forward' has 16385 ", are_inputs ? "inputs" : "outputs",
                           ", must have at most 16384"));
  }
}

TEST(Emit, PassesOnWhatTheSinkSays) {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({5}), "x");
  Value* w = graph->add_constant(f32_constant("w", {5}, {1, 2, 3, 4, 5}));
  graph->set_outputs({add(*graph, x, w)});
  const Program program = program_of(std::move(graph));
  RoutedBlobStore counting;
  auto whole = emit_files(program, counting);
  ASSERT_TRUE(whole.ok());
  // A disk that is full after n bytes fails the export for every n.
  for (size_t room = 0; room < whole->at("").size(); room += 61) {
    RoutedBlobStore store;
    size_t written = 0;
    auto report =
        emit_program(program, store, {}, [&](const std::string&) -> absl::StatusOr<ByteSink> {
          return ByteSink([&](absl::Span<const uint8_t> part) {
            written += part.size();
            return written > room ? absl::ResourceExhaustedError("full") : absl::OkStatus();
          });
        });
    EXPECT_EQ(report.status().code(), absl::StatusCode::kResourceExhausted);
  }
}

}  // namespace
}  // namespace petrel::exir
