// SPDX-License-Identifier: Apache-2.0
#include "examples/quickstart/export_digits.h"

#include <cstdio>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "exir/driver/export.h"
#include "exir/plan/pictures/svg.h"
#include "exir/status_macros.h"

namespace petrel::examples {
namespace {

absl::Status draw_plan(const exir::MethodMemory& memory, const std::string& title,
                       const std::string& path) {
  exir::plan::SvgOptions options;
  options.title = title;
  std::ofstream out(path);
  out << exir::plan::render_svg(memory.problem, memory.solution, options);
  out.close();
  if (!out) return absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
  return absl::OkStatus();
}

}  // namespace

absl::Status export_digits(const std::string& model, const std::string& folder) {
  exir::ExportOptions options;
  options.methods["forward"] = model;
  options.output = folder + "/digits.pte";
  options.external_weights = folder + "/digits.ptd";
  options.backends.for_all = {{backends::xnnpack::aot::xnnpack_backend()}};
  PETREL_ASSIGN_OR_RETURN(const exir::ExportReport report, exir::export_program(options));

  double seconds = 0;
  for (const auto& phase : report.phase_seconds) seconds += phase.second;
  std::printf("export       %.1f ms, no Python, no torch\n", seconds * 1e3);
  for (const auto& taken : report.partition.taken) {
    std::printf("delegated    %zu nodes to %s in %zu partition%s, %zu left to kernels\n",
                taken.nodes, taken.backend_id.c_str(), taken.partitions,
                taken.partitions == 1 ? "" : "s", report.partition.left_behind.size());
  }
  for (const auto& [destination, bytes] : report.emit.file_bytes) {
    const std::string& path = destination.empty() ? options.output : options.external_weights;
    std::printf("%-12s %s, %llu bytes\n", destination.empty() ? "program" : "weights", path.c_str(),
                static_cast<unsigned long long>(bytes));
  }
  PETREL_RETURN_IF_ERROR(
      draw_plan(report.emit.memory.at(0), "digits with XNNPACK", folder + "/plan.svg"));

  options.output = folder + "/digits_kernels.pte";
  options.external_weights.clear();
  options.backends = {};
  PETREL_ASSIGN_OR_RETURN(const exir::ExportReport kernels, exir::export_program(options));
  const exir::MethodMemory& memory = kernels.emit.memory.at(0);
  PETREL_RETURN_IF_ERROR(
      draw_plan(memory, "digits with kernels only", folder + "/plan_kernels.svg"));
  std::printf("memory plan  %s/plan.svg, and plan_kernels.svg without the backend\n",
              folder.c_str());
  return absl::OkStatus();
}

}  // namespace petrel::examples
