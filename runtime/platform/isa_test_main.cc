// SPDX-License-Identifier: Apache-2.0
//
// main() of tests that can be run at any level:
//
//   operators_test --isa=avx2
//   operators_test --isa=list     the levels that this machine has, one a line
#include <cstdio>
#include <string_view>

#include "gtest/gtest.h"
#include "runtime/platform/isa_level.h"

namespace {

using petrel::runtime::IsaLevel;

constexpr std::string_view kOption = "--isa=";

void print_levels() {
  for (const IsaLevel& level : petrel::runtime::isa_levels()) {
    if (is_available(level)) std::printf("%s\n", level.name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Before GoogleTest, which makes the list of tests, and that may depend on it.
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.substr(0, kOption.size()) != kOption) {
      argv[kept++] = argv[i];
      continue;
    }
    const std::string_view level = argument.substr(kOption.size());
    if (level == "list") return print_levels(), 0;
    if (petrel::runtime::set_isa_level(level) != petrel::runtime::Error::Ok) return 2;
  }
  argc = kept;
  argv[argc] = nullptr;
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1) {
    std::fprintf(stderr, "unknown argument '%s', expected --isa=LEVEL\n", argv[1]);
    return 2;
  }
  return RUN_ALL_TESTS();
}
