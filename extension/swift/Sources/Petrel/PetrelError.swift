// SPDX-License-Identifier: Apache-2.0
import CPetrel

/// What could not be done, and why.
public struct PetrelError: Error, Equatable, CustomStringConvertible {
  /// The kind of error, such as "NotFound".
  public let code: String
  /// The reason, such as "input 0 has rank 2, must have rank 4".
  public let message: String

  public var description: String { "\(code): \(message)" }

  static func invalidArgument(_ message: String) -> PetrelError {
    PetrelError(code: "InvalidArgument", message: message)
  }
}

/// Throws the error of a function of the C interface that failed.
func check(_ status: petrel_status) throws {
  guard status != 0 else { return }
  throw PetrelError(
    code: String(cString: petrel_status_name(status)),
    message: String(cString: petrel_error_text()))
}
