// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/registry.h"

#include <gtest/gtest.h>

namespace petrel::runtime {
namespace {

TEST(RegistryTest, HoldsWhatTheBuildLists) {
  const Registry& registry = default_registry();
  EXPECT_EQ(registry.kernels().size(), 2u);
  EXPECT_NE(registry.find_kernel("test::only"), nullptr);
  EXPECT_EQ(registry.find_kernel("test::only.out"), nullptr);
  EXPECT_NE(registry.find_backend("Quiet"), nullptr);
  EXPECT_EQ(registry.find_backend("quiet"), nullptr);
}

TEST(RegistryTest, PrefersTheFirstLibrary) {
  const Registry& registry = default_registry();
  const Kernel* const kernel = registry.find_kernel("test::both.out");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel, registry.kernels()[0]().data());
}

TEST(RegistryTest, SetsOptionsOfBackends) {
  const Registry& registry = default_registry();
  BackendOptions<1> options;
  EXPECT_EQ(options.set_option("level", 3), Error::Ok);
  EXPECT_EQ(registry.set_option("Quiet", options.view()), Error::Ok);
  BackendOption answer;
  EXPECT_EQ(registry.get_option("Quiet", {&answer, 1}), Error::Ok);
  EXPECT_EQ(std::get<int>(answer.value), 3);
  EXPECT_EQ(registry.set_option("Nobody", options.view()), Error::NotFound);
}

TEST(BackendOptionsTest, KeepsWithinItsRoom) {
  BackendOptions<2> options;
  EXPECT_EQ(options.set_option("a", true), Error::Ok);
  EXPECT_EQ(options.set_option("b", "text"), Error::Ok);
  EXPECT_EQ(options.set_option("c", 1), Error::InvalidArgument);
  EXPECT_EQ(options.set_option("a", 5), Error::Ok);  // Replaced.
  EXPECT_EQ(options.view().size(), 2u);
  EXPECT_EQ(get_option_value<int>(options.view(), "a").get(), 5);
  EXPECT_STREQ(get_option_value<const char*>(options.view(), "b").get(), "text");
  EXPECT_EQ(get_option_value<bool>(options.view(), "a").error(), Error::InvalidType);
  EXPECT_EQ(get_option_value<bool>(options.view(), "x").error(), Error::NotFound);
  BackendOptions<1> long_text;
  EXPECT_EQ(long_text.set_option(std::string(64, 'k'), 1), Error::InvalidArgument);
  EXPECT_EQ(long_text.set_option("k", std::string(256, 'v').c_str()), Error::InvalidArgument);
  EXPECT_EQ(long_text.view().size(), 0u);
}

TEST(LoadBackendOptionsMapTest, FindsOptionsByBackend) {
  BackendOptions<1> options;
  EXPECT_EQ(options.set_option("level", 3), Error::Ok);
  LoadBackendOptionsMap map;
  EXPECT_EQ(map.set_options("Quiet", options.view()), Error::Ok);
  EXPECT_EQ(map.get_options("Quiet").size(), 1u);
  EXPECT_EQ(map.get_options("Other").size(), 0u);
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(map.set_options(std::to_string(i), options.view()), Error::Ok);
  }
  EXPECT_EQ(map.set_options("Ninth", options.view()), Error::InvalidArgument);
}

}  // namespace
}  // namespace petrel::runtime
