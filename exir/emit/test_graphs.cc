// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/test_graphs.h"

#include <numeric>

#include "exir/backend/backend.h"
#include "exir/ops/table.h"
#include "exir/status_macros.h"
#include "gtest/gtest.h"

namespace petrel::exir::testing {
namespace {

ArgSpec arg(const std::string& name, ArgKind kind) {
  ArgSpec spec;
  spec.name = name;
  spec.kind = kind;
  return spec;
}

ArgSpec list(const std::string& name, ArgKind kind) {
  ArgSpec spec = arg(name, kind);
  spec.is_list = true;
  return spec;
}

ArgSpec optional(ArgSpec spec) {
  spec.is_optional = true;
  return spec;
}

ArgSpec optional_items(ArgSpec spec) {
  spec.has_optional_items = true;
  return spec;
}

OpInfo make(const std::string& name, const std::string& overload, std::vector<ArgSpec> args,
            const std::string& out_overload, size_t num_results = 1) {
  OpInfo op;
  op.name = name;
  op.overload = overload;
  op.args = std::move(args);
  op.num_results = num_results;
  op.traits = kPure;
  op.out_name = name;
  op.out_overload = out_overload;
  return op;
}

std::map<std::string, OpInfo> make_ops() {
  using K = ArgKind;
  const ArgSpec self = arg("self", K::kTensor);
  std::vector<OpInfo> ops = {
      make("aten::add", "Tensor", {self, arg("other", K::kTensor), arg("alpha", K::kScalar)},
           "out"),
      make("aten::relu", "", {self}, "out"),
      make("aten::view", "", {self, list("size", K::kInt)}, "out"),
      make("aten::permute", "", {self, list("dims", K::kInt)}, "out"),
      make("aten::max", "dim", {self, arg("dim", K::kInt), arg("keepdim", K::kBool)}, "dim_max", 2),
      make("aten::split_copy", "Tensor", {self, arg("split_size", K::kInt), arg("dim", K::kInt)},
           "Tensor_out", 0),
      make("aten::cat", "", {list("tensors", K::kTensor), arg("dim", K::kInt)}, "out"),
      make("aten::slice_copy", "Tensor",
           {self, arg("dim", K::kInt), optional(arg("start", K::kInt)),
            optional(arg("end", K::kInt)), arg("step", K::kInt)},
           "Tensor_out"),
      make("aten::index", "Tensor", {self, optional_items(list("indices", K::kTensor))},
           "Tensor_out"),
      make("aten::index_put", "",
           {self, optional_items(list("indices", K::kTensor)), arg("values", K::kTensor),
            arg("accumulate", K::kBool)},
           "out"),
      make("aten::upsample_bilinear2d", "vec",
           {self, optional(list("output_size", K::kInt)), arg("align_corners", K::kBool),
            optional(list("scale_factors", K::kFloat))},
           "vec_out"),
      make("aten::full", "",
           {list("size", K::kInt), arg("fill_value", K::kScalar),
            optional(arg("dtype", K::kScalarType)), optional(arg("layout", K::kLayout)),
            optional(arg("device", K::kDevice)), optional(arg("pin_memory", K::kBool))},
           "out"),
      make("aten::clone", "", {self, optional(arg("memory_format", K::kMemoryFormat))}, "out"),
      make("aten::gelu", "", {self, arg("approximate", K::kString)}, "out"),
      make("aten::sym_size", "int", {self, arg("dim", K::kInt)}, "int"),
      make("aten::nowhere", "", {self}, ""),
      make("aten::relu_", "", {self}, ""),
      make("petrel::delegate_call", "", {list("inputs", K::kTensor)}, ""),
  };
  std::map<std::string, OpInfo> table;
  for (OpInfo& op : ops) {
    if (op.name == "aten::nowhere" || op.name == "aten::relu_") op.out_name.clear();
    if (op.name == "aten::relu_") op.traits = kInPlace;
    if (op.name == "aten::split_copy" || op.name == "petrel::delegate_call") {
      op.has_list_result = true;
    }
    const std::string full_name = op.full_name();
    if (const OpInfo* row = find_op(full_name)) {
      op.handle = row->handle;
      for (ArgSpec& spec : op.args) {
        const int same = row->find_arg(spec.name);
        if (same >= 0) spec.handle = row->args[static_cast<size_t>(same)].handle;
      }
    }
    table.emplace(full_name, std::move(op));
  }
  return table;
}

}  // namespace

const OpInfo& test_op(const std::string& full_name) {
  static const auto* const kOps = new std::map<std::string, OpInfo>(make_ops());
  return kOps->at(full_name);
}

TensorType f32(Sizes sizes) { return TensorType::contiguous(ScalarType::kFloat, std::move(sizes)); }

ConstantPtr constant(const std::string& fqn, TensorType type, std::vector<uint8_t> bytes,
                     Constant::Kind kind) {
  auto made = std::make_shared<Constant>();
  made->fqn = fqn;
  made->kind = kind;
  made->type = std::move(type);
  made->data = Blob::owned(std::move(bytes));
  return made;
}

ConstantPtr f32_constant(const std::string& fqn, Sizes sizes, const std::vector<float>& values,
                         Constant::Kind kind) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return constant(fqn, f32(std::move(sizes)), std::move(bytes), kind);
}

