// SPDX-License-Identifier: Apache-2.0
#include "extension/python/data_files.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/import/mapped_file.h"
#include "exir/output/output_files.h"
#include "exir/status_macros.h"
#include "extension/module/error_text.h"
#include "extension/python/error.h"
#include "extension/python/gil.h"
#include "extension/python/text.h"
#include "extension/relink/data_list.h"
#include "extension/relink/data_move.h"
#include "runtime/core/limits.h"

namespace petrel::extension::python {

namespace py = pybind11;

namespace {

// A failure of the file system as Python's own error.
[[noreturn]] void raise_os_error(const absl::Status& status) {
  PyObject* type = PyExc_OSError;
  if (status.code() == absl::StatusCode::kNotFound) type = PyExc_FileNotFoundError;
  if (status.code() == absl::StatusCode::kPermissionDenied) type = PyExc_PermissionError;
  if (status.code() == absl::StatusCode::kAlreadyExists) type = PyExc_FileExistsError;
  PyErr_SetObject(type, to_text(std::string(status.message())).ptr());
  throw py::error_already_set();
}

// Of each: where it is, where it goes, and whether it takes the place of another one.
using Copies = std::vector<std::tuple<std::string, std::string, bool>>;

absl::Status copy_all(const Copies& copies) {
  exir::OutputFiles files;
  for (const auto& [source, destination, replaces] : copies) {
    PETREL_ASSIGN_OR_RETURN(const auto file, exir::MappedFile::open_named(source));
    PETREL_ASSIGN_OR_RETURN(
        const exir::ByteSink sink,
        files.open(destination, replaces ? exir::OutputFiles::WhenOther::kReplace
                                         : exir::OutputFiles::WhenOther::kRefuse));
    PETREL_RETURN_IF_ERROR(sink(file->bytes()));
  }
  return files.publish();
}

// Calls `work`, which returns a StatusOr, without the lock; the error tells what
// the loaders said.
template <typename Work>
auto done(Work work) {
  std::string said;
  auto result = without_gil([&] {
    const ErrorText text;
    auto made = work();
    said = text.text();
    return made;
  });
  if (!result.ok()) {
    const std::string reason = said.empty() ? "" : "\n" + said;
    raise_status(
        absl::Status(result.status().code(), std::string(result.status().message()) + reason));
  }
  return *std::move(result);
}

runtime::Limits limits_of(std::optional<uint64_t> max_arena_bytes) {
  runtime::Limits limits;
  limits.max_arena_bytes = max_arena_bytes.value_or(limits.max_arena_bytes);
  return limits;
}

py::dict as_dict(const MoveReport& report) {
  py::dict dict;
  dict["keys"] = report.keys;
  dict["bytes"] = report.bytes;
  dict["still_outside"] = texts(report.still_outside);
  return dict;
}

}  // namespace

void bind_data_files(py::module_& module) {
  module.def("copy_files", [](const Copies& copies) {
    const absl::Status status = without_gil([&] { return copy_all(copies); });
    if (!status.ok()) raise_os_error(status);
  });
  module.def("list_data", [](const std::string& path, std::optional<uint64_t> max_arena_bytes) {
    return done([&] { return list_data(path, limits_of(max_arena_bytes)); })
        .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  });
  module.def("split_data",
             [](const std::string& program, const std::string& output, const std::string& data_file,
                const Text& keys, std::optional<uint64_t> max_arena_bytes) {
               return as_dict(done([&] {
                 return split_data({program, output, data_file, keys, limits_of(max_arena_bytes)});
               }));
             });
  module.def("merge_data", [](const std::string& program, const std::vector<std::string>& data,
                              const std::string& output, std::optional<uint64_t> max_arena_bytes) {
    return as_dict(done([&] {
      return merge_data({program, data, output, limits_of(max_arena_bytes)});
    }));
  });
}

}  // namespace petrel::extension::python
