// SPDX-License-Identifier: Apache-2.0
import CPetrel

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A program: path in, tensors in, tensors out.
///
///     let module = Module(filePath: "digits.pte", dataFilePaths: ["digits.ptd"])
///     let scores: Tensor<Float> = try Tensor(module.forward(image))
///
/// It is loaded at the first call that needs it, its methods at theirs. Threads that share a module
/// wait for each other.
public final class Module: @unchecked Sendable {
  private let filePath: String
  private let dataFilePaths: [String]
  private let options: Options
  private var handle: OpaquePointer?
  private let lock: UnsafeMutablePointer<pthread_mutex_t>

  /// How to load.
  public struct Options: Sendable {
    /// Threads of the process, the caller's included; 0 is one per processor, nil leaves it as it is.
    public var numThreads: Int32?
    /// Maps files, or reads what is needed of them into memory.
    public var mapsFiles = true

    public init(numThreads: Int32? = nil, mapsFiles: Bool = true) {
      self.numThreads = numThreads
      self.mapsFiles = mapsFiles
    }
  }

  /// Nothing is read yet.
  public init(filePath: String, dataFilePaths: [String] = [], options: Options = Options()) {
    self.filePath = filePath
    self.dataFilePaths = dataFilePaths
    self.options = options
    lock = .allocate(capacity: 1)
    pthread_mutex_init(lock, nil)
  }

  deinit {
    petrel_module_destroy(handle)
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  /// Reads and verifies the program ahead of its first use.
  public func load() throws {
    _ = try locked { try loaded() }
  }

  /// Loads a method ahead of its first call.
  public func load(_ method: String) throws {
    try locked { try check(petrel_module_load_method(loaded(), method)) }
  }

  public func isLoaded() -> Bool {
    locked { handle != nil }
  }

  public func methodNames() throws -> Set<String> {
    try locked {
      let module = try loaded()
      var names = Set<String>()
      var count = 0
      try check(petrel_module_num_methods(module, &count))
      for index in 0..<count {
        var name: UnsafePointer<CChar>?
        try check(petrel_module_method_name(module, index, &name))
        if let name { names.insert(String(cString: name)) }
      }
      return names
    }
  }

  public func forward(_ inputs: ValueConvertible...) throws -> [Value] {
    try execute("forward", inputs)
  }

  public func forward(_ inputs: [ValueConvertible]) throws -> [Value] {
    try execute("forward", inputs)
  }

  public func execute(_ method: String, _ inputs: ValueConvertible...) throws -> [Value] {
    try execute(method, inputs)
  }

  /// The outputs of a method, which are copies.
  public func execute(_ method: String, _ inputs: [ValueConvertible]) throws -> [Value] {
    let values = inputs.map { $0.asValue() }
    return try locked {
      let module = try loaded()
      var wanted = 0
      try check(petrel_module_num_inputs(module, method, &wanted))
      guard values.count == wanted else {
        throw PetrelError.invalidArgument(
          "method \"\(method)\" takes \(wanted) inputs, \(values.count) are given")
      }
      try run(module, method, values[...])
      var count = 0
      try check(petrel_module_num_outputs(module, method, &count))
      return try (0..<count).map { index in
        var value = emptyValue()
        try check(petrel_module_get_output(module, method, index, &value))
        return try Value(copying: value)
      }
    }
  }

  /// Sets the inputs from the last one on, each of which must be there until all have run.
  private func run(_ module: OpaquePointer, _ method: String, _ values: ArraySlice<Value>) throws {
    guard let value = values.last else { return try check(petrel_module_run(module, method)) }
    try value.withC { input in
      try withUnsafePointer(to: input) {
        try check(petrel_module_set_input(module, method, values.count - 1, $0))
      }
      try run(module, method, values.dropLast())
    }
  }

  private func loaded() throws -> OpaquePointer {
    if let handle { return handle }
    var made: OpaquePointer?
    try check(petrel_options_create(&made))
    let loading = made
    defer { petrel_options_destroy(loading) }
    for path in dataFilePaths {
      try check(petrel_options_add_data_path(loading, path))
    }
    if let threads = options.numThreads {
      try check(petrel_options_set_num_threads(loading, threads))
    }
    let mode = options.mapsFiles ? PETREL_LOAD_MMAP : PETREL_LOAD_FILE
    try check(petrel_options_set_load_mode(loading, petrel_load_mode(mode)))
    var module: OpaquePointer?
    try check(petrel_module_load_path(filePath, loading, &module))
    guard let module else {
      throw PetrelError(code: "Internal", message: "\(filePath) was loaded as nothing")
    }
    handle = module
    return module
  }

  private func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return try body()
  }
}
