// SPDX-License-Identifier: Apache-2.0
#include "extension/device/device_info.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "extension/device/frame.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/tensor.h"
#include "runtime/micro/device/petrel_rpc_protocol.h"
#include "runtime/micro/model/petrel_plan.h"

namespace petrel::extension {
namespace {

using runtime::ScalarType;

// The host makes memory for inputs and outputs, and reads tensors of the plan whole: what a device
// says must not take more.
constexpr size_t kMostTensorBytes = size_t{1} << 30;
// Requests name methods and outputs by 8 bits and tensors of the plan by 16. All inputs are
// compared with all tensors of the plan.
constexpr size_t kMostMethods = 1 << 8;
constexpr size_t kMostInputs = 1 << 12;
constexpr size_t kMostOutputs = 1 << 8;
constexpr size_t kMostPlanTensors = 1 << 16;
constexpr size_t kMostSteps = 1 << 16;
constexpr size_t kMostPools = 1 << 16;
// Of all kinds in all methods: each takes a hundred bytes or more of the host, and few of the
// device's.
constexpr size_t kMostParts = 1 << 18;

// Reads within the bytes; what is beyond them reads as 0 and is remembered.
class Reader {
 public:
  Reader(absl::Span<const uint8_t> bytes, uint64_t max_input_bytes)
      : bytes_(bytes), max_input_bytes_(max_input_bytes) {}

  uint8_t byte() { return take(1) ? bytes_[at_ - 1] : uint8_t{0}; }
  uint16_t number16() { return take(2) ? get16(&bytes_[at_ - 2]) : uint16_t{0}; }
  uint32_t number32() { return take(4) ? get32(&bytes_[at_ - 4]) : 0; }
  std::string text() {
    std::string text;
    while (const uint8_t c = byte()) text.push_back(static_cast<char>(c));
    return text;
  }
  // Of things with at least `bytes` bytes each.
  size_t count(size_t number, size_t bytes) {
    if (number > (bytes_.size() - at_) / bytes) fail("it has more parts than bytes");
    return problem_.empty() ? number : 0;
  }
  // Of things of which there can be `most`.
  size_t count(size_t number, size_t bytes, size_t most) {
    if (number > most) fail(absl::StrCat("it has ", number, " parts of a kind, of at most ", most));
    parts_ += count(number, bytes);
    if (parts_ > kMostParts) fail(absl::StrCat("it has more than ", kMostParts, " parts"));
    return problem_.empty() ? number : 0;
  }
  // Memory that the host is to make.
  void claim(size_t bytes) {
    claimed_ += bytes;
    if (claimed_ > max_input_bytes_) {
      fail(absl::StrCat("its inputs and outputs have more than ", max_input_bytes_,
                        " bytes, which is max_input_bytes"));
    }
  }
  void fail(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }
  bool is_at_end() const { return at_ == bytes_.size(); }
  const std::string& problem() const { return problem_; }

 private:
  bool take(size_t size) {
    if (size > bytes_.size() - at_) fail("it ends early");
    if (!problem_.empty()) return false;
    at_ += size;
    return true;
  }

