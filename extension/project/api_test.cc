// SPDX-License-Identifier: Apache-2.0
#include "extension/project/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/status/status.h"

namespace petrel::extension {
namespace {

using ::testing::HasSubstr;

TEST(ApiTest, TellsWhatItCanDo) {
  const std::string answer = Api().answer(R"({"id": 5, "method": "server_info_query"})");
  EXPECT_THAT(answer, HasSubstr(R"("id":5,"result":{"name":"petrel","protocol_version":1)"));
  EXPECT_THAT(answer, HasSubstr("\"qemu-microbit\""));
}

TEST(ApiTest, WhatIsWrongWithARequestIsAnAnswer) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "is not JSON"},
      {"[1]", "a request must be an object"},
      {"{}", "method: is missing"},
      {R"({"method": 7})", "method: is missing, must be a text"},
      {R"({"method": "fly"})", "method: is 'fly', must be one of server_info_query"},
      {R"({"method": "build", "params": 1})", "params: is 1, must be an object"},
      {R"({"method": "build"})", "params.project: is missing or empty"},
      {R"({"method": "build", "params": {"project": "no/such"}})", "'no/such' has no project.json"},
      {R"({"method": "read_transport", "params": {"bytes": 1}})", "no transport is open"},
  };
  for (const auto& [request, expected] : cases) {
    const std::string answer = Api().answer(request);
    EXPECT_THAT(answer, HasSubstr("\"error\"")) << request;
    EXPECT_THAT(answer, HasSubstr(expected)) << request;
    EXPECT_EQ(answer.find('\n'), std::string::npos);
  }
}

TEST(ApiTest, TellsThatItIsAtWork) {
  EXPECT_EQ(Api::progress_line(R"({"id": 3, "method": "build"})", "at work"),
            R"({"id":3,"progress":"at work"})");
  EXPECT_EQ(Api::progress_line("no JSON", "at work"), R"({"id":null,"progress":"at work"})");
}

}  // namespace
}  // namespace petrel::extension
