// SPDX-License-Identifier: Apache-2.0
//
// Modules whose files are whole and whose code says what makes no sense, and calls that a
// module refuses: each is told by its name.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "extension/compiled/compiled_module.h"
#include "extension/compiled/testing_library.h"
#include "extension/module/error_text.h"
#include "extension/tensor/filled.h"

namespace petrel::extension {
namespace {

using runtime::Error;
using runtime::ScalarType;
using runtime::Tensor;
using testing::EndsWith;
using testing::HasSubstr;

constexpr char kCounter[] = "extension/compiled/libcounter.so";

template <typename... Numbers>
std::string bytes_of(Numbers... numbers) {
  std::string text;
  (text.append(reinterpret_cast<const char*>(&numbers), sizeof(numbers)), ...);
  return text;
}

// All places of `from` have `to`.
std::string replaced(std::string library, const std::string& from, const std::string& to) {
  size_t found = 0;
  for (size_t at = 0; (at = library.find(from, at)) != std::string::npos; ++found) {
    library.replace(at, from.size(), to);
    at += to.size();
  }
  EXPECT_GT(found, 0u);
  return library;
}

std::string counter_with(const std::string& from, const std::string& to) {
  return replaced(read_library(kCounter), from, to);
}

// What is said when such a file is opened.
std::string refusal(const std::string& library, Error error) {
  const ErrorText said;
  const auto module = CompiledModule::open(write_library(sealed(library)));
  EXPECT_EQ(module.error(), error);
  return said.text();
}

const petrel_model_metadata& counter() {
  static const auto* const module = new auto(CompiledModule::open(kCounter));
  return (**module)->metadata();
}

TEST(RefusedModule, CodeOfOtherVersionsIsRefused) {
  const std::string right = bytes_of(PETREL_MODEL_MAGIC, PETREL_MODEL_ABI_VERSION);
  EXPECT_THAT(
      refusal(counter_with(right, bytes_of(1u, PETREL_MODEL_ABI_VERSION)), Error::InvalidProgram),
      EndsWith(": its code has magic 00000001 and ABI version 5, must have 4c44504d and 5"));
  EXPECT_THAT(refusal(counter_with(right, bytes_of(PETREL_MODEL_MAGIC, 6u)), Error::InvalidProgram),
              EndsWith("its code has magic 4c44504d and ABI version 6, must have 4c44504d and 5"));
}

TEST(RefusedModule, WhatTheSystemDoesNotLoadIsRefused) {
  const std::string whole = read_library(kCounter);
  EXPECT_THAT(
      refusal(with<uint16_t>(whole, offsetof(Elf64_Ehdr, e_phentsize), 1), Error::NotSupported),
      HasSubstr("changed.so: the system does not load it: "));
  const std::string symbol = PETREL_MODULE_SYMBOL;
  EXPECT_THAT(
      refusal(counter_with(symbol + '\0', "x" + symbol.substr(1) + '\0'), Error::InvalidProgram),
      EndsWith("changed.so: has no symbol " + symbol));
}

TEST(RefusedModule, MemoryThatCannotBeIsRefused) {
  const petrel_pool_info& pool = counter().pools[0];
  const std::string right = bytes_of(pool.bytes, pool.align);
  const auto with_pool = [&](size_t bytes, size_t align) {
    return counter_with(right, bytes_of(bytes, align));
  };
  const std::string name = std::string("pool '") + pool.name + "' of ";
  const size_t all = SIZE_MAX;
  EXPECT_EQ(refusal(with_pool(pool.bytes, 24), Error::MemoryAllocationFailed),
            name + std::to_string(pool.bytes) + " bytes aligned to 24 cannot be allocated");
  EXPECT_EQ(refusal(with_pool(all, pool.align), Error::MemoryAllocationFailed),
            name + std::to_string(all) + " bytes aligned to " + std::to_string(pool.align) +
                " cannot be allocated");
  EXPECT_EQ(refusal(with_pool(1, pool.align), Error::Internal),
            "model 'counter' refuses its memory with status -3");
}

TEST(RefusedModule, AContextThatCannotBeIsRefused) {
  const std::string right = bytes_of(counter().constant_bytes, counter().context_bytes);
  EXPECT_EQ(refusal(counter_with(right, bytes_of(counter().constant_bytes, SIZE_MAX)),
                    Error::MemoryAllocationFailed),
            "model 'counter': its context of 18446744073709551615 bytes cannot be allocated");
}

TEST(RefusedModule, TensorsAndSizesThatDoNotFitAreRefused) {
  auto module = CompiledModule::open("extension/compiled/librows.so");
  ASSERT_TRUE(module.ok());
  CompiledMethod& forward = **(*module)->method("forward");
  const auto set = [&](const Tensor& tensor) {
    const ErrorText said;
    EXPECT_EQ(forward.set_input(0, tensor), Error::InvalidArgument);
    return std::string(said.text());
  };
  const std::string words = "method 'forward': input 0 'input' is float32[0..16,8], a tensor of ";
  const std::string other = " is given or in another dim order";
  EXPECT_EQ(set(*zeros({17, 8})), words + "float32[17,8]" + other);
  EXPECT_EQ(set(*zeros({3, 7})), words + "float32[3,7]" + other);
  EXPECT_EQ(set(*zeros({8})), words + "float32[8]" + other);
  EXPECT_EQ(set(*zeros({3, 8, 1})), words + "float32[3,8,1]" + other);
  EXPECT_EQ(set(*zeros({3, 8}, ScalarType::Int)), words + "int32[3,8]" + other);
  std::array<int32_t, 2> sizes = {3, 8};
  runtime::TensorImpl nowhere(ScalarType::Float, 2, sizes.data(), nullptr);
  EXPECT_EQ(set(Tensor(&nowhere)), words + "float32[3,8] is given without data");
  const auto resize = [&](const std::vector<int32_t>& to) {
    const ErrorText said;
    EXPECT_EQ(forward.resize_input(0, to), Error::InvalidArgument);
    return std::string(said.text());
  };
  const std::string takes = "method 'forward': input 0 'input' takes sizes [0..16,8], ";
  EXPECT_EQ(resize({8}), takes + "[8] are given");
  EXPECT_EQ(resize({17, 8}), takes + "[17,8] are given");
  EXPECT_EQ(resize({-1, 8}), takes + "[-1,8] are given");
  EXPECT_EQ(resize({3, 7}), takes + "[3,7] are given");
}

TEST(RefusedModule, AStepThatFailsEndsTheRun) {
  auto module = CompiledModule::open("extension/compiled/libembedding.so");
  ASSERT_TRUE(module.ok());
  CompiledMethod& forward = **(*module)->method("forward");
  const Tensor words = *forward.get_input(0);
  uint32_t whole = 0;
  ASSERT_EQ(forward.run_steps([&](uint32_t) { ++whole; }), Error::Ok);
  std::fill_n(words.mutable_data_ptr<int64_t>(), words.numel(), 1'000'000);
  const std::string said_words =
      "method 'forward': status -5: an index in a tensor is out of range, or an integer is "
      "divided by 0";
  uint32_t done = 0;
  {
    const ErrorText said;
    EXPECT_EQ(forward.run_steps([&](uint32_t) { ++done; }), Error::InvalidArgument);
    EXPECT_EQ(said.text(), said_words);
  }
  EXPECT_LT(done, whole);
  const ErrorText said;
  EXPECT_EQ(forward.run(), Error::InvalidArgument);
  EXPECT_EQ(said.text(), said_words);
}

}  // namespace
}  // namespace petrel::extension
