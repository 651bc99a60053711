// SPDX-License-Identifier: Apache-2.0
#include "extension/device/session.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"
#include "extension/device/refusal.h"
#include "extension/module/error_text.h"
#include "runtime/micro/device/petrel_rpc_protocol.h"

namespace petrel::extension {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestRetry(1000);
// Of the first one, however slow the line is.
constexpr milliseconds kLongestFirstRetry(400);

uint16_t random_session() {
  static std::random_device device;
  return static_cast<uint16_t>(1 + device() % 0xffff);
}

}  // namespace

std::string request_name(uint8_t type) {
  constexpr const char* kNames[] = {"",          "HELLO",        "INFO",  "READ",     "WRITE",
                                    "CRC",       "FILL",         "RUN",   "RUN_OP",   "TIME",
                                    "TRACE",     "LOOKUP_PARAM", "STACK", "SELFTEST", "SET_SIZES",
                                    "GET_SIZES", "RESET_STATE",  "RESET", "TIMER",    "BULK"};
  if (type == 0 || type >= std::size(kNames)) return absl::StrCat("request ", type);
  return kNames[type];
}

absl::StatusOr<std::unique_ptr<Session>> Session::open(std::unique_ptr<Transport> transport,
                                                       std::string name, SessionOptions options) {
  std::unique_ptr<Session> session(
      new Session(std::move(transport), std::move(name), std::move(options)));
  PETREL_RETURN_IF_ERROR(session->hello());
  return session;
}

SessionStats Session::stats() const {
  SessionStats stats = stats_;
  stats.damaged = reader_.damaged();
  return stats;
}

absl::Status Session::send(const Message& request) {
  return transport_->write(encode_frame(request, hello_.crc_bits),
                           Clock::now() + options_.patience);
}

// What a frame means for the request that waits.
void Session::take(const Message& message, const Message& request, Reply* reply,
                   uint32_t* detail) const {
  if (message.version != PETREL_RPC_VERSION) {
    reply->failed = absl::FailedPreconditionError(
        absl::StrCat(name_, ": the device speaks version ", message.version,
                     " of the protocol, this program version ", PETREL_RPC_VERSION));
    return;
  }
  if (message.type == PETREL_RPC_LOG) {
    const std::string line(message.payload.begin(), message.payload.end());
    options_.on_log
        ? options_.on_log(line)
        : static_cast<void>(std::fprintf(stderr, "device: %s\n", printable(line).c_str()));
  } else if (message.type == PETREL_RPC_NAK || message.type == PETREL_RPC_BOOT) {
    reply->has_to_resend = true;  // a device that was started anew then says so
  } else if (message.session != request.session || message.sequence != request.sequence) {
    return;  // late, or doubled
  } else if (message.type == PETREL_RPC_BUSY) {
    reply->is_busy = true;
  } else if (message.type == PETREL_RPC_ERROR) {
    reply->failed = refusal_status(name_, message.payload, detail);
  } else if (message.type == (request.type | PETREL_RPC_ANSWER)) {
    reply->is_there = true;
    reply->payload = message.payload;
  }
}

absl::Status Session::wait_for(const Message& request, Clock::time_point until, Reply* reply,
                               uint32_t* detail) {
  uint8_t bytes[4096];
  PETREL_ASSIGN_OR_RETURN(const size_t got, transport_->read(bytes, sizeof bytes, until));
  reply->is_coming = got > 0;
  reader_.feed({bytes, got}, [&](const std::optional<Message>& message, int crc_bits) {
    if (reply->is_there || !reply->failed.ok()) return;  // the rest is late
    if (!message.has_value()) {
      reply->has_to_resend = true;  // it may have been the answer
      return;
    }
    reply->crc_bits = crc_bits;
    take(*message, request, reply, detail);
  });
  return absl::OkStatus();
}

absl::Status Session::silent(const Message& request, bool is_busy) const {
  const std::string what = absl::StrCat(name_, ": ", request_name(request.type));
  if (is_busy) {
    return absl::DeadlineExceededError(absl::StrCat(what,
                                                    ": the device began, and has said nothing for ",
                                                    options_.run_patience.count(), " ms"));
  }
  const bool is_hello = request.type == PETREL_RPC_HELLO;
  const auto waited = is_hello ? options_.start_timeout : options_.patience;
  std::string text =
      absl::StrCat(what, ": the device does not answer within ", waited.count(), " ms");
  if (reader_.damaged() > 0) {
    absl::StrAppend(&text, "; ", reader_.damaged(), " frames that came are damaged or none");
  }
  return absl::DeadlineExceededError(text);
}

