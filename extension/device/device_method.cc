// SPDX-License-Identifier: Apache-2.0
#include "extension/device/device_method.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/status_macros.h"

namespace petrel::extension {
namespace {

using runtime::Tensor;

// A device that is started anew again and again is not tried for ever.
constexpr int kMostResets = 3;

bool same_order(runtime::Span<const uint8_t> order, const std::vector<uint8_t>& wanted) {
  if (order.empty()) return runtime::is_contiguous_dim_order({wanted.data(), wanted.size()});
  return std::equal(order.begin(), order.end(), wanted.begin(), wanted.end());
}

}  // namespace

DeviceMethod::DeviceMethod(Device& device, uint8_t index)
    : device_(device), info_(device.info().methods[index]), index_(index) {
  for (const DeviceTensor& tensor : info_.inputs) make(tensor, &inputs_.emplace_back());
  for (const DeviceTensor& tensor : info_.outputs) make(tensor, &outputs_.emplace_back());
}

void DeviceMethod::make(const DeviceTensor& tensor, Slot* slot) {
  slot->sizes = tensor.sizes;
  slot->dim_order = tensor.dim_order;
  slot->strides.resize(tensor.sizes.size());
  slot->data.resize(tensor.bytes / sizeof(uint64_t) + 1);
  runtime::compute_strides({slot->sizes.data(), slot->sizes.size()},
                           {slot->dim_order.data(), slot->dim_order.size()}, slot->strides.data());
  slot->impl = std::make_unique<runtime::TensorImpl>(
      tensor.type, static_cast<ssize_t>(slot->sizes.size()), slot->sizes.data(), slot->data.data(),
      slot->dim_order.data(), slot->strides.data(),
      tensor.varies ? runtime::TensorShapeDynamism::DYNAMIC_BOUND
                    : runtime::TensorShapeDynamism::STATIC);
}

absl::Status DeviceMethod::resize(const DeviceTensor& tensor, std::vector<int32_t> sizes,
                                  Slot* slot) {
  bool fits = sizes.size() == tensor.sizes.size();
  std::vector<std::string> wanted;
  for (size_t d = 0; d < tensor.sizes.size(); ++d) {
    const int32_t least = tensor.varies ? tensor.least_sizes[d] : tensor.sizes[d];
    const int32_t most = tensor.sizes[d];
    fits = fits && sizes[d] >= least && sizes[d] <= most;
    wanted.push_back(least < most ? absl::StrCat(least, "..", most) : absl::StrCat(most));
  }
  if (!fits || slot->impl->resize({sizes.data(), sizes.size()}) != runtime::Error::Ok) {
    return absl::InvalidArgumentError(absl::StrCat("'", tensor.name, "' has sizes [",
                                                   absl::StrJoin(sizes, ","), "], must be [",
                                                   absl::StrJoin(wanted, ","), "]"));
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> DeviceMethod::find(const std::vector<DeviceTensor>& tensors,
                                          const char* role, std::string_view name) const {
  std::string names;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name == name || tensors[i].c_name == name) return i;
    absl::StrAppend(&names, names.empty() ? "" : ", ", tensors[i].name);
  }
  return absl::NotFoundError(absl::StrCat("method '", info_.name, "' has no ", role, " '",
                                          std::string(name), "', it has: ", names));
}

absl::Status DeviceMethod::check_index(size_t index, size_t count, const char* role) const {
  if (index < count) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("method '", info_.name, "' has no ", role, " ", index, ", it has ", count));
}

absl::StatusOr<size_t> DeviceMethod::input_index(std::string_view name) const {
  return find(info_.inputs, "input", name);
}

absl::StatusOr<size_t> DeviceMethod::output_index(std::string_view name) const {
  return find(info_.outputs, "output", name);
}

absl::StatusOr<Tensor> DeviceMethod::get_input(size_t index) {
  PETREL_RETURN_IF_ERROR(check_index(index, inputs_.size(), "input"));
  return Tensor(inputs_[index].impl.get());
}

absl::StatusOr<Tensor> DeviceMethod::get_input(std::string_view name) {
  PETREL_ASSIGN_OR_RETURN(const size_t index, input_index(name));
  return get_input(index);
}

absl::StatusOr<Tensor> DeviceMethod::get_output(size_t index) {
  PETREL_RETURN_IF_ERROR(check_index(index, outputs_.size(), "output"));
  return Tensor(outputs_[index].impl.get());
}

absl::StatusOr<Tensor> DeviceMethod::get_output(std::string_view name) {
  PETREL_ASSIGN_OR_RETURN(const size_t index, output_index(name));
  return get_output(index);
}

