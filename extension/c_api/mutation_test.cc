// SPDX-License-Identifier: Apache-2.0
//
// Damaged files through the C interface: an error with a text, or a run.

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "extension/c_api/petrel.h"
#include "gtest/gtest.h"

namespace petrel {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Loads and runs what there is; the status of the first call that failed.
petrel_status try_everything(const std::string& program, const std::string& data) {
  petrel_options* options = nullptr;
  EXPECT_EQ(petrel_options_create(&options), PETREL_OK);
  EXPECT_EQ(petrel_options_set_num_threads(options, 1), PETREL_OK);
  if (!data.empty()) {
    EXPECT_EQ(petrel_options_add_data_buffer(options, data.data(), data.size(), PETREL_BORROW),
              PETREL_OK);
  }
  petrel_module* module = nullptr;
  petrel_status status =
      petrel_module_load_buffer(program.data(), program.size(), PETREL_BORROW, options, &module);
  petrel_options_destroy(options);
  if (status != PETREL_OK) {
    EXPECT_EQ(module, nullptr);
    EXPECT_STRNE(petrel_error_text(), "");
    return status;
  }
  size_t methods = 0;
  EXPECT_EQ(petrel_module_num_methods(module, &methods), PETREL_OK);
  for (size_t m = 0; m < methods && status == PETREL_OK; ++m) {
    const char* name = nullptr;
    EXPECT_EQ(petrel_module_method_name(module, m, &name), PETREL_OK);
    size_t inputs = 0;
    EXPECT_EQ(petrel_module_num_inputs(module, name, &inputs), PETREL_OK);
    std::vector<std::string> bytes(inputs);
    for (size_t i = 0; i < inputs && status == PETREL_OK; ++i) {
      petrel_value info;
      PETREL_VALUE_INIT(&info);
      status = petrel_module_input_info(module, name, i, &info);
      if (status != PETREL_OK || info.nbytes > (size_t{1} << 24)) break;
      bytes[i].resize(info.nbytes);
      info.data = bytes[i].data();
      status = petrel_module_set_input(module, name, i, &info);
    }
    if (status == PETREL_OK) status = petrel_module_run(module, name);
    petrel_value out;
    PETREL_VALUE_INIT(&out);
    if (status == PETREL_OK) {
      status = petrel_module_get_output(module, name, 0, &out);
      // What was said to be there can be read.
      unsigned sum = 0;
      for (size_t b = 0; b < out.nbytes; ++b) sum += static_cast<unsigned char*>(out.data)[b];
      EXPECT_LE(sum, 255u * out.nbytes);
    }
    if (status != PETREL_OK) {
      EXPECT_STRNE(petrel_error_text(), "");
    }
  }
  petrel_module_destroy(module);
  return status;
}

constexpr char kFolder[] = "extension/c_api/";

TEST(MutationTest, UndamagedFilesRun) {
  EXPECT_EQ(try_everything(read_file(std::string(kFolder) + "external.pte"),
                           read_file(std::string(kFolder) + "external.ptd")),
            PETREL_OK);
  EXPECT_EQ(try_everything(read_file(std::string(kFolder) + "kernels_two.pte"),
                           read_file(std::string(kFolder) + "kernels_two.ptd")),
            PETREL_OK);
}

TEST(MutationTest, EveryDamagedByteOfAProgramIsAnErrorOrARun) {
  const std::string data = read_file(std::string(kFolder) + "external.ptd");
  const std::string whole = read_file(std::string(kFolder) + "external.pte");
  size_t refused = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      refused += try_everything(damaged, data) != PETREL_OK;
    }
  }
  EXPECT_GT(refused, whole.size() / 4);
}

TEST(MutationTest, EveryShortProgramIsAnError) {
  const std::string whole = read_file(std::string(kFolder) + "external.pte");
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    petrel_module* module = nullptr;
    EXPECT_NE(petrel_module_load_buffer(cut.data(), cut.size(), PETREL_BORROW, nullptr, &module),
              PETREL_OK)
        << size;
  }
}

TEST(MutationTest, EveryDamagedByteOfTheIndexOfDataIsAnErrorOrARun) {
  const std::string program = read_file(std::string(kFolder) + "kernels_two.pte");
  const std::string whole = read_file(std::string(kFolder) + "kernels_two.ptd");
  for (size_t i = 0; i < 1024 && i < whole.size(); ++i) {
    for (const int change : {0x01, 0xff}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      try_everything(program, damaged);
    }
  }
}

}  // namespace
}  // namespace petrel
