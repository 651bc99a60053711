// SPDX-License-Identifier: Apache-2.0

// The kernels for every instruction set are in the library, and the machine's
// own are taken. What the machine has is read from the operating system's own
// list, not from cpuinfo, which XNNPACK asks.
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <xnnpack.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "xnnpack/config.h"
#include "xnnpack/gemm.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/igemm.h"

namespace {

class InstructionSetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
    hardware_ = xnn_init_hardware_config();
    ASSERT_NE(hardware_, nullptr);
  }

  const xnn_hardware_config* hardware_ = nullptr;
};

#if XNN_ARCH_ARM64

TEST_F(InstructionSetTest, HardwareIsWhatTheKernelReports) {
  EXPECT_EQ(hardware_->use_arm_neon_dot, (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0);
  EXPECT_EQ(hardware_->use_arm_neon_i8mm, (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0);
}

TEST_F(InstructionSetTest, FloatProductComputesRowsOfEightColumnsInNeon) {
  const xnn_gemm_config* config = xnn_init_f32_gemm_config();
  ASSERT_NE(config, nullptr);
  // Every kernel in C or assembly for NEON has this width, the scalar ones 4.
  EXPECT_EQ(config->nr, 8);
}

#else

bool machine_has(const std::string& flag) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("flags", 0) != 0) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (word == flag) return true;
    }
    return false;
  }
  return false;
}

const std::vector<std::string> kSkx = {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"};

bool machine_has_all(const std::vector<std::string>& flags) {
  return std::all_of(flags.begin(), flags.end(), machine_has);
}

TEST_F(InstructionSetTest, HardwareIsWhatTheKernelReports) {
  EXPECT_EQ(hardware_->use_x86_avx2, machine_has("avx2"));
  EXPECT_EQ(hardware_->use_x86_fma3, machine_has("fma"));
  EXPECT_EQ(hardware_->use_x86_avx512f, machine_has("avx512f"));
  EXPECT_EQ(hardware_->use_x86_avx512skx, machine_has_all(kSkx));
  EXPECT_EQ(hardware_->use_x86_avx512vnni, machine_has_all(kSkx) && machine_has("avx512_vnni"));
  EXPECT_EQ(hardware_->use_x86_avx512amx, machine_has_all(kSkx) && machine_has("avx512_vnni") &&
                                              machine_has("gfni") && machine_has("amx_int8"));
}

TEST_F(InstructionSetTest, FloatProductUsesAvx512WhereTheMachineHasIt) {
  const xnn_gemm_config* config = xnn_init_f32_gemm_config();
  ASSERT_NE(config, nullptr);
  // No other kernel of x86 has tiles of this size.
  const bool avx512 = config->mr == 14 && config->nr == 32;
  EXPECT_EQ(avx512, machine_has("avx512f"));
}

TEST_F(InstructionSetTest, Int8ProductUsesTilesWhereTheMachineHasThem) {
  const xnn_gemm_config* config = xnn_init_qd8_f32_qc8w_gemm_config();
  ASSERT_NE(config, nullptr);
  const bool tiles = config->minmax.dqgemm[0].function[0] ==
                     reinterpret_cast<xnn_dqgemm_ukernel_fn>(
                         xnn_qd8_f32_qc8w_gemm_minmax_ukernel_1x64c4__avx512amx);
  EXPECT_EQ(tiles, hardware_->use_x86_avx512amx != 0);
}

#endif  // XNN_ARCH_ARM64

}  // namespace