absl::Status DeviceMethod::set_input(size_t index, const Tensor& tensor) {
  PETREL_RETURN_IF_ERROR(check_index(index, inputs_.size(), "input"));
  const DeviceTensor& wanted = info_.inputs[index];
  if (tensor.scalar_type() != wanted.type || !same_order(tensor.dim_order(), wanted.dim_order)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input ", index, " '", wanted.name, "' is ", runtime::to_string(tensor.scalar_type()),
        ", must be ", runtime::to_string(wanted.type), " in the model's dim order"));
  }
  if (!tensor.impl()->is_consistent()) {
    return absl::InvalidArgumentError(absl::StrCat("input ", index, " '", wanted.name,
                                                   "' has impossible sizes, or those of ",
                                                   "another tensor"));
  }
  Slot& slot = inputs_[index];
  PETREL_RETURN_IF_ERROR(resize(wanted, {tensor.sizes().begin(), tensor.sizes().end()}, &slot));
  if (tensor.nbytes() > 0 && tensor.const_data_ptr() == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", index, " '", wanted.name, "' has no data"));
  }
  if (runtime::copy_bytes(tensor, Tensor(slot.impl.get())) != runtime::Error::Ok) {
    return absl::InvalidArgumentError(absl::StrCat("input ", index, " '", wanted.name, "' has ",
                                                   tensor.nbytes(), " bytes, must have ",
                                                   slot.impl->nbytes()));
  }
  return absl::OkStatus();
}

absl::Status DeviceMethod::set_input(std::string_view name, const Tensor& tensor) {
  PETREL_ASSIGN_OR_RETURN(const size_t index, input_index(name));
  return set_input(index, tensor);
}

absl::Status DeviceMethod::upload() {
  std::vector<std::vector<int32_t>> sizes;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!info_.inputs[i].varies) continue;
    const auto actual = inputs_[i].impl->sizes();
    sizes.emplace_back(actual.begin(), actual.end());
  }
  if (!sizes.empty()) PETREL_RETURN_IF_ERROR(device_.set_sizes(index_, sizes));
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const auto* data = static_cast<const uint8_t*>(inputs_[i].impl->data());
    PETREL_RETURN_IF_ERROR(device_.write({PETREL_RPC_INPUT, index_, static_cast<uint16_t>(i)},
                                         {data, inputs_[i].impl->nbytes()}));
  }
  return absl::OkStatus();
}

absl::Status DeviceMethod::download() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const DeviceTensor& wanted = info_.outputs[i];
    if (wanted.varies) {
      PETREL_ASSIGN_OR_RETURN(std::vector<int32_t> sizes,
                              device_.output_sizes(index_, static_cast<uint8_t>(i)));
      PETREL_RETURN_IF_ERROR(resize(wanted, std::move(sizes), &outputs_[i]));
    }
    PETREL_ASSIGN_OR_RETURN(const Bytes bytes,
                            device_.read({PETREL_RPC_OUTPUT, index_, static_cast<uint16_t>(i)},
                                         outputs_[i].impl->nbytes()));
    if (!bytes.empty()) std::memcpy(outputs_[i].data.data(), bytes.data(), bytes.size());
  }
  return absl::OkStatus();
}

absl::Status DeviceMethod::call(const std::function<absl::Status()>& run) {
  absl::Status status;
  for (int resets = 0; resets <= kMostResets; ++resets) {
    status = upload();
    if (status.ok()) status = run();
    if (status.ok()) status = download();
    if (!absl::IsAborted(status)) return status;
    PETREL_RETURN_IF_ERROR(device_.reconnect());
    if (device_.info().has_state()) {
      return absl::AbortedError(
          absl::StrCat(status.message(),
                       "; the state of the model is what it was at first, calls that made it "
                       "must be made again"));
    }
  }
  return absl::AbortedError(
      absl::StrCat(status.message(), " ", kMostResets + 1, " times during one call"));
}

absl::Status DeviceMethod::execute() {
  return call([&] { return device_.run(index_).status(); });
}

absl::Status DeviceMethod::execute_steps(const OnDeviceStep& on_step) {
  return call([&]() -> absl::Status {
    const auto count = static_cast<uint32_t>(info_.steps.size());
    if (count == 0) {
      return absl::UnimplementedError(
          absl::StrCat(device_.name(),
                       ": the firmware has no plan of its model, so its steps cannot be driven; "
                       "generate it with --device-rpc"));
    }
    uint32_t done = 0;
    for (uint32_t next = 0; next < count; ++done) {
      if (done == device_.options().max_steps) {
        return absl::ResourceExhaustedError(
            absl::StrCat("method '", info_.name, "' does not end within ", done, " steps"));
      }
      PETREL_ASSIGN_OR_RETURN(const DeviceAction action, device_.run_steps(index_, next, 1));
      PETREL_RETURN_IF_ERROR(on_step(next));
      next = action.next;
    }
    return absl::OkStatus();
  });
}

}  // namespace petrel::extension