  absl::Span<const uint8_t> bytes_;
  uint64_t max_input_bytes_;
  size_t at_ = 0;
  uint64_t claimed_ = 0;
  size_t parts_ = 0;
  std::string problem_;
};

std::vector<int32_t> read_sizes(Reader& in, size_t rank) {
  std::vector<int32_t> sizes(in.count(rank, 4));
  for (int32_t& size : sizes) {
    size = static_cast<int32_t>(in.number32());
    if (size < 0) in.fail("a size is negative");
  }
  return sizes;
}

ScalarType read_type(Reader& in) {
  const uint32_t number = in.number32();
  const auto type = static_cast<ScalarType>(number);
  if (number > 127 || runtime::element_size(type) == 0) {
    in.fail(absl::StrCat("type ", number, " of elements is unknown"));
    return ScalarType::Byte;
  }
  return type;
}

size_t read_rank(Reader& in) {
  const size_t rank = in.number16();
  if (rank > runtime::kTensorDimensionLimit) in.fail("a tensor has too many dims");
  return in.problem().empty() ? rank : 0;
}

void check_bytes(Reader& in, const std::string& name, ScalarType type,
                 const std::vector<int32_t>& sizes, size_t bytes) {
  // A size of 0 hides no others, of which strides are made.
  size_t most = runtime::element_size(type);
  bool is_empty = false;
  for (const int32_t size : sizes) {
    is_empty = is_empty || size == 0;
    if (__builtin_mul_overflow(most, static_cast<size_t>(std::max(size, 1)), &most) ||
        most > kMostTensorBytes) {
      in.fail(absl::StrCat("tensor '", name, "' has too many elements"));
      return;
    }
  }
  const size_t expected = is_empty ? 0 : most;
  if (expected != bytes) {
    in.fail(absl::StrCat("tensor '", name, "' has ", bytes, " bytes, must have ", expected));
  }
}

std::vector<uint8_t> read_order(Reader& in, const std::string& name, size_t rank) {
  std::vector<uint8_t> order(in.count(rank, 1));
  for (uint8_t& dim : order) dim = in.byte();
  if (!runtime::is_permutation({order.data(), order.size()})) {
    in.fail(absl::StrCat("the dim order of '", name, "' is none"));
  }
  return order;
}

DeviceTensor read_tensor(Reader& in) {
  DeviceTensor tensor;
  tensor.name = in.text();
  tensor.c_name = in.text();
  tensor.type = read_type(in);
  const size_t rank = read_rank(in);
  tensor.sizes = read_sizes(in, rank);
  tensor.dim_order = read_order(in, tensor.name, rank);
  tensor.bytes = in.number32();
  tensor.varies = in.byte() != 0;
  if (tensor.varies) tensor.least_sizes = read_sizes(in, rank);
  check_bytes(in, tensor.name, tensor.type, tensor.sizes, tensor.bytes);
  in.claim(tensor.bytes);
  return tensor;
}

std::vector<DeviceTensor> read_tensors(Reader& in, size_t most) {
  std::vector<DeviceTensor> tensors(in.count(in.number32(), 14, most));
  for (DeviceTensor& tensor : tensors) tensor = read_tensor(in);
  return tensors;
}

// Of tensors whose places are checked by check_plan().
void read_plan(Reader& in, DeviceMethodInfo* method) {
  method->tensors.resize(in.count(in.number32(), 21, kMostPlanTensors));
  for (DevicePlanTensor& tensor : method->tensors) {
    tensor.name = in.text();
    tensor.type = read_type(in);
    const size_t rank = read_rank(in);
    tensor.sizes = read_sizes(in, rank);
    tensor.dim_order = read_order(in, tensor.name, rank);
    tensor.pool = in.number16();
    tensor.offset = in.number32();
    tensor.bytes = in.number32();
    tensor.written_by = in.number16();
    tensor.alive_until = in.number16();
    check_bytes(in, tensor.name, tensor.type, tensor.sizes, tensor.bytes);
  }
  const auto read_indices = [&](std::vector<uint16_t>* indices) {
    indices->resize(in.count(in.number16(), 2, kMostPlanTensors));
    for (uint16_t& index : *indices) {
      index = in.number16();
      if (index >= method->tensors.size()) in.fail("a step has a tensor that there is not");
    }
  };
  method->steps.resize(in.count(in.number32(), 7, kMostSteps));
  for (DeviceStep& step : method->steps) {
    step.name = in.text();
    step.kernel = in.text();
    step.source = in.text();
    read_indices(&step.reads);
    read_indices(&step.writes);
  }
}

void check_plan(Reader& in, const DeviceInfo& info, const DeviceMethodInfo& method) {
  for (const DevicePlanTensor& tensor : method.tensors) {
    size_t room = 0;
    if (tensor.pool == PETREL_PLAN_OF_INPUT && tensor.offset < method.inputs.size()) {
      room = method.inputs[tensor.offset].bytes;
    } else if (tensor.pool == PETREL_PLAN_OF_OUTPUT && tensor.offset < method.outputs.size()) {
      room = method.outputs[tensor.offset].bytes;
    } else if (tensor.pool < info.pools.size()) {
      const size_t bytes = info.pools[tensor.pool].bytes;
      room = bytes - std::min(bytes, tensor.offset);
    }
    if (tensor.bytes > room) {
      in.fail(absl::StrCat("tensor '", tensor.name, "' of the plan lies outside of its memory"));
    }
  }
}

}  // namespace

bool DeviceInfo::has_state() const {
  return std::any_of(pools.begin(), pools.end(),
                     [](const DevicePool& pool) { return pool.is_kept; });
}

absl::StatusOr<DeviceInfo> parse_device_info(const std::string& device,
                                             absl::Span<const uint8_t> bytes,
                                             uint64_t max_input_bytes) {
  Reader in(bytes, max_input_bytes);
  DeviceInfo info;
  if (const uint32_t version = in.number32(); version != PETREL_RPC_INFO_VERSION) {
    return absl::FailedPreconditionError(
        absl::StrCat(device, ": what the device says of its model is of version ", version,
                     ", this program reads version ", PETREL_RPC_INFO_VERSION));
  }
  info.board = in.text();
  info.model = in.text();
  info.sha256 = in.text();
  info.constant_bytes = in.number32();
  info.pools.resize(in.count(in.number32(), 6, kMostPools));
  for (DevicePool& pool : info.pools) {
    pool.name = in.text();
    pool.bytes = in.number32();
    pool.is_kept = in.byte() != 0;
  }
  const bool has_plan = in.byte() != 0;
  info.methods.resize(in.count(in.number32(), 14, kMostMethods));
  for (DeviceMethodInfo& method : info.methods) {
    method.name = in.text();
    method.inputs = read_tensors(in, kMostInputs);
    method.outputs = read_tensors(in, kMostOutputs);
    method.arena_bytes = in.number32();
    method.keeps_inputs = in.byte() != 0;
    if (has_plan) read_plan(in, &method);
    check_plan(in, info, method);
  }
  if (!in.is_at_end()) in.fail("there is more behind it");
  if (in.problem().empty()) return info;
  return absl::DataLossError(
      absl::StrCat(device, ": what the device says of its model is damaged: ", in.problem()));
}

}  // namespace petrel::extension
