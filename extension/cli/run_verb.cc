// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/ir/blob.h"
#include "extension/cli/console.h"
#include "extension/cli/isa_option.h"
#include "extension/cli/kernel_choice.h"
#include "extension/cli/limit_options.h"
#include "extension/cli/method_io.h"
#include "extension/cli/packed_weights_options.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"
#include "extension/named_data_map/safetensors_map.h"

namespace petrel::extension {
namespace {

using runtime::EValue;
using runtime::Tensor;

struct Arguments {
  std::string program;
  std::vector<std::string> data;
  bool override = false;
  std::string method = "forward";
  std::vector<std::string> inputs;
  std::vector<std::string> calls;
  std::string output_dir;
  int threads = 0;
  std::string kernels;
  runtime::Limits limits;
  PackedWeightsOptions packed_weights;
};

struct Call {
  std::string method;
  std::vector<std::string> inputs;
};

// The words between commas that are not within brackets.
std::vector<std::string> split_inputs(const std::string& text) {
  std::vector<std::string> words(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      words.emplace_back();
    } else {
      words.back().push_back(c);
    }
  }
  return words;
}

std::string describe(const EValue& value) {
  if (value.isNone()) return "none";
  if (value.isInt()) return absl::StrCat("int ", value.toInt());
  if (value.isDouble()) return absl::StrCat("double ", value.toDouble());
  if (value.isBool()) return absl::StrCat("bool ", value.toBool() ? "true" : "false");
  if (value.isString()) {
    const std::string_view text = value.toString();
    return absl::StrCat("string ", std::string(text));
  }
  if (!value.isTensor()) return "a list";
  const Tensor tensor = value.toTensor();
  const NpyArray array = to_npy(tensor);
  return absl::StrCat(runtime::to_string(tensor.scalar_type()), " [",
                      absl::StrJoin(tensor.sizes().begin(), tensor.sizes().end(), ","), "] sha256 ",
                      exir::to_hex(exir::sha256_of(array.data)).substr(0, 16));
}

// Runs one call, prints its outputs and writes the tensors among them to
// `directory` as PREFIXoutput_N.npy.
int run_call(Module& module, const Call& call, const std::string& directory,
             const std::string& prefix, const RuntimeMessages& messages, Progress& progress) {
  auto inputs = MethodInputs::make(module, call.method, call.inputs);
  if (!inputs.ok()) {
    return messages.fail("run", inputs.status());
  }
  progress.start(call.method);
  auto outputs = module.execute(call.method, inputs->values());
  progress.start("");
  if (!outputs.ok()) {
    return messages.fail("run", absl::StrCat("method '", call.method, "'"), outputs.error());
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    const EValue& value = (*outputs)[i];
    std::printf("%soutput_%zu: %s\n", prefix.c_str(), i, describe(value).c_str());
    if (directory.empty() || !value.isTensor()) continue;
    const std::string path = absl::StrCat(directory, "/", prefix, "output_", i, ".npy");
    const absl::Status written = write_npy(path, to_npy(value.toTensor()));
    if (!written.ok()) return fail("run", written);
  }
  return kDone;
}

int run(Arguments& arguments) {
  std::vector<Call> calls;
  for (const std::string& text : arguments.calls) {
    const size_t colon = text.find(':');
    Call call;
    call.method = text.substr(0, colon);
    if (colon != std::string::npos && colon + 1 < text.size()) {
      call.inputs = split_inputs(text.substr(colon + 1));
    }
    calls.push_back(std::move(call));
  }
  if (calls.empty()) calls.push_back({arguments.method, arguments.inputs});
  if (!arguments.output_dir.empty() && mkdir(arguments.output_dir.c_str(), 0777) != 0 &&
      errno != EEXIST) {
    return fail("run", absl::StrCat(arguments.output_dir, ": ", std::strerror(errno)));
  }

  const RuntimeMessages messages;
  Module::Options options;
  options.data_files = arguments.data;
  options.other_data = read_safetensors;
  if (arguments.override) {
    options.data_precedence = runtime::DataPrecedence::ExternalFirst;
    options.data_order = MergeOrder::FirstCounts;
  }
  options.num_threads = arguments.threads;
  // They were read for this run, so nobody minds.
  options.writable_inputs = true;
  options.limits = arguments.limits;
  options.registry = &registry_of(arguments.kernels);
  const auto backend_options = arguments.packed_weights.make();
  if (!backend_options.ok()) return fail("run", backend_options.status());
  options.backend_options = *backend_options;
  Progress progress("run");
  progress.start("load");
  auto module = Module::load(arguments.program, options);
  if (!module.ok()) return messages.fail("run", arguments.program, module.error());
  for (size_t i = 0; i < calls.size(); ++i) {
    // One call writes output_N; several, call_K_output_N.
    const std::string prefix = calls.size() == 1 ? "" : absl::StrCat("call_", i, "_");
    const int code = run_call(**module, calls[i], arguments.output_dir, prefix, messages, progress);
    if (code != kDone) return code;
  }
  return kDone;
}

}  // namespace

void add_run_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("run", "Run a method of a .pte program");
  verb->add_option("program", arguments->program, "PROG.pte")->required();
  verb->add_option("--data", arguments->data,
                   "FILE.ptd or FILE.safetensors with weights, may be repeated")
      ->take_all();
  verb->add_flag("--override", arguments->override,
                 "when a key is in several places, data files go before the program, and earlier\n"
                 "files before later ones");
  CLI::Option* method = verb->add_option("--method", arguments->method, "default: forward");
  CLI::Option* input =
      verb->add_option("--input", arguments->inputs,
                       "[NAME=]X.npy, or an array such as [1,2]:int64; inputs left out are ones")
          ->take_all()
          ->allow_extra_args(false);
  verb->add_option("--call", arguments->calls,
                   "METHOD:a.npy,x=b.npy, may be repeated: calls run in order in one process,\n"
                   "state is kept, outputs are named call_K_output_N")
      ->take_all()
      ->excludes(method)
      ->excludes(input);
  verb->add_option("--output-dir", arguments->output_dir, "write output_0.npy, ... here");
  verb->add_option("--threads", arguments->threads, "0 (default): one per processor")
      ->check(CLI::Range(0, 1024));
  add_kernels_option(*verb, &arguments->kernels);
  add_isa_option(*verb);
  add_limit_options(*verb, LimitsOf::kRunning, &arguments->limits);
  arguments->packed_weights.add_to(*verb);
  verb->footer(
      "Examples:\n"
      "  petrel run model.pte --input x.npy --output-dir out\n"
      "  petrel run model.pte --data model.ptd --threads 2\n"
      "  petrel run llm.pte --method decode --input 'tokens=[[15]]:int64'\n"
      "  petrel run llm.pte --call prefill:tokens.npy --call decode:next.npy");
  verb->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace petrel::extension
