// SPDX-License-Identifier: Apache-2.0
import CPetrel

/// Memory of a tensor's elements, which goes when nobody holds it.
final class Storage {
  let bytes: UnsafeMutableRawBufferPointer

  init(count: Int) {
    // What vector code likes best; memory for none is none.
    bytes = .allocate(byteCount: Swift.max(count, 1), alignment: 64)
  }

  deinit { bytes.deallocate() }
}

/// Elements of any type, contiguous in the last size. They do not change, so that copies share
/// them, and a method reads them where they are.
public struct AnyTensor {
  public let dataType: DataType
  public let shape: [Int]
  /// Of the elements, in all.
  public let byteCount: Int
  let storage: Storage

  /// The number of elements.
  public var count: Int { byteCount / dataType.size }

  /// A copy of `bytes`, elements of `dataType` in the order of the machine.
  public init(bytes: UnsafeRawBufferPointer, dataType: DataType, shape: [Int]) throws {
    let wanted = try AnyTensor.byteCount(of: shape, dataType)
    guard bytes.count == wanted else {
      throw PetrelError.invalidArgument(
        "\(bytes.count) bytes are given for sizes \(shape) of \(dataType), must be \(wanted)")
    }
    self.init(dataType: dataType, shape: shape, byteCount: wanted)
    storage.bytes.copyMemory(from: bytes)
  }

  init(dataType: DataType, shape: [Int], byteCount: Int) {
    self.dataType = dataType
    self.shape = shape
    self.byteCount = byteCount
    storage = Storage(count: byteCount)
  }

  /// Shows the elements, as they lie in memory.
  public func withUnsafeBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    defer { withExtendedLifetime(storage) {} }
    return try body(UnsafeRawBufferPointer(rebasing: storage.bytes[..<byteCount]))
  }

  static func byteCount(of shape: [Int], _ dataType: DataType) throws -> Int {
    guard shape.count <= Int(PETREL_MAX_RANK) else {
      throw PetrelError.invalidArgument(
        "a tensor has \(shape.count) dims, at most \(PETREL_MAX_RANK) are possible")
    }
    if let size = shape.first(where: { $0 < 0 }) {
      throw PetrelError.invalidArgument("a size is \(size), must not be < 0")
    }
    if shape.contains(0) { return 0 }
    var bytes = dataType.size
    for size in shape {
      let (product, overflows) = bytes.multipliedReportingOverflow(by: size)
      guard !overflows else {
        throw PetrelError.invalidArgument("sizes \(shape) need more bytes than there are")
      }
      bytes = product
    }
    return bytes
  }
}
