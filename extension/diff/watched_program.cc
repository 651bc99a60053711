// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/watched_program.h"

#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/driver/compile_to_memory.h"
#include "exir/status_macros.h"

namespace petrel::extension {

absl::StatusOr<std::unique_ptr<WatchedProgram>> WatchedProgram::open(
    const std::string& path, const std::vector<std::string>& data_files, const std::string& method,
    bool only_reference_kernels, const std::vector<std::string>& max_sizes) {
  std::unique_ptr<WatchedProgram> program(new WatchedProgram(path));
  Module::Options options;
  options.data_files = data_files;
  options.registry = only_reference_kernels ? &tapped_reference_registry() : &tapped_registry();
  options.event_tracer = &program->tap_;
  options.writable_inputs = true;
  const bool is_archive = absl::EndsWith(path, ".pt2");
  size_t size = 0;
  if (is_archive) {
    exir::ExportOptions archive;
    archive.methods[method] = path;
    archive.max_sizes = max_sizes;
    auto bytes = exir::compile_to_memory(archive, &program->constants_);
    if (!bytes.ok()) return exir::annotate(bytes.status(), path);
    size = bytes->size();
    program->bytes_.resize(size / sizeof(uint64_t) + 1);
    std::memcpy(program->bytes_.data(), bytes->data(), size);
  }
  auto module = is_archive ? Module::load(program->bytes_.data(), size, options)
                           : Module::load(path, options);
  if (!module.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot be loaded: ", runtime::to_string(module.error())));
  }
  program->module_ = std::move(module.get());
  return program;
}

absl::StatusOr<ValueTrace> WatchedProgram::run(const std::string& method,
                                               const std::vector<runtime::EValue>& inputs) {
  const auto failed = [&](runtime::Error error) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": method '", method, "' does not run: ", runtime::to_string(error)));
  };
  if (const auto loaded = module_->load_method(method); loaded != runtime::Error::Ok) {
    return failed(loaded);
  }
  std::vector<runtime::EValue> given;
  for (size_t i = 0; i < inputs.size(); ++i) given.push_back(module_->get_input(method, i));
  tap_.watch(std::move(given));
  const auto outputs = module_->execute(method, inputs);
  if (!outputs.ok()) return failed(outputs.error());
  if (tap_.is_full()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path_, ": method '", method, "' ", TraceRoom::problem()));
  }
  return tap_.take(*outputs);
}

}  // namespace petrel::extension
