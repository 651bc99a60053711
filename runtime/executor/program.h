// SPDX-License-Identifier: Apache-2.0
//
// Program: a loaded `.pte` file. load() verifies the whole structure, always;
// a Program that exists can be trusted by all code behind it (the promises are
// in schema/README.md).
//
//   Result<FileDataLoader> loader = FileDataLoader::from("model.pte");
//   Result<Program> program = Program::load(&*loader);
//   Result<Method> method = program->load_method("forward", &memory_manager);
//   method->set_input(Tensor(&input), 0);
//   method->execute();
//   use(method->get_output(0).toTensor());
//
// A Program holds the flatbuffer and the constants; delegate payloads and
// named data are read when a method asks. It allocates nothing. The loader must
// outlive it; it must outlive its Methods and not be moved while they exist.
// Several threads may load methods of one Program at the same time.

#ifndef PETREL_RUNTIME_EXECUTOR_PROGRAM_H_
#define PETREL_RUNTIME_EXECUTOR_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/backend/options.h"
#include "runtime/core/data_loader.h"
#include "runtime/core/event_tracer.h"
#include "runtime/core/freeable_buffer.h"
#include "runtime/core/limits.h"
#include "runtime/core/named_data_map.h"
#include "runtime/core/result.h"
#include "runtime/executor/memory_manager.h"
#include "runtime/executor/method.h"
#include "runtime/executor/method_meta.h"
#include "runtime/executor/method_data_map.h"
#include "runtime/executor/registry.h"
#include "runtime/platform/sha256.h"
#include "runtime/program/program_additions.h"
#include "runtime/program/program_data_map.h"
#include "runtime/program/program_view.h"

namespace petrel::runtime {

struct ProgramOptions {
  // Kernels and backends to use; must outlive the Program.
  const Registry* registry = nullptr;
  // What the program may use at most.
  Limits limits;
  DataPrecedence data_precedence = DataPrecedence::RefuseDifferent;
  // Whether a program may write inputs that it does not plan memory for, which are
  // the caller's. Methods that do are refused otherwise; a planned input is a copy.
  bool writable_inputs = false;
  // Computes the digests of data that a program is bound to (kSha256Bytes at
  // `digest`); null: sha256.h. That of
  // fast_sha256.h uses the processor's instructions for it.
  Sha256Function sha256 = nullptr;
  // Whether maps given to load_method are HeldDataMaps already: they are then not
  // held to the program again.
  bool data_is_held = false;
};

class Program final {
 public:
  // Uses default_registry(), so the binary needs a petrel_registry target.
  static Result<Program> load(DataLoader* loader) {
    ProgramOptions options;
    options.registry = &default_registry();
    return load(loader, options);
  }

  // ExecuTorch's words for how much is checked. Here it is everything with both.
  enum class Verification : uint8_t { Minimal, InternalConsistency };
  static Result<Program> load(DataLoader* loader, Verification /*unused*/) { return load(loader); }

  // InvalidProgram when the file is not a program that can be trusted;
  // NotSupported when its version is newer. The message says what is wrong.
  static Result<Program> load(DataLoader* loader, const ProgramOptions& options);

  Program(Program&&) noexcept = default;
  Program& operator=(Program&&) noexcept = default;

  size_t num_methods() const;
  // InvalidArgument if there are fewer.
  Result<const char*> get_method_name(size_t index) const;
  // NotFound, with the names there are in the message.
  Result<MethodMeta> method_meta(std::string_view method_name) const;

  // Makes a method ready to run. The tracer, the data map and the options map
  // may be null; tracer and data map must outlive the Method. Data is held to what
  // the program remembers of its weights (held_data_map.h).
  Result<Method> load_method(std::string_view method_name, MemoryManager* memory_manager,
                             EventTracer* event_tracer = nullptr,
                             const NamedDataMap* named_data_map = nullptr,
                             const LoadBackendOptionsMap* backend_options = nullptr) const;

  // The named data in the file; NotFound if there is none.
  Result<const NamedDataMap*> get_named_data_map() const;

  // How the results of a method nest, as the exporter wrote it; NotFound if it
  // did not.
  Result<const char*> get_output_flattening_encoding(
      std::string_view method_name = "forward") const;

  // Whether `size` >= kMinHeadBytes first bytes look like a program.
  enum class HeaderStatus { CompatibleVersion, IncompatibleVersion, NotPresent, ShortData };
  static constexpr size_t kMinHeadBytes = 64;
  static HeaderStatus check_header(const void* data, size_t size);

  // The rest is for Method.

  const ProgramOptions& options() const { return options_; }
  // What the file says; valid as long as this.
  const ProgramView& view() const { return view_; }
  const ProgramDataMap& named_data() const { return named_data_; }
  // The bytes of the view.
  Span<const uint8_t> structure() const {
    return {static_cast<const uint8_t*>(program_data_.data()), program_data_.size()};
  }
  Result<size_t> file_size() const { return loader_->size(); }
  // Where its segments are counted from.
  uint64_t segment_base() const { return segment_base_; }
  // What `petrel.program` says, verified.
  const ProgramAdditions& additions() const { return additions_; }
  // The constant `index` of the constant segment or, in old files, of the
  // constant buffer. Verified at load, never null for nbytes > 0.
  const void* constant_data(uint32_t index) const;
  // Copies the initial value of a mutable buffer.
  Error load_mutable_data(uint32_t index, void* buffer, size_t nbytes) const;
  // The payload of a delegate of one of the methods.
  Error load_delegate_data(const DelegateView& delegate, FreeableBuffer* to) const;

 private:
  // Empty, until it is read; nobody has one that is not.
  Program(DataLoader* loader, const ProgramOptions& options);
  Error read();

  // NotFound, with the methods that there are in the message.
  Result<MethodView> find_method(std::string_view name) const;

  DataLoader* loader_;
  ProgramOptions options_;
  FreeableBuffer program_data_;
  FreeableBuffer constant_data_;
  uint64_t segment_base_ = 0;
  ProgramDataMap named_data_;
  ProgramAdditions additions_;
  ProgramView view_;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_PROGRAM_H_
