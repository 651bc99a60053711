// SPDX-License-Identifier: Apache-2.0
#include "extension/device/device_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "extension/device/frame.h"
#include "runtime/micro/device/petrel_rpc_protocol.h"

namespace petrel::extension {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

void put_text(Bytes* out, const std::string& text) {
  out->insert(out->end(), text.begin(), text.end());
  out->push_back(0);
}

Bytes tensor_of(const std::vector<uint32_t>& sizes, uint32_t bytes) {
  Bytes out;
  put_text(&out, "x");
  put_text(&out, "x");
  put32(&out, 6);  // float
  put16(&out, static_cast<uint32_t>(sizes.size()));
  for (const uint32_t size : sizes) put32(&out, size);
  for (size_t d = 0; d < sizes.size(); ++d) out.push_back(static_cast<uint8_t>(d));
  put32(&out, bytes);
  out.push_back(0);
  return out;
}

// What a device says that has `methods` methods without a plan, each with `inputs` times an input
// and no output.
Bytes info_of(uint32_t methods, uint32_t inputs, const Bytes& input) {
  Bytes out;
  put32(&out, PETREL_RPC_INFO_VERSION);
  put_text(&out, "board");
  put_text(&out, "model");
  put_text(&out, "00");
  put32(&out, 0);
  put32(&out, 0);
  out.push_back(0);
  put32(&out, methods);
  for (uint32_t m = 0; m < methods; ++m) {
    put_text(&out, "forward");
    put32(&out, inputs);
    for (uint32_t i = 0; i < inputs; ++i) out.insert(out.end(), input.begin(), input.end());
    put32(&out, 0);
    put32(&out, 64);
    out.push_back(0);
  }
  return out;
}

// What a device says whose method has one tensor and `steps` steps that read it `reads` times.
Bytes info_with_steps(uint32_t steps, uint32_t reads) {
  Bytes out = info_of(1, 0, {});
  out[27] = 1;  // behind the version, three texts and two numbers: there are plans
  put32(&out, 1);
  put_text(&out, "t");
  put32(&out, 6);
  put16(&out, 0);  // no dims
  put16(&out, 0);
  put32(&out, 0);
  put32(&out, 4);
  put16(&out, 0);
  put16(&out, 0);
  put32(&out, steps);
  for (uint32_t s = 0; s < steps; ++s) {
    for (int text = 0; text < 3; ++text) put_text(&out, "");
    put16(&out, reads);
    for (uint32_t i = 0; i < reads; ++i) put16(&out, 0);
    put16(&out, 0);
  }
  return out;
}

std::string problem_of(const Bytes& bytes) {
  const auto info = parse_device_info("mine", bytes);
  return std::string(info.status().message());
}

TEST(DeviceInfoTest, WhatFitsIsRead) {
  EXPECT_THAT(problem_of(info_of(256, 2, tensor_of({2, 3}, 24))), IsEmpty());
  EXPECT_THAT(problem_of(info_of(1, 1, tensor_of({1 << 28}, 1 << 30))), IsEmpty());
  EXPECT_THAT(problem_of(info_of(1, 1, tensor_of({1 << 20, 0}, 0))), IsEmpty());
}

// Behind the part that there is lies memory that nobody may read.
TEST(DeviceInfoTest, WhatEndsEarlyIsReadToItsEnd) {
  const Bytes whole = info_with_steps(3, 2);
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  ASSERT_LE(whole.size(), page);
  void* const memory =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  uint8_t* const end = static_cast<uint8_t*>(memory) + page;
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  for (size_t size = 4; size < whole.size(); ++size) {
    std::copy_n(whole.begin(), size, end - size);
    const auto info = parse_device_info("mine", {end - size, size});
    EXPECT_THAT(std::string(info.status().message()),
                HasSubstr("what the device says of its model is damaged: it "))
        << size;
  }
  munmap(memory, 2 * page);
}

TEST(DeviceInfoTest, TensorsThatNoHostHasMemoryForAreRefused) {
  EXPECT_THAT(problem_of(info_of(1, 1, tensor_of({1 << 29}, 1u << 31))),
              HasSubstr("mine: what the device says of its model is damaged: tensor 'x' has too "
                        "many elements"));
  EXPECT_THAT(problem_of(info_of(1, 5, tensor_of({1 << 26}, 1 << 28))),
              HasSubstr("its inputs and outputs have more than 1073741824 bytes"));
}

TEST(DeviceInfoTest, TensorsThatTheAppDoesNotAllowAreRefused) {
  const Bytes bytes = info_of(1, 5, tensor_of({1 << 18}, 1 << 20));
  EXPECT_TRUE(parse_device_info("mine", bytes, 5 << 20).ok());
  EXPECT_THAT(std::string(parse_device_info("mine", bytes, (5 << 20) - 1).status().message()),
              HasSubstr("its inputs and outputs have more than 5242879 bytes, which is "
                        "max_input_bytes"));
}

TEST(DeviceInfoTest, SizesBesideAZeroAreCountedAsWell) {
  const uint32_t most = INT32_MAX;
  EXPECT_THAT(problem_of(info_of(1, 1, tensor_of({0, most, most, most, most}, 0))),
              HasSubstr("tensor 'x' has too many elements"));
}

TEST(DeviceInfoTest, MorePartsThanRequestsCanNameAreRefused) {
  EXPECT_THAT(problem_of(info_of(257, 0, {})),
              HasSubstr("it has 257 parts of a kind, of at most 256"));
  EXPECT_THAT(problem_of(info_of(1, 4097, tensor_of({1}, 4))),
              HasSubstr("it has 4097 parts of a kind, of at most 4096"));
}

// Ten bytes each, of which the host would make some hundred.
TEST(DeviceInfoTest, PartsOfAllMethodsAreCounted) {
  EXPECT_THAT(problem_of(info_of(256, 1024, tensor_of({}, 4))),
              HasSubstr("it has more than 262144 parts"));
}

// Two bytes each, which are followed for each tensor that the step writes.
TEST(DeviceInfoTest, WhatStepsReadAndWriteIsPartOfThem) {
  EXPECT_THAT(problem_of(info_with_steps(3, UINT16_MAX)), HasSubstr("lies outside of its memory"));
  EXPECT_THAT(problem_of(info_with_steps(5, UINT16_MAX)),
              HasSubstr("it has more than 262144 parts"));
}

}  // namespace
}  // namespace petrel::extension
