// SPDX-License-Identifier: Apache-2.0
import CPetrel

/// An input or output of a method.
public enum Value {
  case none
  case tensor(AnyTensor)
  case string(String)
  case double(Double)
  case integer(Int64)
  case boolean(Bool)

  public func toTensor() throws -> AnyTensor {
    if case .tensor(let tensor) = self { return tensor }
    throw PetrelError(code: "InvalidType", message: "the value is \(self), no tensor")
  }

  public func toTensor<Element: Scalar>() throws -> Tensor<Element> {
    try Tensor(toTensor() as AnyTensor)
  }
}

/// What can be an input of a method.
public protocol ValueConvertible {
  func asValue() -> Value
}

extension Value: ValueConvertible { public func asValue() -> Value { self } }
extension AnyTensor: ValueConvertible { public func asValue() -> Value { .tensor(self) } }
extension Tensor: ValueConvertible { public func asValue() -> Value { .tensor(any) } }
extension String: ValueConvertible { public func asValue() -> Value { .string(self) } }
extension Double: ValueConvertible { public func asValue() -> Value { .double(self) } }
extension Int: ValueConvertible { public func asValue() -> Value { .integer(Int64(self)) } }
extension Bool: ValueConvertible { public func asValue() -> Value { .boolean(self) } }

extension Value {
  /// Calls `body` with the value as C takes it, whose memory is there that long.
  func withC(_ body: (petrel_value) throws -> Void) rethrows {
    var value = emptyValue()
    switch self {
    case .none:
      value.kind = Int32(PETREL_KIND_NONE)
    case .tensor(let tensor):
      value.kind = Int32(PETREL_KIND_TENSOR)
      value.dtype = tensor.dataType.rawValue
      value.rank = UInt32(tensor.shape.count)
      withUnsafeMutableBytes(of: &value.sizes) { sizes in
        for (dim, size) in tensor.shape.enumerated() {
          sizes.storeBytes(of: Int64(size), toByteOffset: dim * 8, as: Int64.self)
        }
      }
      withUnsafeMutableBytes(of: &value.dim_order) { order in
        for dim in tensor.shape.indices { order[dim] = UInt8(dim) }
      }
      value.data = tensor.storage.bytes.baseAddress
      value.nbytes = tensor.byteCount
      defer { withExtendedLifetime(tensor) {} }
      return try body(value)
    case .string(let text):
      var bytes = Array(text.utf8)
      value.kind = Int32(PETREL_KIND_STRING)
      value.string_size = bytes.count
      bytes.append(0)  // An empty one has an address, too.
      return try bytes.withUnsafeBytes {
        value.string = $0.bindMemory(to: CChar.self).baseAddress
        try body(value)
      }
    case .double(let number):
      value.kind = Int32(PETREL_KIND_DOUBLE)
      value.double_value = number
    case .integer(let number):
      value.kind = Int32(PETREL_KIND_INT)
      value.int_value = number
    case .boolean(let flag):
      value.kind = Int32(PETREL_KIND_BOOL)
      value.int_value = flag ? 1 : 0
    }
    try body(value)
  }

  /// A copy of what C shows.
  init(copying value: petrel_value) throws {
    switch Int(value.kind) {
    case Int(PETREL_KIND_NONE):
      self = .none
    case Int(PETREL_KIND_TENSOR):
      self = .tensor(try AnyTensor(copying: value))
    case Int(PETREL_KIND_STRING):
      let bytes = UnsafeRawBufferPointer(start: value.string, count: value.string_size)
      self = .string(String(decoding: bytes, as: UTF8.self))
    case Int(PETREL_KIND_DOUBLE):
      self = .double(value.double_value)
    case Int(PETREL_KIND_INT):
      self = .integer(value.int_value)
    case Int(PETREL_KIND_BOOL):
      self = .boolean(value.int_value != 0)
    default:
      throw PetrelError(code: "NotSupported", message: "an output is a list")
    }
  }
}

func emptyValue() -> petrel_value {
  var value = petrel_value()
  value.struct_size = MemoryLayout<petrel_value>.size
  return value
}

extension AnyTensor {
  /// A copy of the elements, laid out anew where their dims lie in another order in memory.
  init(copying value: petrel_value) throws {
    guard let dataType = DataType(rawValue: value.dtype) else {
      throw PetrelError(code: "NotSupported", message: "there is no element type \(value.dtype)")
    }
    let rank = Int(value.rank)
    let shape = Swift.withUnsafeBytes(of: value.sizes) { sizes in
      (0..<rank).map { Int(sizes.load(fromByteOffset: $0 * 8, as: Int64.self)) }
    }
    let order = Swift.withUnsafeBytes(of: value.dim_order) { bytes in bytes[..<rank].map(Int.init) }
    self.init(dataType: dataType, shape: shape, byteCount: value.nbytes)
    guard let data = value.data, value.nbytes > 0 else { return }
    let from = UnsafeRawBufferPointer(start: data, count: value.nbytes)
    if order == Array(0..<rank) {
      storage.bytes.copyMemory(from: from)
    } else {
      copy(from, whoseDimsLie: order)
    }
  }

  private func copy(_ from: UnsafeRawBufferPointer, whoseDimsLie order: [Int]) {
    var strides = [Int](repeating: 0, count: shape.count)
    var step = dataType.size
    for dim in order.reversed() {
      strides[dim] = step
      step *= shape[dim]
    }
    var index = [Int](repeating: 0, count: shape.count)
    for to in stride(from: 0, to: byteCount, by: dataType.size) {
      let at = zip(index, strides).reduce(0) { $0 + $1.0 * $1.1 }
      UnsafeMutableRawBufferPointer(rebasing: storage.bytes[to..<to + dataType.size])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: from[at..<at + dataType.size]))
      for dim in shape.indices.reversed() {
        index[dim] += 1
        if index[dim] < shape[dim] { break }
        index[dim] = 0
      }
    }
  }
}
