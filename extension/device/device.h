// SPDX-License-Identifier: Apache-2.0
//
// A model on a device: firmware that answers with petrel_rpc.h, on a board, in an emulator or as
// a process of this machine.
//
//   PETREL_ASSIGN_OR_RETURN(auto device, Device::open("serial:/dev/ttyACM0@115200", options));
//   PETREL_ASSIGN_OR_RETURN(DeviceMethod * forward, device->method("forward"));
//
// Owns the connection. All that is here ends within the times of the options. One thread at a
// time. Aborted means that the device was started anew since: reconnect() begins again.
#ifndef PETREL_EXTENSION_DEVICE_DEVICE_H_
#define PETREL_EXTENSION_DEVICE_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "extension/device/device_info.h"
#include "extension/device/session.h"
#include "runtime/micro/device/petrel_rpc_protocol.h"

namespace petrel::extension {

class DeviceMethod;

// Bytes of the device: an input or output of a method, a tensor of its plan, or a pool.
struct DeviceMemory {
  uint8_t what = PETREL_RPC_INPUT;  // PETREL_RPC_INPUT and the like
  uint8_t method = 0;
  uint16_t index = 0;
};

// What an action gave.
struct DeviceAction {
  uint32_t next = 0;   // step after the last one, or the number of runs
  uint64_t ticks = 0;  // of the timer; 0 without one
};

struct DeviceParam {
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint32_t crc = 0;
};

struct DeviceStack {
  uint32_t used = 0;
  uint32_t size = 0;
};

class Device {
 public:
  // Says hello and reads what the device tells of its model.
  static absl::StatusOr<std::unique_ptr<Device>> open(const std::string& spec,
                                                      SessionOptions options = {});
  static absl::StatusOr<std::unique_ptr<Device>> open(std::unique_ptr<Transport> transport,
                                                      const std::string& name,
                                                      SessionOptions options = {});
  ~Device();

  const DeviceInfo& info() const { return info_; }
  const DeviceHello& hello() const { return session_->told(); }
  const std::string& name() const { return session_->name(); }
  const SessionOptions& options() const { return session_->options(); }
  SessionStats stats() const { return session_->stats(); }

  // After Aborted. FailedPrecondition when the device has another model now.
  absl::Status reconnect();

  // NotFound, with the names that there are. Lives as long as the device.
  absl::StatusOr<DeviceMethod*> method(const std::string& name);

  absl::Status write(DeviceMemory memory, absl::Span<const uint8_t> bytes, size_t offset = 0);
  absl::StatusOr<Bytes> read(DeviceMemory memory, size_t bytes, size_t offset = 0);
  // device_crc() of bytes, computed there.
  absl::StatusOr<uint32_t> crc(DeviceMemory memory, size_t bytes, size_t offset = 0);
  absl::Status fill(DeviceMemory memory, size_t bytes, uint8_t value, size_t offset = 0);
  // Fills all pools, except those that hold what outlives a call.
  absl::Status poison(uint8_t value);

  // Exchanges memory with a file that the board reaches beside the line, such as one of this
  // machine through a debugger, from `file_offset` on. Unimplemented where it reaches none.
  absl::Status load_file(DeviceMemory memory, size_t bytes, const std::string& path,
                         size_t file_offset = 0);
  absl::Status store_file(DeviceMemory memory, size_t bytes, const std::string& path,
                          size_t file_offset = 0);

  absl::StatusOr<DeviceAction> run(uint8_t method, bool is_traced = false);
  // `count` steps from `first` on.
  absl::StatusOr<DeviceAction> run_steps(uint8_t method, uint32_t first, uint32_t count);
  // That many runs in a row, between two looks at the timer.
  absl::StatusOr<DeviceAction> time(uint8_t method, uint32_t number);
  // Of each step of the last traced run.
  absl::StatusOr<std::vector<uint32_t>> trace(size_t steps);
  absl::StatusOr<DeviceAction> timer(bool is_start);

  absl::Status set_sizes(uint8_t method, absl::Span<const std::vector<int32_t>> sizes);
  absl::StatusOr<std::vector<int32_t>> output_sizes(uint8_t method, uint8_t output);

  absl::Status reset_state();
  absl::Status selftest();
  absl::StatusOr<DeviceStack> stack(bool paint_again);
  absl::StatusOr<DeviceParam> lookup_param(uint32_t id);
  // Starts the device anew and says hello again.
  absl::Status reset();

 private:
  explicit Device(std::unique_ptr<Session> session);
  absl::StatusOr<Bytes> ask(uint8_t type, const Bytes& payload, size_t answer_bytes,
                            uint32_t* detail = nullptr);
  absl::StatusOr<DeviceAction> act(uint8_t type, const Bytes& payload);
  absl::StatusOr<DeviceInfo> read_info();
  absl::Status bulk(DeviceMemory memory, size_t bytes, const std::string& path, size_t file_offset,
                    bool is_store);

  std::unique_ptr<Session> session_;
  DeviceInfo info_;
  std::vector<std::unique_ptr<DeviceMethod>> methods_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DEVICE_DEVICE_H_
