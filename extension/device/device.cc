// SPDX-License-Identifier: Apache-2.0
#include "extension/device/device.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"
#include "extension/device/device_method.h"

namespace petrel::extension {
namespace {

// What a device says of its model has this many bytes at most; a device that goes on for ever
// must not fill memory.
constexpr uint32_t kMostInfoBytes = 1 << 26;

Bytes place_of(DeviceMemory memory, size_t offset) {
  Bytes payload = {memory.what, memory.method};
  put16(&payload, memory.index);
  put32(&payload, static_cast<uint32_t>(offset));
  return payload;
}

}  // namespace

Device::Device(std::unique_ptr<Session> session) : session_(std::move(session)) {}
Device::~Device() = default;

absl::StatusOr<std::unique_ptr<Device>> Device::open(const std::string& spec,
                                                     SessionOptions options) {
  PETREL_ASSIGN_OR_RETURN(auto transport, open_transport(spec, options.start_timeout));
  return open(std::move(transport), spec, std::move(options));
}

absl::StatusOr<std::unique_ptr<Device>> Device::open(std::unique_ptr<Transport> transport,
                                                     const std::string& name,
                                                     SessionOptions options) {
  PETREL_ASSIGN_OR_RETURN(auto session,
                          Session::open(std::move(transport), name, std::move(options)));
  std::unique_ptr<Device> device(new Device(std::move(session)));
  absl::StatusOr<DeviceInfo> info = device->read_info();
  // It may have been started anew while it said what it is.
  for (int again = 0; again < 2 && absl::IsAborted(info.status()); ++again) {
    PETREL_RETURN_IF_ERROR(device->session_->hello());
    info = device->read_info();
  }
  if (!info.ok()) return info.status();
  device->info_ = *std::move(info);
  if (!absl::StartsWith(device->info_.sha256, device->hello().model_hash)) {
    return absl::DataLossError(absl::StrCat(name, ": the device says two hashes of its model"));
  }
  for (size_t i = 0; i < device->info_.methods.size(); ++i) {
    device->methods_.push_back(std::make_unique<DeviceMethod>(*device, static_cast<uint8_t>(i)));
  }
  return device;
}

absl::StatusOr<DeviceInfo> Device::read_info() {
  // A device that says a byte at a time would be listened to for days.
  const auto patience = session_->options().info_patience;
  const auto end = Transport::Clock::now() + patience;
  Bytes all;
  while (true) {
    Bytes offset;
    put32(&offset, static_cast<uint32_t>(all.size()));
    const absl::StatusOr<Bytes> asked = session_->ask(PETREL_RPC_INFO, offset, nullptr, end);
    if (Transport::Clock::now() >= end) {
      return absl::DeadlineExceededError(
          absl::StrCat(name(), ": what the device says of its model does not end within ",
                       patience.count(), " ms: ", all.size(), " bytes have come"));
    }
    if (!asked.ok()) return asked.status();
    const Bytes& answer = *asked;
    const uint32_t total = answer.size() < 4 ? 0 : get32(answer.data());
    if (answer.size() <= 4 || total > kMostInfoBytes || total < all.size() + answer.size() - 4) {
      return absl::DataLossError(
          absl::StrCat(name(), ": what the device says of its model is damaged"));
    }
    all.insert(all.end(), answer.begin() + 4, answer.end());
    if (all.size() == total) {
      return parse_device_info(name(), all, session_->options().max_input_bytes);
    }
  }
}

absl::Status Device::reconnect() {
  PETREL_RETURN_IF_ERROR(session_->hello());
  if (absl::StartsWith(info_.sha256, hello().model_hash)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(name(), ": the device has another model now: ", hello().model_hash, "..., was ",
                   info_.sha256.substr(0, hello().model_hash.size()), "..."));
}

absl::StatusOr<DeviceMethod*> Device::method(const std::string& method_name) {
  std::string names;
  for (size_t i = 0; i < methods_.size(); ++i) {
    if (info_.methods[i].name == method_name) return methods_[i].get();
    absl::StrAppend(&names, names.empty() ? "" : ", ", info_.methods[i].name);
  }
  return absl::NotFoundError(absl::StrCat(name(), ": model '", info_.model, "' has no method '",
                                          method_name, "', it has: ", names));
}

absl::StatusOr<Bytes> Device::ask(uint8_t type, const Bytes& payload, size_t answer_bytes,
                                  uint32_t* detail) {
  PETREL_ASSIGN_OR_RETURN(Bytes answer, session_->ask(type, payload, detail));
  if (answer.size() == answer_bytes) return answer;
  return absl::DataLossError(absl::StrCat(name(), ": ", request_name(type), ": the answer has ",
                                          answer.size(), " bytes, must have ", answer_bytes));
}

absl::Status Device::write(DeviceMemory memory, absl::Span<const uint8_t> bytes, size_t offset) {
  const size_t most = session_->told().longest_request - 8u;
  while (!bytes.empty()) {
    const size_t size = std::min(most, bytes.size());
    Bytes payload = place_of(memory, offset);
    payload.insert(payload.end(), bytes.begin(), bytes.begin() + size);
    PETREL_RETURN_IF_ERROR(ask(PETREL_RPC_WRITE, payload, 0).status());
    bytes.remove_prefix(size);
    offset += size;
  }
  return absl::OkStatus();
}

absl::StatusOr<Bytes> Device::read(DeviceMemory memory, size_t bytes, size_t offset) {
  Bytes all;
  all.reserve(bytes);
  while (all.size() < bytes) {
    const size_t size = std::min(Session::kLongestAnswer, bytes - all.size());
    Bytes payload = place_of(memory, offset + all.size());
    put32(&payload, static_cast<uint32_t>(size));
    PETREL_ASSIGN_OR_RETURN(const Bytes piece, ask(PETREL_RPC_READ, payload, size));
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

absl::StatusOr<uint32_t> Device::crc(DeviceMemory memory, size_t bytes, size_t offset) {
  Bytes payload = place_of(memory, offset);
  put32(&payload, static_cast<uint32_t>(bytes));
  PETREL_ASSIGN_OR_RETURN(const Bytes answer, ask(PETREL_RPC_CRC, payload, 4));
  return get32(answer.data());
}

absl::Status Device::fill(DeviceMemory memory, size_t bytes, uint8_t value, size_t offset) {
  Bytes payload = place_of(memory, offset);
  put32(&payload, static_cast<uint32_t>(bytes));
  payload.push_back(value);
  return ask(PETREL_RPC_FILL, payload, 0).status();
}

absl::Status Device::poison(uint8_t value) {
  for (size_t i = 0; i < info_.pools.size(); ++i) {
    if (info_.pools[i].is_kept) continue;
    PETREL_RETURN_IF_ERROR(
        fill({PETREL_RPC_POOL, 0, static_cast<uint16_t>(i)}, info_.pools[i].bytes, value));
  }
  return absl::OkStatus();
}

absl::Status Device::bulk(DeviceMemory memory, size_t bytes, const std::string& path,
                          size_t file_offset, bool is_store) {
  Bytes payload = place_of(memory, 0);
  put32(&payload, static_cast<uint32_t>(bytes));
  put32(&payload, static_cast<uint32_t>(file_offset));
  payload.push_back(is_store ? 1 : 0);
  payload.insert(payload.end(), path.begin(), path.end());
  payload.push_back(0);
  return ask(PETREL_RPC_BULK, payload, 4).status();
}

absl::Status Device::load_file(DeviceMemory memory, size_t bytes, const std::string& path,
                               size_t file_offset) {
  return bulk(memory, bytes, path, file_offset, /*is_store=*/false);
}

absl::Status Device::store_file(DeviceMemory memory, size_t bytes, const std::string& path,
                                size_t file_offset) {
  return bulk(memory, bytes, path, file_offset, /*is_store=*/true);
}

absl::StatusOr<DeviceAction> Device::act(uint8_t type, const Bytes& payload) {
  PETREL_ASSIGN_OR_RETURN(const Bytes answer, ask(type, payload, 12));
  DeviceAction action;
  action.next = get32(answer.data());
  action.ticks = get32(answer.data() + 4) | uint64_t{get32(answer.data() + 8)} << 32;
  return action;
}

absl::StatusOr<DeviceAction> Device::run(uint8_t method, bool is_traced) {
  return act(PETREL_RPC_RUN, {method, static_cast<uint8_t>(is_traced ? PETREL_RPC_TRACED : 0)});
}

absl::StatusOr<DeviceAction> Device::run_steps(uint8_t method, uint32_t first, uint32_t count) {
  Bytes payload = {method, 0, 0, 0};
  put32(&payload, first);
  put32(&payload, count);
  return act(PETREL_RPC_RUN_OP, payload);
}

absl::StatusOr<DeviceAction> Device::time(uint8_t method, uint32_t number) {
  Bytes payload = {method, 0, 0, 0};
  put32(&payload, number);
  return act(PETREL_RPC_TIME, payload);
}

absl::StatusOr<std::vector<uint32_t>> Device::trace(size_t steps) {
  std::vector<uint32_t> ticks;
  while (ticks.size() < steps) {
    Bytes payload;
    put32(&payload, static_cast<uint32_t>(ticks.size()));
    PETREL_ASSIGN_OR_RETURN(const Bytes answer, session_->ask(PETREL_RPC_TRACE, payload));
    if (answer.size() < 4) {
      return absl::DataLossError(absl::StrCat(name(), ": TRACE: the answer has no ticks"));
    }
    for (size_t at = 0; at + 4 <= answer.size() && ticks.size() < steps; at += 4) {
      ticks.push_back(get32(answer.data() + at));
    }
  }
  return ticks;
}

absl::StatusOr<DeviceAction> Device::timer(bool is_start) {
  return act(PETREL_RPC_TIMER, {static_cast<uint8_t>(is_start ? 1 : 0)});
}

absl::Status Device::set_sizes(uint8_t method, absl::Span<const std::vector<int32_t>> sizes) {
  Bytes payload = {method};
  for (const std::vector<int32_t>& one : sizes) {
    for (const int32_t size : one) put32(&payload, static_cast<uint32_t>(size));
  }
  return ask(PETREL_RPC_SET_SIZES, payload, 0).status();
}

absl::StatusOr<std::vector<int32_t>> Device::output_sizes(uint8_t method, uint8_t output) {
  const size_t rank = info_.methods[method].outputs[output].sizes.size();
  PETREL_ASSIGN_OR_RETURN(const Bytes answer,
                          ask(PETREL_RPC_GET_SIZES, {method, output}, 4 * rank));
  std::vector<int32_t> sizes;
  for (size_t d = 0; d < rank; ++d) {
    sizes.push_back(static_cast<int32_t>(get32(answer.data() + 4 * d)));
  }
  return sizes;
}

absl::Status Device::reset_state() { return act(PETREL_RPC_RESET_STATE, {}).status(); }

absl::Status Device::selftest() { return act(PETREL_RPC_SELFTEST, {}).status(); }

absl::StatusOr<DeviceStack> Device::stack(bool paint_again) {
  PETREL_ASSIGN_OR_RETURN(const Bytes answer,
                          ask(PETREL_RPC_STACK, {static_cast<uint8_t>(paint_again ? 1 : 0)}, 8));
  return DeviceStack{get32(answer.data()), get32(answer.data() + 4)};
}

absl::StatusOr<DeviceParam> Device::lookup_param(uint32_t id) {
  Bytes payload;
  put32(&payload, id);
  PETREL_ASSIGN_OR_RETURN(const Bytes answer, ask(PETREL_RPC_LOOKUP_PARAM, payload, 16));
  return DeviceParam{get32(answer.data()) | uint64_t{get32(answer.data() + 4)} << 32,
                     get32(answer.data() + 8), get32(answer.data() + 12)};
}

absl::Status Device::reset() {
  const absl::Status status = ask(PETREL_RPC_RESET, {}, 0).status();
  // Its answer was lost, and the device is where it should be.
  if (!status.ok() && !absl::IsAborted(status)) return status;
  return reconnect();
}

}  // namespace petrel::extension
