// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "extension/cli/call_outputs.h"
#include "extension/cli/compiled_io.h"
#include "extension/cli/console.h"
#include "extension/cli/isa_option.h"
#include "extension/cli/kernel_choice.h"
#include "extension/cli/limit_options.h"
#include "extension/cli/method_io.h"
#include "extension/cli/delegate_options.h"
#include "extension/cli/output_folder.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"
#include "extension/compiled/compiled_module.h"
#include "extension/module/error_text.h"
#include "extension/named_data_map/safetensors_map.h"

namespace petrel::extension {
namespace {

struct Arguments {
  std::string program;
  bool compiled = false;
  DeviceChoice device;
  bool stepwise = false;
  std::vector<std::string> data;
  bool override = false;
  std::vector<std::string> replacements;
  std::string method = "forward";
  std::vector<std::string> inputs;
  std::vector<std::string> calls;
  std::string output_dir;
  bool floats = false;
  int threads = 0;
  std::string kernels;
  runtime::Limits limits;
  DelegateOptions delegate_options;
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

// What outputs of integers stand for.
absl::StatusOr<OutputLevels> levels_of_outputs(const Module& module, const std::string& method,
                                               size_t count) {
  const ProgramLevels told(module.program());
  OutputLevels all;
  for (size_t i = 0; i < count; ++i) {
    const auto levels = told.output(method, i);
    if (!levels.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("output ", i, ": what its integers stand for is damaged"));
    }
    all.push_back(*levels);
  }
  return all;
}

// One call writes output_N; several, call_K_output_N.
std::string prefix_of(size_t call, size_t calls) {
  return calls == 1 ? "" : absl::StrCat("call_", call, "_");
}

// As show_outputs(). What a call and those before it read stays; what they wrote may be read by
// later ones.
absl::Status write_outputs(const std::vector<runtime::EValue>& outputs, const Arguments& arguments,
                           const std::vector<Call>& calls, size_t call,
                           const OutputLevels& levels = {}) {
  OutputPlace place{arguments.output_dir, prefix_of(call, calls.size()), arguments.data};
  place.read.push_back(arguments.program);
  const auto add = [&](const std::vector<std::string>& words) {
    place.read.insert(place.read.end(), words.begin(), words.end());
  };
  add(arguments.replacements);
  for (size_t i = 0; i <= call; ++i) add(calls[i].inputs);
  return show_outputs(outputs, place, arguments.limits.max_input_bytes, levels);
}

// Runs one call, prints its outputs and writes the tensors among them.
int run_call(Module& module, const Arguments& arguments, const std::vector<Call>& calls,
             size_t index, const RuntimeMessages& messages, Progress& progress) {
  const Call& call = calls[index];
  auto inputs = MethodInputs::make(module, call.method, call.inputs, arguments.floats);
  if (!inputs.ok()) {
    return messages.fail("run", inputs.status());
  }
  progress.start(call.method);
  auto outputs = module.execute(call.method, inputs->values());
  progress.start("");
  if (!outputs.ok()) {
    return messages.fail("run", absl::StrCat("method '", call.method, "'"), outputs.error());
  }
  absl::StatusOr<OutputLevels> levels = OutputLevels();
  if (arguments.floats) levels = levels_of_outputs(module, call.method, outputs->size());
  if (!levels.ok()) return messages.fail("run", levels.status());
  const absl::Status shown = write_outputs(*outputs, arguments, calls, index, *levels);
  return shown.ok() ? kDone : fail("run", shown);
}

// The calls on a module, which is code.
int run_compiled(const Arguments& arguments, const std::vector<Call>& calls) {
  const RuntimeMessages messages;
  const auto module = CompiledModule::open(arguments.program);
  if (!module.ok()) return messages.fail("run", arguments.program, module.error());
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::string subject = absl::StrCat("method '", calls[i].method, "'");
    const auto method = (*module)->method(calls[i].method);
    if (!method.ok()) return messages.fail("run", subject, method.error());
    const auto inputs =
        CompiledInputs::set(**method, calls[i].inputs, arguments.limits.max_input_bytes);
    if (!inputs.ok()) return messages.fail("run", inputs.status());
    const runtime::Error error = (*method)->run();
    if (error != runtime::Error::Ok) return messages.fail("run", subject, error);
    const absl::Status shown = write_outputs(outputs_of(**method), arguments, calls, i);
    if (!shown.ok()) return fail("run", shown);
  }
  return kDone;
}

// The calls on a device, by itself or driven from here.
int run_on_device(const Arguments& arguments, const std::vector<Call>& calls) {
  const auto device = Device::open(arguments.device.spec,
                                   arguments.device.session(arguments.limits.max_input_bytes));
  if (!device.ok()) return fail("run", device.status());
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto method = (*device)->method(calls[i].method);
    if (!method.ok()) return fail("run", method.status());
    const auto inputs =
        CompiledInputs::set(**method, calls[i].inputs, arguments.limits.max_input_bytes);
    if (!inputs.ok()) return fail("run", inputs.status());
    const absl::Status status =
        arguments.stepwise ? (*method)->execute_steps([](uint32_t) { return absl::OkStatus(); })
                           : (*method)->execute();
    if (!status.ok()) return fail("run", status);
    const absl::Status shown = write_outputs(outputs_of(**method), arguments, calls, i);
    if (!shown.ok()) return fail("run", shown);
  }
  return kDone;
}

void warn(const std::string& what) {
  std::fprintf(stderr, "petrel run: warning: %s\n", shown(what).c_str());
}

