// SPDX-License-Identifier: Apache-2.0
//
// Any sequence of calls of the C interface, on a program and its data file: arguments
// that are null, out of range, of the wrong kind, calls in every order, buffers that
// are gone after the call that needs them. The bytes are decisions (choices.h).

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "extension/c_api/petrel.h"
#include "test/fuzz/choices.h"
#include "test/fuzz/exact_memory.h"

namespace petrel::fuzz {
namespace {

constexpr size_t kMostCalls = 64;

std::vector<char> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  require(static_cast<bool>(file), "the programs are there");
  return {std::istreambuf_iterator<char>(file), {}};
}

class Session final {
 public:
  explicit Session(Choices choices) : choices_(choices) {
    static const std::vector<char> kFiles[] = {
        read_file("test/faults/golden/methods.pte"), read_file("test/faults/golden/counter.pte"),
        read_file("test/faults/golden/delegate.pte"), read_file("test/faults/golden/loop.pte"),
        read_file("test/faults/golden/add.pte")};
    const std::vector<char>& file = kFiles[choices_.below(5)];
    program_ = std::make_unique<Block>(file.size());
    std::memcpy(program_->data(), file.data(), file.size());
  }
  ~Session() {
    petrel_module_destroy(module_);
    petrel_options_destroy(options_);
  }

  void run() {
    for (size_t i = 0; i < kMostCalls && !choices_.is_over(); ++i) {
      const petrel_status status = call();
      require(status == PETREL_OK || petrel_error_text()[0] != '\0',
              "an error that nobody explains");
      require(std::strcmp(petrel_status_name(status), "unknown error") != 0, "an unknown status");
    }
  }

 private:
  petrel_status call() {
    switch (choices_.below(12)) {
      case 0:
        if (options_ != nullptr) petrel_options_destroy(options_);
        options_ = nullptr;
        return petrel_options_create(&options_);
      case 1:
        return change_options();
      case 2:
      case 3:
        return load();
      case 4: {
        size_t count = 0;
        return petrel_module_num_inputs(module_, method(), choices_.one_in(8) ? nullptr : &count);
      }
      case 5: {
        petrel_value info = value_out();
        return choices_.one_in(2)
                   ? petrel_module_input_info(module_, method(), choices_.below(4), &info)
                   : petrel_module_output_info(module_, method(), choices_.below(4), &info);
      }
      case 6:
        return petrel_module_load_method(module_, method());
      case 7:
        return petrel_module_unload_method(module_, method());
      case 8:
      case 9:
        return set_inputs();
      case 10: {
        const char* const name = method();
        const petrel_status status = petrel_module_run(module_, name);
        // They need not stay any longer.
        if (status == PETREL_OK) inputs_.erase(name);
        return status;
      }
      default:
        return read_output();
    }
  }

  const char* method() {
    static const char* const kNames[] = {"forward", "decode", "prefill", "", nullptr};
    if (module_ != nullptr && choices_.below(8) != 7) {
      const char* name = nullptr;
      if (petrel_module_method_name(module_, choices_.below(3), &name) == PETREL_OK) return name;
    }
    return kNames[choices_.below(5)];
  }

  petrel_value value_out() {
    petrel_value value;
    PETREL_VALUE_INIT(&value);
    if (choices_.below(16) == 15) value.struct_size = choices_.below(400);
    // Never more than there is.
    if (value.struct_size > sizeof(value)) value.struct_size = sizeof(value);
    return value;
  }

  petrel_status change_options() {
    const auto number = static_cast<int32_t>(choices_.below(4)) - 1;
    switch (choices_.below(6)) {
      case 0:
        return petrel_options_set_load_mode(options_, number);
      case 1:
        return petrel_options_set_share_memory(options_, number);
      case 2:
        return petrel_options_set_writable_inputs(options_, number);
      case 3:
        return petrel_options_set_limit(options_, static_cast<int32_t>(choices_.below(7)) - 1,
                                        uint64_t{1} << choices_.below(30));
      case 4:
        return petrel_options_set_data_precedence(options_, number);
      default:
        return petrel_options_add_data_buffer(options_, choices_.one_in(4) ? nullptr : "FT01", 4,
                                              PETREL_COPY);
    }
  }

  petrel_status load() {
    if (module_ != nullptr && choices_.one_in(2)) {
      petrel_module_destroy(module_);
      module_ = nullptr;
    }
    petrel_module* made = nullptr;
    const petrel_status status = petrel_module_load_buffer(
        choices_.one_in(16) ? nullptr : program_->data(),
        choices_.one_in(16) ? choices_.below(program_->size()) : program_->size(),
        choices_.one_in(2) ? PETREL_COPY : PETREL_BORROW, options_, &made);
    require((status == PETREL_OK) == (made != nullptr), "an out that is written on failure");
    if (made != nullptr) {
      petrel_module_destroy(module_);
      module_ = made;
    }
    return status;
  }

  petrel_status set_inputs() {
    const char* const name = method();
    size_t count = 0;
    petrel_status status = petrel_module_num_inputs(module_, name, &count);
    for (size_t i = 0; i < count && status == PETREL_OK; ++i) {
      petrel_value info;
      PETREL_VALUE_INIT(&info);
      status = petrel_module_input_info(module_, name, i, &info);
      if (status != PETREL_OK) break;
      std::vector<std::unique_ptr<Block>>& blocks = inputs_[name];
      blocks.push_back(std::make_unique<Block>(info.nbytes));
      info.data = blocks.back()->data();
      if (choices_.below(8) == 7) change(&info);
      status = petrel_module_set_input(module_, name, choices_.one_in(16) ? count : i, &info);
    }
    return status;
  }

  // One field wrong, without claiming more memory than there is.
  void change(petrel_value* value) {
    switch (choices_.below(6)) {
      case 0:
        value->rank = static_cast<uint32_t>(choices_.below(20));
        break;
      case 1:
        value->sizes[choices_.below(4)] = static_cast<int64_t>(choices_.below(8)) - 2;
        break;
      case 2:
        value->dim_order[choices_.below(4)] = static_cast<uint8_t>(choices_.below(5));
        break;
      case 3:
        value->dtype = static_cast<int32_t>(choices_.below(32)) - 1;
        break;
      case 4:
        value->kind = static_cast<int32_t>(choices_.below(9)) - 1;
        value->string = nullptr;
        value->string_size = 0;
        break;
      default:
        value->nbytes = choices_.below(value->nbytes + 1);
    }
  }

  petrel_status read_output() {
    petrel_value out = value_out();
    const petrel_status status =
        petrel_module_get_output(module_, method(), choices_.below(3), &out);
    if (status != PETREL_OK || out.struct_size < sizeof(out)) return status;
    if (out.kind == PETREL_KIND_TENSOR) read_all(out.data, out.nbytes);
    if (out.kind == PETREL_KIND_STRING) read_all(out.string, out.string_size);
    return status;
  }

  Choices choices_;
  std::unique_ptr<Block> program_;
  petrel_options* options_ = nullptr;
  petrel_module* module_ = nullptr;
  // By method, until it runs.
  std::map<std::string, std::vector<std::unique_ptr<Block>>> inputs_;
};

}  // namespace
}  // namespace petrel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  petrel::fuzz::Session(petrel::fuzz::Choices(data, size)).run();
  return 0;
}
