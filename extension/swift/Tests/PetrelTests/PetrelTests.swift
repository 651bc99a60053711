// SPDX-License-Identifier: Apache-2.0
//
// PETREL_TEST_FILES is a folder with digits.pte, external.pte and external.ptd of the network of
// examples/quickstart, and with its digits.bin.
import Foundation
import XCTest

@testable import Petrel

final class PetrelTests: XCTestCase {
  private let folder = ProcessInfo.processInfo.environment["PETREL_TEST_FILES"] ?? "."

  private func path(_ name: String) -> String { "\(folder)/\(name)" }

  private func failure(_ body: () throws -> Void) throws -> PetrelError {
    var caught: Error?
    XCTAssertThrowsError(try body()) { caught = $0 }
    return try XCTUnwrap(caught as? PetrelError)
  }

  /// Pixels and digits.
  private func samples() throws -> [(Tensor<Float>, Int)] {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path("digits.bin"))))
    return try stride(from: 0, to: 100 * 65, by: 65).map { at in
      let pixels = bytes[at..<at + 64].map { Float($0) / 16 }
      return (try Tensor(pixels, shape: [1, 1, 8, 8]), Int(bytes[at + 64]))
    }
  }

  func testRecognisesDigits() throws {
    let module = Module(filePath: path("digits.pte"))
    XCTAssertFalse(module.isLoaded())
    var right = 0
    for (image, digit) in try samples() {
      let scores: Tensor<Float> = try Tensor(module.forward(image))
      XCTAssertEqual(scores.shape, [1, 10])
      let numbers = scores.scalars()
      right += numbers.firstIndex(of: numbers.max()!) == digit ? 1 : 0
    }
    XCTAssertGreaterThan(right, 90)
    XCTAssertTrue(module.isLoaded())
    XCTAssertEqual(try module.methodNames(), ["forward"])
  }

  func testDataLiesInAnotherFile() throws {
    let image = try Tensor<Float>([Float](repeating: 1, count: 64), shape: [1, 1, 8, 8])
    let whole = Module(filePath: path("digits.pte"))
    for options in [Module.Options(), .init(numThreads: 1, mapsFiles: false)] {
      let split = Module(
        filePath: path("external.pte"), dataFilePaths: [path("external.ptd")], options: options)
      try split.load("forward")
      let expected: Tensor<Float> = try whole.execute("forward", image)[0].toTensor()
      let found: Tensor<Float> = try split.execute("forward", [image])[0].toTensor()
      XCTAssertEqual(found.scalars(), expected.scalars())
    }
    let lacking = try failure { try Module(filePath: path("external.pte")).load("forward") }
    XCTAssertEqual(lacking.code, "NotFound")
  }

  func testErrorsSayWhy() throws {
    let missing = try failure { try Module(filePath: "/none.pte").load() }
    XCTAssertTrue(missing.message.contains("/none.pte"), missing.message)
    let module = Module(filePath: path("digits.pte"))
    let flat = try Tensor<Float>([1, 2, 3])
    XCTAssertTrue("\(try failure { _ = try module.forward(flat) })".contains("rank"))
    XCTAssertEqual(
      try failure { _ = try module.forward() }.message,
      "method \"forward\" takes 1 inputs, 0 are given")
    XCTAssertEqual(try failure { _ = try module.execute("none", flat) }.code, "NotFound")
    XCTAssertEqual(
      try failure { _ = try module.forward(Tensor<Double>([1])) }.code, "InvalidArgument")
    XCTAssertEqual(
      try failure { _ = try Tensor<Float>([1, 2, 3], shape: [2, 2]) }.message,
      "12 bytes are given for sizes [2, 2] of float32, must be 16")
    XCTAssertThrowsError(try Tensor<Float>([], shape: [-1]))
    XCTAssertThrowsError(try Tensor<Int8>([], shape: [Int.max, 3]))
    XCTAssertThrowsError(try Tensor<Int8>([1], shape: [Int](repeating: 1, count: 17)))
    XCTAssertEqual(try failure { _ = try Tensor<Int32>(flat.any) }.code, "InvalidType")
    XCTAssertEqual(try failure { _ = try Value.none.toTensor() as AnyTensor }.code, "InvalidType")
  }

  func testValuesAreWhatTheyWere() throws {
    for value in [Value.none, .string("Grün"), .string(""), .double(0.5), .integer(-7),
      .boolean(true), .tensor(try Tensor<Int>([1, -2, 3, 4], shape: [2, 2]).any)]
    {
      try value.withC { XCTAssertEqual("\(try Value(copying: $0))", "\(value)") }
    }
    XCTAssertEqual(try Tensor<Bool>([true, false]).scalars(), [true, false])
    XCTAssertEqual(try Tensor<Double>([], shape: [0, 3]).scalars(), [])
  }

  func testDimsInAnotherOrderAreLaidOutAnew() throws {
    // Columns one after another.
    let tensor = try Tensor<Int32>([0, 10, 1, 11, 2, 12], shape: [2, 3])
    try Value.tensor(tensor.any).withC { value in
      var value = value
      value.dim_order.0 = 1
      value.dim_order.1 = 0
      let found: Tensor<Int32> = try Value(copying: value).toTensor()
      XCTAssertEqual(found.scalars(), [0, 1, 2, 10, 11, 12])
    }
  }

  func testThreadsShareAModule() throws {
    let module = Module(filePath: path("digits.pte"))
    let images = try samples().prefix(20).map { $0.0 }
    let expected = try images.map { try Tensor<Float>(module.forward($0)).scalars() }
    DispatchQueue.concurrentPerform(iterations: 80) { i in
      let scores = try? Tensor<Float>(module.forward(images[i % 20])).scalars()
      XCTAssertEqual(scores, expected[i % 20])
    }
  }
}