Value* add(Graph& graph, Value* a, Value* b, const std::string& name) {
  return graph
      .append(test_op("aten.add.Tensor"), {Argument(a), Argument(b), Argument(int64_t{1})},
              {a->type()}, name)
      ->result();
}

Value* relu(Graph& graph, Value* a, const std::string& name) {
  return graph.append(test_op("aten.relu.default"), {Argument(a)}, {a->type()}, name)->result();
}

Value* view(Graph& graph, Value* a, Sizes sizes, const std::string& name) {
  Type type = TensorType::contiguous(a->tensor().dtype, sizes);
  return graph
      .append(test_op("aten.view.default"), {Argument(a), Argument(std::move(sizes))},
              {std::move(type)}, name)
      ->result();
}

Value* delegate_call(Graph& graph, const std::vector<Value*>& inputs, TensorType type,
                     const std::string& backend_id, const std::string& payload) {
  Node* node = graph.append(test_op("petrel.delegate_call.default"), {Argument::of_values(inputs)},
                            {std::move(type)}, "delegate");
  auto part = std::make_shared<LoweredPartition>();
  part->backend_id = backend_id;
  part->payload = Blob::owned(std::vector<uint8_t>(payload.begin(), payload.end()));
  part->compile_specs = {{"mode", "fast"}};
  node->set_delegate(std::move(part));
  return node->result();
}

Program program_of(std::unique_ptr<Graph> graph) {
  Program program;
  program.methods["forward"].graph = std::move(graph);
  return program;
}

absl::StatusOr<Files> emit_files(const Program& program, RoutedBlobStore& store,
                                 const EmitOptions& options, EmitReport* out_report) {
  Files files;
  PETREL_ASSIGN_OR_RETURN(EmitReport report,
                          emit_program(program, store, options,
                                       [&](const std::string& name) -> absl::StatusOr<ByteSink> {
                                         std::string* file = &files[name];
                                         return ByteSink([file](absl::Span<const uint8_t> part) {
                                           file->append(reinterpret_cast<const char*>(part.data()),
                                                        part.size());
                                           return absl::OkStatus();
                                         });
                                       }));
  if (out_report != nullptr) *out_report = std::move(report);
  return files;
}

const schema::program::Program* decode(const std::string& bytes) {
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  const bool valid = schema::program::VerifyProgramBuffer(verifier);
  EXPECT_TRUE(valid);
  return valid ? schema::program::GetProgram(bytes.data()) : nullptr;
}

std::string emit_one(std::unique_ptr<Graph> graph) {
  auto bytes = emit_to_memory(program_of(std::move(graph)));
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *bytes : "";
}

const schema::program::Tensor* tensor(const schema::program::ExecutionPlan* plan, int32_t entry) {
  return plan->values()->Get(static_cast<uint32_t>(entry))->val_as_Tensor();
}

const schema::program::KernelCall* kernel_call(const schema::program::ExecutionPlan* plan,
                                               size_t instruction) {
  return plan->chains()
      ->Get(0)
      ->instructions()
      ->Get(static_cast<uint32_t>(instruction))
      ->instr_args_as_KernelCall();
}

std::string kernel_name(const schema::program::ExecutionPlan* plan, size_t instruction) {
  const auto index = static_cast<uint32_t>(kernel_call(plan, instruction)->op_index());
  const schema::program::Operator* op = plan->operators()->Get(index);
  return op->name()->str() + "." + op->overload()->str();
}

size_t instruction_count(const schema::program::ExecutionPlan* plan) {
  return plan->chains()->Get(0)->instructions()->size();
}

uint64_t arena_offset(const schema::program::Tensor* tensor) {
  const schema::program::AllocationDetails* place = tensor->allocation_info();
  return place->memory_offset_low() | static_cast<uint64_t>(place->memory_offset_high()) << 32;
}

uint64_t segment_base(const std::string& pte) { return read<uint64_t>(pte, 24); }

std::string segment(const std::string& pte, const schema::program::Program* program,
                    uint32_t index) {
  const schema::program::DataSegment* found = program->segments()->Get(index);
  return pte.substr(segment_base(pte) + found->offset(), found->size());
}

}  // namespace petrel::exir::testing
