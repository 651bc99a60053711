// SPDX-License-Identifier: Apache-2.0
#include "extension/project/server_call.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/json/json_text.h"
#include "exir/status_macros.h"
#include "extension/project/child.h"

namespace petrel::extension {
namespace {

using Json = Api::Json;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr size_t kMaxPiece = 65536;
constexpr size_t kMaxLine = size_t{4} << 20;
constexpr size_t kMaxShown = 200;
constexpr int64_t kSecond = 1000;

// One call of a server that runs.
class ServerCall {
 public:
  ServerCall(const Project& project, const std::string& method, int id, const ServerBounds& bounds)
      : project_(project),
        bounds_(bounds),
        id_(id),
        silence_ms_(kSecond * project.board.server_seconds),
        end_(Clock::now() + std::chrono::milliseconds(bounds.total_ms)),
        place_(absl::StrCat("server '", project.board.server[0], "', method '", method, "': ")) {}

  absl::StatusOr<Json> run(const Json& request, Child& child, std::string& text) {
    const absl::Status sent = child.write(exir::json_text(request) + "\n", wait_ms());
    // One that ended may have answered.
    if (absl::IsDeadlineExceeded(sent)) return too_late("did not read the request");
    PETREL_ASSIGN_OR_RETURN(const Json answer, find_answer(child, text));
    if (answer.contains("result")) return answer["result"];
    const Json error = answer.value("error", Json::object());
    const bool has_message =
        error.is_object() && error.contains("message") && error["message"].is_string();
    const std::string said =
        absl::StrCat(place_, has_message ? error["message"].get<std::string>()
                                         : "answered with neither result nor error");
    const bool is_late = error.is_object() && error.value("code", Json()) == kNothingCame;
    return is_late ? absl::DeadlineExceededError(said) : absl::InternalError(said);
  }

 private:
  static constexpr int kNothingCame = static_cast<int>(absl::StatusCode::kDeadlineExceeded);

  // The first line that is the answer to this request; others are chatter. Leaves what is behind
  // it in `text`.
  absl::StatusOr<Json> find_answer(Child& child, std::string& text) {
    size_t bytes = 0;
    for (;;) {
      size_t begin = 0;
      for (size_t end; (end = text.find('\n', begin)) != std::string::npos;) {
        PETREL_ASSIGN_OR_RETURN(std::optional<Json> answer, read(text.substr(begin, end - begin)));
        begin = end + 1;
        if (!answer.has_value()) continue;
        text.erase(0, begin);
        return *std::move(answer);
      }
      text.erase(0, begin);
      if (text.size() > kMaxLine) return too_much("a line of", kMaxLine);
      const absl::StatusOr<std::string> piece = child.read(kMaxPiece, wait_ms());
      if (!piece.ok()) return too_late("no answer");
      if (piece->empty()) return absl::UnavailableError(place_ + "it ended without an answer");
      bytes += piece->size();
      if (bytes > bounds_.most_bytes) return too_much("no answer and", bounds_.most_bytes);
      text += *piece;
    }
  }

  // nullopt for a line that is no answer.
  absl::StatusOr<std::optional<Json>> read(const std::string& line) const {
    // What compilers say begins with other letters.
    if (line.empty() || line[0] != '{') return std::nullopt;
    const auto json = exir::parse_json(line);
    if (!json.ok()) {
      return absl::InternalError(
          absl::StrCat(place_, "it wrote '", line.substr(0, kMaxShown), "', which is not JSON"));
    }
    if (json->value("id", Json()) != id_) return std::nullopt;
    if (!json->contains("progress")) return *json;
    const Json& progress = (*json)["progress"];
    if (bounds_.on_progress && progress.is_string()) {
      bounds_.on_progress(progress.get<std::string>());
    }
    return std::nullopt;
  }

  int64_t left_ms() const {
    return std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
  }

  int64_t wait_ms() const { return std::clamp<int64_t>(left_ms(), 0, silence_ms_); }

  absl::Status too_late(const char* what) const {
    if (left_ms() <= 0) {
      return absl::UnavailableError(absl::StrCat(
          place_, what, " within ", static_cast<double>(bounds_.total_ms) / kSecond, " s"));
    }
    return absl::UnavailableError(absl::StrCat(place_, what, ", and it wrote nothing for ",
                                               project_.board.server_seconds,
                                               " s, which is server_seconds of the board"));
  }

  absl::Status too_much(const char* what, size_t bytes) const {
    return absl::ResourceExhaustedError(
        absl::StrCat(place_, "it wrote ", what, " more than ", bytes, " bytes"));
  }

  const Project& project_;
  const ServerBounds& bounds_;
  const int id_;
  const int64_t silence_ms_;
  const Clock::time_point end_;
  const std::string place_;  // what errors begin with
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::start(const Project& project) {
  auto server = std::unique_ptr<Server>(new Server(project));
  Child::Options options;
  options.folder = project.folder;
  options.joins_errors = false;
  PETREL_RETURN_IF_ERROR(server->child_.start(project.board.server, options));
  return server;
}

absl::StatusOr<Json> Server::call(const std::string& method, Json params,
                                  const ServerBounds& bounds) {
  std::error_code ignored;
  params["project"] = fs::absolute(project_.folder, ignored).string();
  const Json request = {{"id", ++id_}, {"method", method}, {"params", std::move(params)}};
  return ServerCall(project_, method, id_, bounds).run(request, child_, text_);
}

absl::StatusOr<Json> call_server(const Project& project, const std::string& method, Json params,
                                 const ServerBounds& bounds) {
  if (project.board.server.empty()) {
    std::error_code ignored;
    params["project"] = fs::absolute(project.folder, ignored).string();
    return Api().call(method, params);
  }
  PETREL_ASSIGN_OR_RETURN(const auto server, Server::start(project));
  return server->call(method, std::move(params), bounds);
}

}  // namespace petrel::extension
