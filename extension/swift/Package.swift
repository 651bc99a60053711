// swift-tools-version:5.7
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
  name: "Petrel",
  products: [.library(name: "Petrel", targets: ["Petrel"])],
  targets: [
    // Finds petrel.pc, and so header and library, in PKG_CONFIG_PATH.
    .systemLibrary(name: "CPetrel", pkgConfig: "petrel"),
    .target(name: "Petrel", dependencies: ["CPetrel"]),
    .testTarget(name: "PetrelTests", dependencies: ["Petrel"]),
  ])