absl::Status Session::late(const Message& request) const {
  return absl::DeadlineExceededError(
      absl::StrCat(name_, ": ", request_name(request.type),
                   ": the device is not done in the time for it, at most ",
                   options_.longest_request.count(), " ms"));
}

absl::StatusOr<Session::Reply> Session::converse(const Message& request, uint32_t* detail,
                                                 Clock::time_point end) {
  const bool is_hello = request.type == PETREL_RPC_HELLO;
  ++stats_.requests;
  // A slow line must not carry everything twice.
  milliseconds pause =
      std::max(options_.retry_after, std::min(2 * round_trip_, kLongestFirstRetry));
  bool is_busy = false;
  const Clock::time_point begun = Clock::now();
  end = std::min(end, begun + options_.longest_request);
  Clock::time_point last_sign = begun, last_sent = begun;
  PETREL_RETURN_IF_ERROR(send(request));
  while (true) {
    const Clock::time_point give_up = std::min(end, last_sign + (is_busy    ? options_.run_patience
                                                                 : is_hello ? options_.start_timeout
                                                                            : options_.patience));
    Reply reply;
    PETREL_RETURN_IF_ERROR(wait_for(request, std::min(give_up, last_sent + pause), &reply, detail));
    if (!reply.failed.ok()) return reply.failed;
    const Clock::time_point now = Clock::now();
    if (reply.is_there) {
      if (!is_busy) round_trip_ = std::chrono::duration_cast<milliseconds>(now - begun);
      return reply;
    }
    if (reply.is_coming) last_sent = now;  // its answer is on the way
    if (reply.is_busy) {
      is_busy = true;
      last_sign = now;
    }
    if (now >= end) return late(request);
    if (now >= give_up) return silent(request, is_busy);
    if (!reply.has_to_resend && now < last_sent + pause) continue;
    // A line on which nothing comes through must not be flooded.
    if (!reply.has_to_resend) pause = std::min(pause * 2, kLongestRetry);
    // Nobody knows yet which CRC the device has.
    if (is_hello) hello_.crc_bits = 48 - hello_.crc_bits;
    ++stats_.resent;
    last_sent = now;
    PETREL_RETURN_IF_ERROR(send(request));
  }
}

absl::Status Session::hello() {
  hello_.crc_bits = 32;
  reader_.set_crc_bits(0);
  const uint16_t before = session_;
  while (session_ == before) session_ = random_session();
  sequence_ = 0;
  Message request{PETREL_RPC_VERSION, PETREL_RPC_HELLO, session_, sequence_, {}};
  put16(&request.payload, kLongestAnswer);
  PETREL_ASSIGN_OR_RETURN(const Reply reply, converse(request, nullptr, Clock::time_point::max()));
  return read_hello(reply.payload, reply.crc_bits);
}

absl::Status Session::read_hello(const Bytes& payload, int crc_bits) {
  const uint8_t* bytes = payload.data();
  if (payload.size() < PETREL_RPC_HELLO_BYTES || bytes[2] != crc_bits || get16(bytes) < 32) {
    return absl::DataLossError(absl::StrCat(name_, ": the device's hello makes no sense"));
  }
  if ((bytes[3] & 1) == 0) {
    return absl::UnimplementedError(
        absl::StrCat(name_, ": the device is big-endian; its tensors cannot be exchanged yet"));
  }
  reader_.set_crc_bits(crc_bits);
  hello_.longest_request = get16(bytes);
  hello_.crc_bits = crc_bits;
  hello_.features = get32(bytes + 4);
  hello_.boot_count = get32(bytes + 8);
  hello_.timer_hz = get32(bytes + 12);
  hello_.timer_bits = bytes[16];
  hello_.timer_flags = bytes[17];
  hello_.build_id = get32(bytes + 20);
  hello_.model_hash.clear();
  for (size_t i = 24; i < 40; ++i) {
    absl::StrAppend(&hello_.model_hash, absl::Hex(bytes[i], absl::kZeroPad2));
  }
  return absl::OkStatus();
}

absl::StatusOr<Bytes> Session::ask(uint8_t type, const Bytes& payload, uint32_t* detail,
                                   Clock::time_point end) {
  if (payload.size() > hello_.longest_request) {
    return absl::InvalidArgumentError(absl::StrCat(name_, ": ", request_name(type), " has ",
                                                   payload.size(), " bytes, the device takes ",
                                                   hello_.longest_request, " at most"));
  }
  const Message request{PETREL_RPC_VERSION, type, session_, ++sequence_, payload};
  PETREL_ASSIGN_OR_RETURN(Reply reply, converse(request, detail, end));
  return std::move(reply.payload);
}

}  // namespace petrel::extension
