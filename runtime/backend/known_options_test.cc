// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/known_options.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/core/log.h"

namespace petrel::runtime {
namespace {

class LastMessage {
 public:
  LastMessage() : before_(set_log_hook({&write, this})) {}
  ~LastMessage() { set_log_hook(before_); }
  std::string text;

 private:
  static void write(void* self, LogLevel, const char* message) {
    static_cast<LastMessage*>(self)->text = message;
  }
  LogHook before_;
};

TEST(KnownOptions, NamesTheFirstThatIsUnknown) {
  constexpr const char* kKnown[] = {"threads", "mode"};
  BackendOptions<3> options;
  ASSERT_EQ(options.set_option("mode", 1), Error::Ok);
  EXPECT_EQ(refuse_unknown_options("Mine", options.view(), kKnown), Error::Ok);
  ASSERT_EQ(options.set_option("thread", 2), Error::Ok);
  ASSERT_EQ(options.set_option("modes", "x"), Error::Ok);
  LastMessage message;
  EXPECT_EQ(refuse_unknown_options("Mine", options.view(), kKnown), Error::NotSupported);
  EXPECT_EQ(message.text, "backend Mine has no option \"thread\"");
}

TEST(KnownOptions, ABackendWithoutOptionsRefusesAny) {
  BackendOptions<1> options;
  EXPECT_EQ(refuse_unknown_options("Mine", options.view(), {}), Error::Ok);
  ASSERT_EQ(options.set_option("x", true), Error::Ok);
  const LastMessage message;
  EXPECT_EQ(refuse_unknown_options("Mine", options.view(), {}), Error::NotSupported);
}

}  // namespace
}  // namespace petrel::runtime
