// SPDX-License-Identifier: Apache-2.0
#include "extension/device/refusal.h"

#include "absl/strings/str_cat.h"
#include "extension/device/session.h"
#include "runtime/micro/device/petrel_board.h"
#include "runtime/micro/device/petrel_rpc_protocol.h"
#include "runtime/micro/model/petrel_model.h"

namespace petrel::extension {
namespace {

absl::Status of_request(const std::string& subject, int32_t code, uint32_t detail) {
  switch (code) {
    case PETREL_RPC_E_PROTOCOL:
      return absl::FailedPreconditionError(
          absl::StrCat(subject, "the device speaks version ", detail,
                       " of the protocol, this program version ", PETREL_RPC_VERSION));
    case PETREL_RPC_E_SESSION:
      return absl::AbortedError(absl::StrCat(subject, "the device was started anew"));
    case PETREL_RPC_E_TYPE:
      return absl::UnimplementedError(
          absl::StrCat(subject, "the firmware is too old to know of it"));
    case PETREL_RPC_E_LENGTH:
      return absl::InvalidArgumentError(
          absl::StrCat(subject, "the request is too short, must have ", detail, " bytes"));
    case PETREL_RPC_E_INDEX:
      return absl::NotFoundError(absl::StrCat(subject, "there is none of that index, of ", detail));
    case PETREL_RPC_E_RANGE:
      return absl::OutOfRangeError(absl::StrCat(subject, "there are ", detail, " bytes only"));
    case PETREL_RPC_E_MISSING:
      return absl::UnimplementedError(absl::StrCat(subject, "this firmware has no such thing"));
    case PETREL_RPC_E_INPUTS:
      return absl::FailedPreconditionError(
          absl::StrCat(subject, "a run writes over its inputs, so runs in a row have none"));
    case PETREL_RPC_E_SEQUENCE:
      return absl::AbortedError(absl::StrCat(subject, "the device knows of other requests, of ",
                                             detail, " last: does another program talk to it?"));
    case PETREL_RPC_E_STEP:
      return absl::FailedPreconditionError(
          absl::StrCat(subject, "step 0 of the method must run before step ", detail));
    default:
      return absl::UnknownError(absl::StrCat(subject, "refused with code ", code));
  }
}

absl::Status of_model(const std::string& subject, int32_t code, uint32_t step) {
  const auto failed = [&](const char* why) {
    return absl::InvalidArgumentError(absl::StrCat(subject, "at step ", step, ": ", why));
  };
  switch (code) {
    case PETREL_MODEL_E_DATA:
      return failed("an index in a tensor is out of range, or an integer is divided by 0");
    case PETREL_MODEL_E_SHAPE:
      return failed("the model does not take inputs of these sizes together");
    case PETREL_MODEL_E_SELFTEST:
      return absl::DataLossError(
          absl::StrCat(subject, "the self-test computes other numbers than the interpreter"));
    case PETREL_MODEL_E_NOT_FOUND:
      return absl::NotFoundError(absl::StrCat(subject, "the model has no such thing"));
    case PETREL_MODEL_E_NULL:
      return failed("memory or a parameter is not set");
    default:
      return absl::UnknownError(absl::StrCat(subject, "the model returned status ", code));
  }
}

absl::Status of_board(const std::string& subject, int32_t code) {
  switch (code) {
    case PETREL_BOARD_E_STATE:
      return absl::FailedPreconditionError(
          absl::StrCat(subject, "the timer was started while it ran, or stopped while it did not"));
    case PETREL_BOARD_E_OVERFLOW:
      return absl::OutOfRangeError(
          absl::StrCat(subject, "the timer overflowed: that takes longer than it counts"));
    case PETREL_BOARD_E_STUCK:
      return absl::FailedPreconditionError(absl::StrCat(subject, "the timer does not count"));
    case PETREL_BOARD_E_MISSING:
      return absl::UnimplementedError(absl::StrCat(subject, "the board has no such thing"));
    default:
      return absl::UnknownError(absl::StrCat(subject, "the board returned status ", code));
  }
}

}  // namespace

absl::Status refusal_status(const std::string& device, const Bytes& payload, uint32_t* detail) {
  if (payload.size() < 12) return absl::DataLossError(absl::StrCat(device, ": a damaged refusal"));
  const auto code = static_cast<int32_t>(get32(payload.data() + 4));
  const uint32_t more = get32(payload.data() + 8);
  if (detail != nullptr) *detail = more;
  const std::string subject = absl::StrCat(device, ": ", request_name(payload[1]), ": ");
  switch (payload[0]) {
    case PETREL_RPC_OF_MODEL:
      return of_model(subject, code, more);
    case PETREL_RPC_OF_BOARD:
      return of_board(subject, code);
    default:
      return of_request(subject, code, more);
  }
}

}  // namespace petrel::extension