// What files that go before the program change in it; "" where they change something, or
// cannot be used, which loading tells.
std::string told_of_override(const std::string& program, Module::Options options) {
  const RuntimeMessages messages;
  DataSources data;
  std::swap(data.data_files, options.data_files);
  data.other_data = options.other_data;
  data.data_order = options.data_order;
  const auto module = Module::load(program, options);
  if (!module.ok()) return "";
  const auto replaced = (*module)->replace_data(data);
  return replaced.ok() && replaced->changed == 0 ? replaced->warning : "";
}

// Other data for the methods that are called, which are loaded first.
int replace_data(Module& module, const std::vector<std::string>& replacements,
                 const std::vector<Call>& calls, const RuntimeMessages& messages) {
  for (const Call& call : calls) {
    const runtime::Error error = module.load_method(call.method);
    if (error != runtime::Error::Ok) {
      return messages.fail("run", absl::StrCat("method '", call.method, "'"), error);
    }
  }
  for (const std::string& text : replacements) {
    const size_t equals = text.find('=');
    const bool has_glob = equals != std::string::npos;
    const std::string file = has_glob ? text.substr(equals + 1) : text;
    DataSources data;
    data.data_files = {file};
    data.other_data = read_safetensors;
    const auto replaced = module.replace_data(data, has_glob ? text.substr(0, equals) : "*");
    if (!replaced.ok()) return messages.fail("run", file, replaced.error());
    std::printf("replaced %zu of %zu keys by %s: %zu delegates and %zu tensors made anew\n",
                replaced->changed, replaced->keys, shown(file).c_str(), replaced->delegates,
                replaced->tensors);
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
  const auto folder = OutputFolder::make(arguments.output_dir);
  if (!folder.ok()) return fail("run", folder.status());
  if (arguments.compiled) return run_compiled(arguments, calls);
  if (!arguments.device.spec.empty()) return run_on_device(arguments, calls);

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
  const auto backend_options = arguments.delegate_options.make();
  if (!backend_options.ok()) return fail("run", backend_options.status());
  options.backend_options = *backend_options;
  if (arguments.override && !arguments.data.empty()) {
    const std::string told = told_of_override(arguments.program, options);
    if (!told.empty()) warn(told);
  }
  const RuntimeMessages messages("run");
  Progress progress("run");
  progress.start("load");
  auto module = Module::load(arguments.program, options);
  if (!module.ok()) return messages.fail("run", arguments.program, module.error());
  if (!arguments.replacements.empty()) {
    const int code = replace_data(**module, arguments.replacements, calls, messages);
    if (code != kDone) return code;
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    const int code = run_call(**module, arguments, calls, i, messages, progress);
    if (code != kDone) return code;
  }
  return kDone;
}

}  // namespace

void add_run_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("run", "Run a method of a .pte program");
  CLI::Option* program =
      verb->add_option("program", arguments->program, "PROG.pte, or libNAME.so with --compiled");
  verb->add_option("--data", arguments->data,
                   "FILE.ptd or FILE.safetensors with weights, may be repeated")
      ->take_all();
  verb->add_flag("--override", arguments->override,
                 "when a key is in several places, data files go before the program, and earlier\n"
                 "files before later ones");
  verb->add_option("--replace", arguments->replacements,
                   "[GLOB=]FILE.ptd: other data for keys that match, once the methods are loaded;\n"
                   "tells what changed, may be repeated")
      ->take_all()
      ->allow_extra_args(false);
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
  verb->add_flag("--floats", arguments->floats,
                 "give and get numbers where a program takes and returns integers that stand for\n"
                 "them: inputs are f32 and quantised, outputs are dequantised");
  verb->add_option("--threads", arguments->threads,
                   "0 (default): one for each processor that the process may use")
      ->check(CLI::Range(0, 1024));
  add_kernels_option(*verb, &arguments->kernels);
  add_isa_option(*verb);
  add_limit_options(*verb, LimitsOf::kRunning, &arguments->limits);
  arguments->delegate_options.add_to(*verb);
  add_compiled_flag(
      *verb,
      {"--help", "--method", "--input", "--call", "--output-dir", "--max-input-bytes", "--isa"},
      &arguments->compiled);
  add_device_option(
      *verb, {"--help", "--method", "--input", "--call", "--output-dir", "--max-input-bytes"},
      &arguments->device);
  verb->get_option("--device")->excludes(program);
  verb->add_flag("--stepwise", arguments->stepwise,
                 "the device does one step at a time, each driven from here")
      ->needs(verb->get_option("--device"));
  verb->footer(
      "Examples:\n"
      "  petrel run model.pte --input x.npy --output-dir out\n"
      "  petrel run model.pte --data model.ptd --threads 2\n"
      "  petrel run lora.pte --data base.ptd --data one.ptd --replace '*lora*=two.ptd'\n"
      "  petrel run llm.pte --method decode --input 'tokens=[[15]]:int64'\n"
      "  petrel run --compiled libkws.so --input x.npy\n"
      "  petrel run --device serial:/dev/ttyACM0@115200 --input x.npy\n"
      "  petrel run llm.pte --call prefill:tokens.npy --call decode:next.npy");
  verb->callback([arguments, exit_code] {
    if (arguments->program.empty() && arguments->device.spec.empty()) {
      throw CLI::RequiredError("program");
    }
    *exit_code = run(*arguments);
  });
}

}  // namespace petrel::extension
