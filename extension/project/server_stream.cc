// SPDX-License-Identifier: Apache-2.0
#include "extension/project/server_stream.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"
#include "extension/project/server_call.h"

namespace petrel::extension {
namespace {

using Json = Api::Json;
using Clock = std::chrono::steady_clock;

constexpr int64_t kCallMs = 20'000;  // beside what the board may take
constexpr int64_t kOpenMs = 60'000;
constexpr int64_t kMostMs = 500;  // of one request, so that no server is silent for long
constexpr size_t kMostBytes = 65536;

class ServerStream : public BoardStream {
 public:
  explicit ServerStream(std::unique_ptr<Server> server) : server_(std::move(server)) {}

  ~ServerStream() override {
    // Whether it could be closed is of no use to anyone: the server ends now.
    if (is_open_) (void)server_->call("close_transport", Json::object(), kCallMs);
  }

  absl::Status open(const std::string& driver, const std::string& device) {
    Json params = {{"driver", driver}};
    if (!device.empty()) params["device"] = device;
    PETREL_RETURN_IF_ERROR(server_->call("open_transport", std::move(params), kOpenMs).status());
    is_open_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> read(size_t most, int64_t timeout_ms) override {
    const auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
    for (;;) {
      const int64_t wait_ms = std::clamp<int64_t>(left_ms(end), 0, kMostMs);
      const auto result = server_->call(
          "read_transport", {{"bytes", std::min(most, kMostBytes)}, {"timeout_ms", wait_ms}},
          wait_ms + kCallMs);
      if (absl::IsDeadlineExceeded(result.status()) && left_ms(end) > 0) continue;
      PETREL_RETURN_IF_ERROR(result.status());
      std::string bytes;
      if (!result->is_object() || !absl::Base64Unescape(text_of(*result), &bytes)) {
        return absl::InternalError("read_transport: data of its result must be bytes in base64");
      }
      if (bytes.size() > most) {
        return absl::InternalError(absl::StrCat("read_transport: gave ", bytes.size(),
                                                " bytes, was asked for ", most, " at most"));
      }
      return bytes;
    }
  }

  absl::Status write(absl::string_view bytes, int64_t timeout_ms) override {
    return server_
        ->call("write_transport", {{"data", absl::Base64Escape(bytes)}, {"timeout_ms", timeout_ms}},
               timeout_ms + kCallMs)
        .status();
  }

 private:
  static int64_t left_ms(Clock::time_point end) {
    return std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  }

  // No base64 where there is no such text.
  static std::string text_of(const Json& result) {
    const Json data = result.value("data", Json());
    return data.is_string() ? data.get<std::string>() : "?";
  }

  std::unique_ptr<Server> server_;
  bool is_open_ = false;
};

absl::StatusOr<bool> has_transport(Server& server) {
  PETREL_ASSIGN_OR_RETURN(const Json info,
                          server.call("server_info_query", Json::object(), kCallMs));
  const Json methods = info.is_object() ? info.value("methods", Json::array()) : Json::array();
  return std::find(methods.begin(), methods.end(), "open_transport") != methods.end();
}

}  // namespace

absl::StatusOr<std::unique_ptr<BoardStream>> open_any_stream(const Project& project,
                                                             const std::string& driver) {
  if (project.board.server.empty()) return open_stream(project, driver);
  PETREL_ASSIGN_OR_RETURN(auto server, Server::start(project));
  PETREL_ASSIGN_OR_RETURN(const bool opens, has_transport(*server));
  if (!opens) return open_stream(project, driver);
  auto stream = std::make_unique<ServerStream>(std::move(server));
  PETREL_RETURN_IF_ERROR(stream->open(driver, project.device));
  return stream;
}

}  // namespace petrel::extension
