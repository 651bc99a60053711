// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/diff_verb.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/status_macros.h"
#include "extension/cli/compiled_io.h"
#include "extension/cli/console.h"
#include "extension/cli/export_option_flags.h"
#include "extension/cli/isa_option.h"
#include "extension/cli/method_io.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"
#include "extension/device/device_params.h"
#include "extension/device/device_trace.h"
#include "extension/diff/diff.h"
#include "extension/diff/watched_program.h"
#include "extension/module/error_text.h"

namespace petrel::extension {
namespace {

// As of `diff`: what it was asked to find out is no failure.
constexpr int kDiffers = 1;
constexpr int kTrouble = 2;

struct Arguments {
  std::string programs[2];
  DeviceChoice device;
  std::vector<std::string> data[2];
  std::string method = "forward";
  std::vector<std::string> inputs;
  Tolerance tolerance;
  bool all_rows = false;
  bool json = false;
  OptionWords given;

  std::vector<std::string> max_sizes() const {
    const auto words = given.find("max-size");
    return words == given.end() ? std::vector<std::string>() : words->second;
  }
};

absl::StatusOr<ValueTrace> run_one(const Arguments& arguments, size_t which) {
  auto program =
      WatchedProgram::open(arguments.programs[which], arguments.data[which], arguments.method,
                           /*only_reference_kernels=*/false, arguments.max_sizes());
  if (!program.ok()) return program.status();
  auto inputs = MethodInputs::make((*program)->module(), arguments.method, arguments.inputs,
                                   /*in_floats=*/true);
  if (!inputs.ok()) {
    const bool lacks_data = which == 1 && arguments.data[1].empty() && !arguments.data[0].empty();
    return exir::annotate(inputs.status(),
                          absl::StrCat(arguments.programs[which],
                                       lacks_data ? " (whose data files are --second-data)" : ""));
  }
  return (*program)->run(arguments.method, inputs->values());
}

// The first program with the reference kernels, and the device, on the same inputs.
absl::Status run_with_device(const Arguments& arguments, ValueTrace* traces,
                             std::vector<std::string>* others) {
  PETREL_ASSIGN_OR_RETURN(
      const auto program,
      WatchedProgram::open(arguments.programs[0], arguments.data[0], arguments.method,
                           /*only_reference_kernels=*/true, arguments.max_sizes()));
  PETREL_ASSIGN_OR_RETURN(
      const MethodInputs inputs,
      MethodInputs::make(program->module(), arguments.method, arguments.inputs));
  PETREL_ASSIGN_OR_RETURN(traces[0], program->run(arguments.method, inputs.values()));
  PETREL_ASSIGN_OR_RETURN(const auto device,
                          Device::open(arguments.device.spec, arguments.device.session()));
  PETREL_ASSIGN_OR_RETURN(*others, other_parameters(*device, program->constants()));
  PETREL_ASSIGN_OR_RETURN(DeviceMethod* const method, device->method(arguments.method));
  size_t index = 0;
  for (const runtime::EValue& value : inputs.values()) {
    if (!value.isTensor()) continue;
    PETREL_RETURN_IF_ERROR(method->set_input(index++, value.toTensor()));
  }
  if (index != method->num_inputs()) {
    return absl::InvalidArgumentError(absl::StrCat("method '", arguments.method, "' takes ", index,
                                                   " tensors in ", arguments.programs[0], ", and ",
                                                   method->num_inputs(), " on the device"));
  }
  PETREL_ASSIGN_OR_RETURN(traces[1], trace_device(*method, traces[0]));
  return absl::OkStatus();
}

// Whether most values of the second program are of operators that the first has not: that the
// others are alike says little.
bool has_other_operators(const Diff& diff) {
  std::set<std::string> known;
  for (const TraceValue& value : diff.a.values) known.insert(value.op);
  const auto others =
      std::count_if(diff.unmatched_b.begin(), diff.unmatched_b.end(),
                    [&](size_t value) { return known.count(diff.b.values[value].op) == 0; });
  return static_cast<size_t>(others) > diff.rows.size();
}

int run(Arguments& arguments) {
  if (!arguments.device.spec.empty()) arguments.tolerance.is_exact = true;
  const RuntimeMessages messages;
  Progress progress("diff");
  ValueTrace traces[2];
  std::vector<std::string> others;
  if (!arguments.device.spec.empty()) {
    progress.start(arguments.device.spec);
    const absl::Status status = run_with_device(arguments, traces, &others);
    if (!status.ok()) {
      messages.fail("diff", status);
      return kTrouble;
    }
  }
  for (size_t i = 0; i < 2 && arguments.device.spec.empty(); ++i) {
    progress.start(arguments.programs[i]);
    auto trace = run_one(arguments, i);
    if (!trace.ok()) {
      messages.fail("diff", trace.status());
      return kTrouble;
    }
    traces[i] = *std::move(trace);
  }
  progress.start("compare");
  Diff diff = diff_traces(std::move(traces[0]), std::move(traces[1]), arguments.tolerance);
  diff.other_parameters = std::move(others);
  progress.stop();
  const std::string text =
      arguments.json ? to_json(diff) : printable(to_text(diff, arguments.all_rows));
  std::fputs(text.c_str(), stdout);
  if (diff.rows.empty()) {
    fail("diff", "no value of the one program matches one of the other");
    return kTrouble;
  }
  if (!arguments.device.spec.empty() && diff.is_equal() && has_other_operators(diff)) {
    fail("diff",
         absl::StrCat("the device runs other operators than ", arguments.programs[0],
                      ": give what `petrel export --backend none` makes with the options of "
                      "gen-c, such as --int8 integer"));
    return kTrouble;
  }
  return diff.is_equal() ? kDone : kDiffers;
}

}  // namespace

void add_diff_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "diff", "Compare what two programs compute, value by value, and name what differs first");
  verb->add_option("first", arguments->programs[0],
                   "PROG.pte, or MODEL.pt2, which is compiled for kernels")
      ->required();
  CLI::Option* second =
      verb->add_option("second", arguments->programs[1], "likewise; not with --device");
  verb->add_option("--data", arguments->data[0], "FILE.ptd of the first, may be repeated")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--second-data", arguments->data[1], "FILE.ptd of the second")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--method", arguments->method, "default: forward");
  verb->add_option("--input", arguments->inputs,
                   "[NAME=]X.npy, or an array such as [1,2]:int64, for both; inputs left out are\n"
                   "ones")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--atol", arguments->tolerance.atol,
                   "elements may differ by this much (default 1e-6 unless rounded to integers\n"
                   "or 16 bits)");
  verb->add_option("--rtol", arguments->tolerance.rtol,
                   "and by this part of the element or of the root mean square of its value,\n"
                   "whichever is more (default 1e-4)");
  verb->add_option("--min-sqnr", arguments->tolerance.min_sqnr,
                   "least signal to noise in dB (default 12 of values that one of the programs\n"
                   "rounded to integers, 30 of half and bfloat16)");
  verb->add_flag("--all", arguments->all_rows, "show values that do not differ, too");
  verb->add_flag("--json", arguments->json, "print JSON, all values and more of each");
  add_export_option(*verb, "max-size", &arguments->given);
  add_isa_option(*verb);
  add_device_option(*verb, {"--help", "--data", "--method", "--input", "--all", "--json", "--isa"},
                    &arguments->device);
  verb->get_option("--device")->excludes(second);
  verb->footer(
      "Exit codes: 0 no value differs, 1 some do, 2 the programs cannot be compared.\n"
      "Examples:\n"
      "  petrel diff model.pt2 model.pte --input x.npy\n"
      "  petrel diff model.pte model_int8.pte --input x.npy --all\n"
      "  petrel diff mine.pte theirs.pte --rtol 1e-3 --json\n"
      "  petrel diff model.pt2 --device exec:./firmware --input x.npy");
  verb->callback([arguments, exit_code] {
    if (arguments->programs[1].empty() && arguments->device.spec.empty()) {
      throw CLI::RequiredError("second");
    }
    *exit_code = run(*arguments);
  });
}

}  // namespace petrel::extension
