// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/xnnpack_delegate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/packed_weights.h"
#include "backends/xnnpack/runtime/test_support.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::BackendOptions;
using runtime::Error;

TEST(XnnpackBackend, IsOneObjectUnderItsNameInPrograms) {
  EXPECT_STREQ(xnnpack_backend().name, "XnnpackBackend");
  EXPECT_EQ(xnnpack_backend().backend, xnnpack_backend().backend);
  EXPECT_TRUE(xnnpack_backend().backend->is_available());
}

TEST(XnnpackBackend, ReadsBackItsOptions) {
  runtime::BackendInterface& backend = *xnnpack_backend().backend;
  BackendOptions<3> options;
  ASSERT_EQ(options.set_option("num_threads", 2), Error::Ok);
  ASSERT_EQ(options.set_option("weight_cache_enabled", false), Error::Ok);
  ASSERT_EQ(options.set_option("workspace_sharing_mode", 2), Error::Ok);
  ASSERT_EQ(backend.set_option(options.view()), Error::Ok);
  BackendOptions<3> read;
  for (const char* key : {"num_threads", "weight_cache_enabled", "workspace_sharing_mode"}) {
    ASSERT_EQ(read.set_option(key, 0), Error::Ok);
  }
  ASSERT_EQ(backend.get_option(read.view()), Error::Ok);
  EXPECT_EQ(std::get<int>(read.view()[0].value), 2);
  EXPECT_EQ(std::get<bool>(read.view()[1].value), false);
  EXPECT_EQ(std::get<int>(read.view()[2].value), 2);
  ASSERT_EQ(options.set_option("num_threads", 0), Error::Ok);
  ASSERT_EQ(options.set_option("weight_cache_enabled", true), Error::Ok);
  ASSERT_EQ(backend.set_option(options.view()), Error::Ok);
}

// Option `key` is the first of `words` at first, and then what it is set to: the first at last.
void expect_words(const char* key, std::vector<const char*> words) {
  runtime::BackendInterface& backend = *xnnpack_backend().backend;
  const auto value = [&backend, key] {
    BackendOptions<1> read;
    EXPECT_EQ(read.set_option(key, ""), Error::Ok);
    EXPECT_EQ(backend.get_option(read.view()), Error::Ok);
    using Text = std::array<char, runtime::kMaxOptionValueLength>;
    return std::string(std::get<Text>(read.view()[0].value).data());
  };
  EXPECT_EQ(value(), words[0]);
  std::reverse(words.begin(), words.end());
  for (const char* word : words) {
    BackendOptions<1> options;
    ASSERT_EQ(options.set_option(key, word), Error::Ok);
    ASSERT_EQ(backend.set_option(options.view()), Error::Ok);
    EXPECT_EQ(value(), word);
  }
}

TEST(XnnpackBackend, KeepsToExactMathUnlessItIsAskedForFast) {
  expect_words("math", {"exact", "fast"});
}

TEST(XnnpackBackend, TakesHugePagesAsItIsAsked) {
  expect_words("huge_pages", {"auto", "on", "off"});
}

TEST(XnnpackBackend, TakesTilesAsItIsAsked) {
  expect_words("tiles", {"rule", "trial", "some/file.tiles"});
}

TEST(XnnpackBackend, RefusesOptionsItCannotMean) {
  const auto set = [](auto key, auto value) {
    BackendOptions<1> options;
    EXPECT_EQ(options.set_option(key, value), Error::Ok);
    return xnnpack_backend().backend->set_option(options.view());
  };
  EXPECT_EQ(set("no_such_option", 1), Error::NotSupported);
  EXPECT_EQ(set("num_threads", true), Error::InvalidType);
  EXPECT_EQ(set("num_threads", -1), Error::InvalidArgument);
  EXPECT_EQ(set("num_threads", 100000), Error::InvalidArgument);
  EXPECT_EQ(set("workspace_sharing_mode", 3), Error::InvalidArgument);
  EXPECT_EQ(set("math", "quick"), Error::InvalidArgument);
  EXPECT_EQ(set("math", true), Error::InvalidType);
  EXPECT_EQ(set("huge_pages", "yes"), Error::InvalidArgument);
  EXPECT_EQ(set("huge_pages", true), Error::InvalidType);
  EXPECT_EQ(set("tiles", ""), Error::InvalidArgument);
  EXPECT_EQ(set("tiles", true), Error::InvalidType);
}

TEST(XnnpackBackend, TakesSharingOfWeightsPerLoad) {
  TestMap map;
  map.data = {{"filter", std::vector<float>(54, 1.0f)}, {"bias", std::vector<float>(3, 0.0f)}};
  std::vector<uint8_t> payload = write_payload(small_cnn());
  const auto packed_by = [&](bool share) {
    BackendOptions<1> options;
    EXPECT_EQ(options.set_option("weight_cache_enabled", share), Error::Ok);
    runtime::BackendInitContext context(nullptr, nullptr, "forward", &map, options.view());
    runtime::FreeableBuffer processed(payload.data(), payload.size(), nullptr);
    const uint64_t before = PackedWeights::instance().stats().packed;
    auto handle = xnnpack_backend().backend->init(context, &processed, {});
    EXPECT_TRUE(handle.ok());
    EXPECT_EQ(processed.data(), nullptr) << "the payload is not needed any more";
    if (handle.ok()) xnnpack_backend().backend->destroy(*handle);
    return PackedWeights::instance().stats().packed - before;
  };
  EXPECT_EQ(packed_by(true), 1u);
  EXPECT_EQ(packed_by(false), 0u);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
