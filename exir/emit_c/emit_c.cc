// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/emit_c.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "exir/emit_c/border_order.h"
#include "exir/emit_c/constant_file.h"
#include "exir/emit_c/group.h"
#include "exir/emit_c/kernel_choices.h"
#include "exir/emit_c/names.h"
#include "exir/emit_c/package.h"
#include "exir/ir/blob.h"
#include "exir/status_macros.h"

namespace petrel::exir::emit_c {
namespace {

Sha256 sha256_of_text(const std::string& text) {
  return sha256_of({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

std::string digest_of(const CFile& file) {
  return to_hex(sha256_of_pieces([&file](const auto& take) {
    // Nothing that it is handed to fails.
    (void)file.write([&take](absl::Span<const uint8_t> piece) {
      take(piece);
      return absl::OkStatus();
    });
  }));
}

void lay_out(const PlannedMethod& method, const KernelChoices* kernels, GoldenCall* call) {
  if (kernels == nullptr || !call->known) return;
  const auto reorder = [&](const std::vector<Value*>& values, std::vector<Blob>* blobs) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (!kernels->is_laid_out(values[i])) continue;
      (*blobs)[i] = with_channels_innermost(values[i]->tensor(), (*blobs)[i]);
    }
  };
  reorder(method.graph->inputs(), &call->inputs);
  reorder(method.graph->outputs(), &call->outputs);
}

// What each of the files that compute adds to the name of the package.
constexpr const char* kComputing[] = {".h", ".c", "_params.h", "_params.c", "_params.S"};

}  // namespace

size_t CFile::size() const {
  size_t all = text.size();
  for (const Blob& blob : bytes) all += blob.size();
  return all;
}

absl::Status CFile::write(
    const std::function<absl::Status(absl::Span<const uint8_t>)>& sink) const {
  PETREL_RETURN_IF_ERROR(sink({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
  for (const Blob& blob : bytes) PETREL_RETURN_IF_ERROR(sink(blob.bytes().span()));
  return absl::OkStatus();
}

Sha256 sha256_of_sources(const std::string& name, const std::vector<CFile>& files) {
  std::string digests;
  for (const CFile& file : files) {
    for (const char* rest : kComputing) {
      if (file.name == name + rest) digests += to_hex(sha256_of_text(file.text));
    }
  }
  return sha256_of_text(digests);
}

absl::StatusOr<std::vector<CFile>> emit_c(const PlannedProgram& planned, const CPools& pools,
                                          const std::string& name, const GoldenFn& golden) {
  PETREL_ASSIGN_OR_RETURN(const Package package, make_package(planned, pools, name));
  PETREL_ASSIGN_OR_RETURN(std::vector<GoldenCall> calls, golden());
  for (size_t i = 0; i < calls.size(); ++i) lay_out(planned.methods[i], pools.kernels, &calls[i]);
  std::vector<CFile> files;
  files.push_back({name + ".h", header_text(package)});
  PETREL_RETURN_IF_ERROR(check_declared_once(files.back().text, files.back().name));
  files.push_back({name + ".c", source_text(package)});
  files.push_back({name + "_params.h", parameter_header_text(package)});
  if (package.includes_binary) {
    files.push_back({name + "_params.S", assembly_text(package)});
  } else {
    files.push_back({name + "_params.c", parameter_source_text(package)});
  }
  if (std::vector<Blob> bytes = constant_file(package); !bytes.empty()) {
    files.push_back({name + "_params.bin", "", std::move(bytes)});
  }
  const std::string sha256 = to_hex(sha256_of_sources(name, files));
  files.push_back({name + "_metadata.c", metadata_text(package, sha256)});
  files.push_back({"petrel_model.h", model_header_text()});
  if (pools.has_backends) files.push_back({"petrel_delegate.h", delegate_header_text()});
  files.push_back({"petrel_model_view.h", model_view_text()});
  if (package.has_pools()) files.push_back({name + "_memory.c", memory_text(package)});
  for (CUserFile& file : user_files(package)) {
    files.push_back({std::move(file.name), std::move(file.text)});
  }
  if (std::string header = user_header_text(package); !header.empty()) {
    files.push_back({name + "_kernels.h", std::move(header)});
  }
  if (std::string linker = linker_text(package); !linker.empty()) {
    files.push_back({name + ".ld", std::move(linker)});
  }
  if (!pools.group.empty()) {
    PETREL_ASSIGN_OR_RETURN(std::string group, group_text(package));
    files.push_back({name + "_group.h", std::move(group)});
  }
  if (pools.has_device_rpc) {
    PETREL_ASSIGN_OR_RETURN(std::string plan, plan_text(package));
    files.push_back({name + "_plan.h", plan_header_text(package)});
    files.push_back({name + "_plan.c", std::move(plan)});
    for (auto& [file, text] : device_texts()) files.push_back({file, std::move(text)});
  }
  files.push_back({name + "_selftest.c", self_test_text(package, calls)});
  files.push_back({name + ".mk", make_text(package)});
  files.push_back({name + ".cmake", cmake_text(package)});
  std::map<std::string, std::string> digests;
  for (const CFile& file : files) digests[file.name] = digest_of(file);
  files.push_back({"manifest.json", manifest_text(package, sha256, digests)});
  return files;
}

}  // namespace petrel::exir::emit_c
