// SPDX-License-Identifier: Apache-2.0
#include "test/compile_and_run/calls_in_c.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "exir/annotate.h"
#include "exir/compile_c/run_compiler.h"
#include "exir/fold/evaluate.h"
#include "exir/memory/planned_program.h"
#include "exir/ops/handles.h"
#include "exir/pass/pipeline.h"
#include "exir/status_macros.h"
#include "runtime/core/log.h"

namespace petrel::compile_and_run {
namespace {

using exir::Blob;
using exir::Constant;
using exir::Graph;
using exir::Program;
using exir::TensorType;
using exir::Value;

// An instant of the reference kernels.
constexpr uint64_t kMostWork = uint64_t{1} << 24;

// Runs each method with zeros, with ones, and with bits that are NaNs and the largest and smallest
// integers; memory of inputs and outputs ends where they do.
constexpr char kMain[] = R"(#define _POSIX_C_SOURCE 200112L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "petrel_model.h"

extern const struct petrel_model_metadata *NAME_get_model_metadata(void);

static void *room(size_t bytes) {
  void *made = NULL;
  if (posix_memalign(&made, 64, bytes) != 0) abort();
  memset(made, 0, bytes);
  return made;
}

static void fill(void *to, const struct petrel_tensor_info *info, int kind) {
  unsigned char *bytes = to;
  const unsigned char part[] = {0, 1, 0xff, 0x80, 0x7f};
  for (size_t i = 0; i < info->bytes; ++i) bytes[i] = part[kind];
  if (info->dtype == PETREL_DTYPE_BOOL) memset(bytes, kind != 0, info->bytes);
  if (kind != 1) return;
  for (size_t i = 0; i < info->bytes / 8; ++i) {
    if (info->dtype == PETREL_DTYPE_INT64) ((int64_t *)to)[i] = 1;
    if (info->dtype == PETREL_DTYPE_DOUBLE) ((double *)to)[i] = 1.5;
  }
  for (size_t i = 0; i < info->bytes / 4; ++i) {
    if (info->dtype == PETREL_DTYPE_INT32) ((int32_t *)to)[i] = 1;
    if (info->dtype == PETREL_DTYPE_FLOAT) ((float *)to)[i] = 1.5f;
  }
}

static void run(void *context, const struct petrel_method_info *method, int kind) {
  void **in = calloc(method->num_inputs + 1u, sizeof *in);
  void **out = calloc(method->num_outputs + 1u, sizeof *out);
  for (uint32_t i = 0; i < method->num_inputs; ++i) {
    in[i] = room(method->inputs[i].bytes);
    fill(in[i], &method->inputs[i], kind);
  }
  for (uint32_t i = 0; i < method->num_outputs; ++i) out[i] = room(method->outputs[i].bytes);
  const int32_t status = method->run(context, (const void *const *)in, out);
  if (status != 0 && status != PETREL_MODEL_E_DATA) {
    fprintf(stderr, "it says %d\n", (int)status);
    exit(1);
  }
  for (uint32_t i = 0; i < method->num_inputs; ++i) free(in[i]);
  for (uint32_t i = 0; i < method->num_outputs; ++i) free(out[i]);
  free(in);
  free(out);
}

int main(void) {
  const struct petrel_model_metadata *model = NAME_get_model_metadata();
  void *pools[8];
  size_t bytes[8];
  for (uint32_t i = 0; i < model->num_pools; ++i) {
    bytes[i] = model->pools[i].bytes;
    pools[i] = room(bytes[i]);
  }
  void *context = room(model->context_bytes);
  (void)alarm(120);
  if (model->init(context, pools, bytes) != 0) return 2;
  for (uint32_t m = 0; m < model->num_methods; ++m) {
    FILE *at = fopen("at.txt", "w");
    fprintf(at, "%s", model->methods[m].name);
    fclose(at);
    for (int kind = 0; kind < 5; ++kind) run(context, &model->methods[m], kind);
  }
  for (uint32_t i = 0; i < model->num_pools; ++i) free(pools[i]);
  free(context);
  return 0;
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

void name_ports(exir::Method* method) {
  exir::Signature& signature = method->signature;
  for (const Value* input : method->graph->inputs()) {
    signature.input_names.push_back(input->name());
  }
  for (size_t i = 0; i < method->graph->outputs().size(); ++i) {
    signature.output_names.push_back(absl::StrCat("out", i));
  }
}

exir::ConstantPtr zeros(const Value& input, size_t sample) {
  auto constant = std::make_shared<Constant>();
  constant->fqn = absl::StrCat("input ", input.name());
  constant->kind = Constant::Kind::kLiteral;
  const TensorType& type = input.tensor();
  constant->type = type.is_dynamic() ? type.at_sample(sample) : type;
  constant->data = Blob::owned(std::vector<uint8_t>(static_cast<size_t>(constant->type.nbytes())));
  return constant;
}

}  // namespace

absl::StatusOr<CallsInC> calls_in_c(Program* program, const std::string& name) {
  for (const auto passes :
       {exir::passes_before_partitioning(), exir::passes_after_partitioning()}) {
    PETREL_RETURN_IF_ERROR(exir::run_passes(*program, passes, {}, "", nullptr));
  }
  for (auto& [method, of] : program->methods) name_ports(&of);
  exir::MemoryPools memory;
  memory.io_apart = true;
  exir::plan::Options planning;
  planning.node_budget = 0;
  PETREL_ASSIGN_OR_RETURN(const exir::PlannedProgram planned,
                          exir::plan_program(
                              *program, planning, [](const Constant&) { return false; }, memory));
  exir::emit_c::CPools pools;
  pools.io = exir::emit_c::Io::kCaller;
  CallsInC made;
  PETREL_ASSIGN_OR_RETURN(
      made.files, exir::emit_c::emit_c(planned, pools, name, [&] {
        return std::vector<exir::emit_c::GoldenCall>(planned.methods.size(), {false, {}, {}});
      }));
  for (const exir::emit_c::CFile& file : made.files) {
    if (file.name != name + ".c") continue;
    made.text_bytes = file.text.size();
    made.can_fail = absl::StrContains(file.text, "_E_DATA");
  }
  return made;
}

absl::Status run_by_kernels(const Graph& graph) {
  const runtime::LogHook hook = runtime::set_log_hook(runtime::LogHook{});
  absl::Status status;
  bool varies = false;
  for (const Value* input : graph.inputs()) varies = varies || input->type().is_dynamic();
  for (size_t sample = 0; status.ok() && sample < (varies ? exir::kSamples : 1); ++sample) {
    std::unique_ptr<Graph> fixed = graph.clone();
    const std::vector<Value*> inputs = fixed->inputs();
    for (Value* input : inputs) {
      fixed->replace_all_uses(input, fixed->add_constant(zeros(*input, sample)));
      fixed->erase_input(input);
    }
    status = exir::evaluate(std::move(fixed), kMostWork).status();
  }
  runtime::set_log_hook(hook);
  return status;
}

bool is_harmless(const Graph& graph) {
  bool is_empty = true;
  for (const Value* output : graph.outputs()) {
    is_empty = is_empty && output->type().is_tensor() && output->tensor().numel() == 0;
  }
  for (const auto& node : graph.nodes()) {
    if (node->is(exir::aten::slice_scatter, exir::aten::select_scatter)) {
      const auto operands = node->operands();
      if (operands[0]->tensor().dtype != operands[1]->tensor().dtype) return true;
    }
    if (node->is(exir::aten::unfold) && node->argument(exir::arg::step).as_int() > INT32_MAX) {
      return true;
    }
    if (node->is(exir::aten::clamp) && exir::is_integral(node->result()->tensor().dtype)) {
      return true;
    }
  }
  return is_empty;
}

int64_t io_bytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const auto* values : {&graph.inputs(), &graph.outputs()}) {
    for (const Value* value : *values) {
      if (!value->type().is_tensor()) return INT64_MAX;
      if (__builtin_add_overflow(bytes, value->tensor().nbytes(), &bytes)) return INT64_MAX;
    }
  }
  return bytes;
}

