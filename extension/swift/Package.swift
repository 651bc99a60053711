// swift-tools-version:5.7
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

#if os(Linux)
  // Finds petrel.pc, and so header and library, in PKG_CONFIG_PATH.
  let library = Target.systemLibrary(name: "CPetrel", pkgConfig: "petrel")
#else
  // Beside this file in the archive for Apple's machines.
  let library = Target.binaryTarget(name: "CPetrel", path: "CPetrel.xcframework")
#endif

let package = Package(
  name: "Petrel",
  platforms: [.iOS(.v15), .macOS(.v11)],
  products: [.library(name: "Petrel", targets: ["Petrel"])],
  targets: [
    library,
    .target(name: "Petrel", dependencies: ["CPetrel"]),
    .testTarget(name: "PetrelTests", dependencies: ["Petrel"]),
  ])
