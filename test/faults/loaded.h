// SPDX-License-Identifier: Apache-2.0
//
// A program made from a recipe, loaded, with memory for one method of it; and an
// input for it.

#ifndef PETREL_TEST_FAULTS_LOADED_H_
#define PETREL_TEST_FAULTS_LOADED_H_

#include <cstring>
#include <vector>

#include "runtime/core/data_loader.h"
#include "runtime/executor/program.h"
#include "test/faults/recipe.h"
#include "test/faults/runner.h"
#include "test/faults/test_kernels.h"

namespace petrel::faults {

using runtime::DataLoader;
using runtime::DataPrecedence;
using runtime::Error;
using runtime::EventTracer;
using runtime::FreeableBuffer;
using runtime::HierarchicalAllocator;
using runtime::MemoryManager;
using runtime::Method;
using runtime::NamedDataMap;
using runtime::Program;
using runtime::ProgramOptions;
using runtime::Result;
using runtime::ScalarType;
using runtime::Span;
using runtime::Tensor;
using runtime::TensorImpl;

// Bytes at an aligned address.
class AlignedLoader final : public DataLoader {
 public:
  explicit AlignedLoader(const std::vector<uint8_t>& bytes) : words_(bytes.size() / 16 + 1) {
    std::memcpy(words_.data(), bytes.data(), bytes.size());
    size_ = bytes.size();
  }
  Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo&) const override {
    return FreeableBuffer(reinterpret_cast<const uint8_t*>(words_.data()) + offset, size, nullptr);
  }
  Result<size_t> size() const override { return size_; }

 private:
  struct alignas(16) Word {
    uint8_t bytes[16];
  };
  std::vector<Word> words_;
  size_t size_;
};

// A program, and memory for one method of it.
class Loaded {
 public:
  explicit Loaded(const Recipe& recipe, DataPrecedence precedence = DataPrecedence::RefuseDifferent)
      : loader_(build(recipe)),
        options_(make_options(precedence)),
        program_(Program::load(&loader_, options_)),
        method_allocator_(nullptr),
        temp_allocator_(nullptr),
        planned_({&span_, 1}),
        memory_(&method_allocator_, &planned_, &temp_allocator_) {}

  Program& program() { return program_.get(); }
  MemoryManager* memory() { return &memory_; }
  Result<Method> method(const NamedDataMap* map = nullptr, EventTracer* tracer = nullptr) {
    return program().load_method("forward", &memory_, tracer, map);
  }

 private:
  static ProgramOptions make_options(DataPrecedence precedence) {
    ProgramOptions options;
    options.registry = &test_registry();
    options.data_precedence = precedence;
    options.limits.max_instructions = 1000;
    return options;
  }

  AlignedLoader loader_;
  ProgramOptions options_;
  Result<Program> program_;
  BlockAllocator method_allocator_;
  BlockAllocator temp_allocator_;
  alignas(16) uint8_t arena_[256] = {};
  Span<uint8_t> span_{arena_, sizeof(arena_)};
  HierarchicalAllocator planned_;
  MemoryManager memory_;
};

// Float [2, 3] with 0, 1, 2, ...
struct Input {
  Input() {
    for (size_t i = 0; i < 6; ++i) data[i] = static_cast<float>(i);
  }
  Tensor tensor() { return Tensor(&impl); }

  int32_t sizes[2] = {2, 3};
  float data[6];
  TensorImpl impl{ScalarType::Float, 2, sizes, data};
};

}  // namespace petrel::faults

#endif  // PETREL_TEST_FAULTS_LOADED_H_