absl::Status run_with_sanitizers(const CallsInC& made, const std::string& name,
                                 const std::string& folder) {
  std::vector<std::string> words = {"cc",
                                    "-std=c99",
                                    "-w",
                                    "-g1",
                                    "-ffp-contract=off",
                                    "-fsanitize=address,undefined,float-cast-overflow",
                                    "-fno-sanitize-recover=all",
                                    "-o",
                                    "run",
                                    "main.c",
                                    "-I."};
  std::ofstream(absl::StrCat(folder, "/main.c")) << replaced(kMain, "NAME", name);
  for (const exir::emit_c::CFile& file : made.files) {
    std::ofstream out(absl::StrCat(folder, "/", file.name), std::ios::binary);
    PETREL_RETURN_IF_ERROR(file.write([&](absl::Span<const uint8_t> bytes) {
      out.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
      return absl::OkStatus();
    }));
    const bool is_compiled = absl::EndsWith(file.name, ".c") || absl::EndsWith(file.name, ".S");
    if (is_compiled && file.name != name + "_selftest.c") words.push_back(file.name);
  }
  words.push_back("-lm");
  PETREL_RETURN_IF_ERROR(exir::run_compiler(words, folder));
  const absl::Status ran = exir::run_compiler({folder + "/run"}, folder);
  if (ran.ok()) return ran;
  std::ifstream at(folder + "/at.txt");
  return exir::annotate(ran, std::string(std::istreambuf_iterator<char>(at), {}));
}

}  // namespace petrel::compile_and_run
