// SPDX-License-Identifier: Apache-2.0
package io.petrel;

import java.io.Closeable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A program that is loaded: path in, tensors in, tensors out.
 *
 * <pre>
 *   try (Module module = Module.load("digits.pte", "digits.ptd")) {
 *     float[] scores = module.forward(image)[0].getDataAsFloatArray();
 *   }
 * </pre>
 *
 * Methods are loaded at their first call and keep their state until the module is closed. A module
 * may be used by several threads: their calls wait for each other, those of different modules run
 * at the same time. What cannot be done is a {@link PetrelException}; a module that was closed is
 * an IllegalStateException.
 */
public final class Module implements Closeable {
  static {
    System.loadLibrary("petrel_jni");
  }

  /** How to load. */
  public static final class Options {
    private String[] dataFiles = new String[0];
    // Descriptor, offset and length of each.
    private long[] dataDescriptors = new long[0];
    private int numThreads = -1;
    private boolean mapsFiles = true;

    /** External weights, .ptd or .safetensors. */
    public Options setDataFiles(String... paths) {
      dataFiles = paths.clone();
      return this;
    }

    /**
     * External weights that are a part of an open file, such as an asset of an Android app. The
     * caller may close the file when the module is loaded.
     */
    public Options addDataDescriptor(int descriptor, long offset, long length) {
      checkPart(offset, length);
      int size = dataDescriptors.length;
      dataDescriptors = Arrays.copyOf(dataDescriptors, size + 3);
      dataDescriptors[size] = descriptor;
      dataDescriptors[size + 1] = offset;
      dataDescriptors[size + 2] = length;
      return this;
    }

    /** Threads of the process, the caller's included, from now on; 0 is one per processor. */
    public Options setNumThreads(int threads) {
      if (threads < 0) {
        throw new IllegalArgumentException("threads are " + threads + ", must not be < 0");
      }
      numThreads = threads;
      return this;
    }

    /** Maps files, as at the start, or reads what is needed of them into memory. */
    public Options setMapsFiles(boolean maps) {
      mapsFiles = maps;
      return this;
    }
  }

  private long handle;

  private Module(long handle) {
    this.handle = handle;
  }

  public static Module load(String path, String... dataFiles) {
    return load(path, new Options().setDataFiles(dataFiles));
  }

  public static Module load(String path, Options options) {
    return load(text(path), null, new long[3], options);
  }

  /**
   * Of `length` bytes from `offset` of an open file, such as an asset of an Android app. The caller
   * may close the file.
   */
  public static Module load(int descriptor, long offset, long length, Options options) {
    checkPart(offset, length);
    return load(null, null, new long[] {descriptor, offset, length}, options);
  }

  /** Of what is between position and limit of a buffer, which is copied. */
  public static Module load(ByteBuffer program, Options options) {
    ByteBuffer copy = ByteBuffer.allocateDirect(program.remaining());
    copy.put(program.duplicate());
    return load(null, copy, new long[3], options);
  }

  // `path` or `buffer` or, if both are null, a part of a file.
  private static Module load(byte[] path, ByteBuffer buffer, long[] part, Options options) {
    byte[][] data = new byte[options.dataFiles.length][];
    for (int i = 0; i < data.length; i++) data[i] = text(options.dataFiles[i]);
    return new Module(
        nativeLoad(
            path,
            buffer,
            part,
            data,
            options.dataDescriptors.clone(),
            options.numThreads,
            options.mapsFiles));
  }

  private static void checkPart(long offset, long length) {
    if (offset < 0 || length < 0) {
      throw new IllegalArgumentException(
          "a part of a file from " + offset + " of " + length + " bytes, neither must be < 0");
    }
  }

  public synchronized String[] getMethods() {
    byte[][] names = nativeMethods(open());
    String[] methods = new String[names.length];
    for (int i = 0; i < names.length; i++) {
      methods[i] = new String(names[i], StandardCharsets.UTF_8);
    }
    return methods;
  }

  /** Loads a method ahead of its first call. */
  public synchronized void loadMethod(String method) {
    nativeLoadMethod(open(), text(method));
  }

  public Tensor[] forward(Tensor... inputs) {
    return execute("forward", inputs);
  }

  /** The outputs of a method, which are copies. */
  public synchronized Tensor[] execute(String method, Tensor... inputs) {
    return nativeExecute(open(), text(method), inputs.clone());
  }

  /** Gives its memory back; nothing happens the second time. */
  @Override
  public synchronized void close() {
    if (handle != 0) nativeDestroy(handle);
    handle = 0;
  }

  private long open() {
    if (handle == 0) throw new IllegalStateException("the module is closed");
    return handle;
  }

  // UTF-8 with a zero at the end: strings of JNI are something else.
  private static byte[] text(String words) {
    if (words.indexOf('\0') >= 0) throw new IllegalArgumentException("a text has a zero in it");
    return (words + '\0').getBytes(StandardCharsets.UTF_8);
  }

  private static native long nativeLoad(
      byte[] path,
      ByteBuffer buffer,
      long[] part,
      byte[][] data,
      long[] dataDescriptors,
      int threads,
      boolean maps);

  private static native void nativeDestroy(long handle);

  private static native byte[][] nativeMethods(long handle);

  private static native void nativeLoadMethod(long handle, byte[] method);

  private static native Tensor[] nativeExecute(long handle, byte[] method, Tensor[] inputs);
}
