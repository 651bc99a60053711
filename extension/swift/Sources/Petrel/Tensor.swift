// SPDX-License-Identifier: Apache-2.0

/// Elements of one type of Swift and their sizes.
///
///     let image = try Tensor<Float>(pixels, shape: [1, 1, 8, 8])
///     let scores = try Tensor<Float>(module.forward(image)).scalars()
public struct Tensor<Element: Scalar> {
  /// The same without its type.
  public let any: AnyTensor

  public var shape: [Int] { any.shape }
  public var count: Int { any.count }

  /// A copy of the elements; without a shape, they are a row.
  public init(_ scalars: [Element], shape: [Int]? = nil) throws {
    any = try scalars.withUnsafeBytes {
      try AnyTensor(bytes: $0, dataType: Element.dataType, shape: shape ?? [scalars.count])
    }
  }

  /// The tensor `any`, if it has such elements.
  public init(_ any: AnyTensor) throws {
    guard any.dataType == Element.dataType else {
      throw PetrelError(
        code: "InvalidType",
        message: "the tensor has elements of type \(any.dataType), not \(Element.dataType)")
    }
    self.any = any
  }

  /// The only one of a method's outputs.
  public init(_ outputs: [Value]) throws {
    guard outputs.count == 1 else {
      throw PetrelError.invalidArgument("there are \(outputs.count) outputs, must be one")
    }
    try self.init(outputs[0].toTensor())
  }

  /// A copy of the elements.
  public func scalars() -> [Element] {
    any.withUnsafeBytes { Array($0.bindMemory(to: Element.self)) }
  }
}
