// SPDX-License-Identifier: Apache-2.0
import CPetrel

/// The type of a tensor's elements, by PyTorch's numbers.
public enum DataType: Int32 {
  case uint8 = 0
  case int8 = 1
  case int16 = 2
  case int32 = 3
  case int64 = 4
  case float16 = 5
  case float32 = 6
  case float64 = 7
  case bool = 11
  case bfloat16 = 15
  case uint16 = 27
  case uint32 = 28
  case uint64 = 29

  /// Bytes of one element.
  public var size: Int { petrel_dtype_size(rawValue) }
}

/// A type of Swift whose values are elements as they lie in a tensor.
public protocol Scalar {
  static var dataType: DataType { get }
}

extension UInt8: Scalar { public static var dataType: DataType { .uint8 } }
extension Int8: Scalar { public static var dataType: DataType { .int8 } }
extension Int16: Scalar { public static var dataType: DataType { .int16 } }
extension Int32: Scalar { public static var dataType: DataType { .int32 } }
extension Int64: Scalar { public static var dataType: DataType { .int64 } }
extension Int: Scalar { public static var dataType: DataType { .int64 } }
extension Float: Scalar { public static var dataType: DataType { .float32 } }
extension Double: Scalar { public static var dataType: DataType { .float64 } }
extension Bool: Scalar { public static var dataType: DataType { .bool } }
extension UInt16: Scalar { public static var dataType: DataType { .uint16 } }
extension UInt32: Scalar { public static var dataType: DataType { .uint32 } }
extension UInt64: Scalar { public static var dataType: DataType { .uint64 } }
