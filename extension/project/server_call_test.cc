// SPDX-License-Identifier: Apache-2.0
#include "extension/project/server_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace petrel::extension {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = Api::Json;

Project served_by_words(std::vector<std::string> words) {
  Project project;
  project.folder = ".";
  project.board.name = "other";
  project.board.server = std::move(words);
  project.board.server_seconds = 1;
  return project;
}

// A project of a server that is a script.
Project served_by(const std::string& script) { return served_by_words({"sh", "-c", script}); }

std::string refusal(const Project& project, const ServerBounds& bounds) {
  const auto began = std::chrono::steady_clock::now();
  const auto result = call_server(project, "build", Json::object(), bounds);
  EXPECT_FALSE(result.ok());
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(15));
  std::string text(result.status().message());
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  return text;
}

TEST(ServerCallTest, AnotherServerAnswers) {
  const Project project =
      served_by(R"~(read line; echo starting; case "$line" in *'"method":"build"'*) )~"
                R"~(echo '{"id": 1, "result": {"image": "x.elf"}}';; esac; sleep 1000)~");
  const auto result = call_server(project, "build", Json::object(), {20000});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)["image"], "x.elf");
}

TEST(ServerCallTest, WhoTellsHowFarItIsMayTakeLong) {
  const Project project = served_by(
      R"~(for i in 1 2 3 4; do sleep 0.5; echo "{\"id\": 1, \"progress\": \"step $i\"}"; done; )~"
      R"~(echo chatter; echo '{"id": 2, "progress": "of another"}'; )~"
      R"~(echo '{"id": 1, "result": {}}')~");
  std::vector<std::string> said;
  ServerBounds bounds(20000);
  bounds.on_progress = [&](const std::string& text) { said.push_back(text); };
  const auto result = call_server(project, "build", Json::object(), bounds);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(said, ElementsAre("step 1", "step 2", "step 3", "step 4"));
}

TEST(ServerCallTest, ServersThatFailOrTalkNonsenseAreErrors) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(echo '{"id": 1, "error": {"message": "no west"}}')",
       "server 'sh', method 'build': no west"},
      {R"(echo '{"id": 1}')", "answered with neither result nor error"},
      {R"(echo '{"id": 1, "error": 5}')", "answered with neither result nor error"},
      {"echo hello", "server 'sh', method 'build': it ended without an answer"},
      {"true", "server 'sh', method 'build': it ended without an answer"},
      {"echo '{\"id\": 1, \"result'; sleep 1000",
       R"(server 'sh', method 'build': it wrote '{"id": 1, "result', which is not JSON)"},
  };
  for (const auto& [script, expected] : cases) {
    EXPECT_THAT(refusal(served_by(script), {20000}), HasSubstr(expected)) << script;
  }
}

TEST(ServerCallTest, NoServerIsWaitedForForEver) {
  const char* const silent =
      "': no answer, and it wrote nothing for 1 s, which is server_seconds of the board";
  EXPECT_EQ(refusal(served_by_words({"sleep", "1000"}), {20000}),
            std::string("server 'sleep', method 'build") + silent);
  EXPECT_THAT(refusal(served_by_words({"yes", "{"}), {20000}),
              HasSubstr("': it wrote '{', which is not JSON"));
  EXPECT_THAT(refusal(served_by("echo hello; sleep 1000"), {20000}), HasSubstr(silent));
  EXPECT_EQ(refusal(served_by_words({"yes", "hello"}), {20000, 1 << 20}),
            "server 'yes', method 'build': it wrote no answer and more than 1048576 bytes");
  EXPECT_EQ(refusal(served_by("tr '\\0' x < /dev/zero"), {20000}),
            "server 'sh', method 'build': it wrote a line of more than 4194304 bytes");
  const Project talking = served_by("while sleep 0.1; do echo on it; done");
  EXPECT_EQ(refusal(talking, {1500}), "server 'sh', method 'build': no answer within 1.5 s");
}

}  // namespace
}  // namespace petrel::extension
