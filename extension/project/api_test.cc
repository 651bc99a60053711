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

// A project of a server that is a script.
Project served_by(const std::string& script) {
  Project project;
  project.folder = ".";
  project.board.name = "other";
  project.board.server = {"sh", "-c", script};
  return project;
}

TEST(ApiTest, AnotherServerAnswers) {
  const Project project =
      served_by(R"~(read line; echo starting; case "$line" in *'"method":"build"'*) )~"
                R"~(echo '{"id": 1, "result": {"image": "x.elf"}}';; esac; sleep 1000)~");
  const auto result = call_server(project, "build", Api::Json::object(), 20000);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)["image"], "x.elf");
}

TEST(ApiTest, ServersThatFailHangOrTalkNonsenseAreErrors) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(echo '{"id": 1, "error": {"message": "no west"}}')", "server 'sh': no west"},
      {R"(echo '{"id": 1}')", "answered with neither result nor error"},
      {R"(echo '{"id": 1, "error": 5}')", "answered with neither result nor error"},
      {"echo hello", "'sh' ended without an answer"},
      {"true", "'sh' "},
  };
  for (const auto& [script, expected] : cases) {
    const auto result = call_server(served_by(script), "build", Api::Json::object(), 20000);
    EXPECT_FALSE(result.ok()) << script;
    EXPECT_THAT(std::string(result.status().message()), HasSubstr(expected)) << script;
  }
  const auto late = call_server(served_by("sleep 1000"), "build", Api::Json::object(), 100);
  EXPECT_TRUE(absl::IsDeadlineExceeded(late.status())) << late.status();
}

}  // namespace
}  // namespace petrel::extension
