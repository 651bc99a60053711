// SPDX-License-Identifier: Apache-2.0
package io.petrel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Elements and their sizes, contiguous in the last size. A tensor owns its memory, which lies
 * outside of the heap of Java, so that it is not copied on the way to a method.
 *
 * <pre>
 *   Tensor image = Tensor.fromBlob(pixels, new long[] {1, 1, 8, 8});
 *   float[] scores = module.forward(image)[0].getDataAsFloatArray();
 * </pre>
 */
public final class Tensor {
  private static final int MAX_RANK = 16;

  private final int dtype;
  private final long[] shape;
  private final ByteBuffer data; // direct, in the order of the machine

  private Tensor(int dtype, long[] shape, ByteBuffer data) {
    this.dtype = dtype;
    this.shape = shape;
    this.data = data;
  }

  public static Tensor fromBlob(float[] elements, long... shape) {
    Tensor tensor = allocate(DType.FLOAT32, elements.length, shape);
    tensor.data.asFloatBuffer().put(elements);
    return tensor;
  }

  public static Tensor fromBlob(double[] elements, long... shape) {
    Tensor tensor = allocate(DType.FLOAT64, elements.length, shape);
    tensor.data.asDoubleBuffer().put(elements);
    return tensor;
  }

  public static Tensor fromBlob(long[] elements, long... shape) {
    Tensor tensor = allocate(DType.INT64, elements.length, shape);
    tensor.data.asLongBuffer().put(elements);
    return tensor;
  }

  public static Tensor fromBlob(int[] elements, long... shape) {
    Tensor tensor = allocate(DType.INT32, elements.length, shape);
    tensor.data.asIntBuffer().put(elements);
    return tensor;
  }

  /** Signed bytes. */
  public static Tensor fromBlob(byte[] elements, long... shape) {
    return fromBlob(DType.INT8, ByteBuffer.wrap(elements), shape);
  }

  /** A copy of the bytes that remain in `bytes`, in the order of the machine. */
  public static Tensor fromBlob(DType type, ByteBuffer bytes, long... shape) {
    if (bytes.remaining() % type.bytes != 0) {
      throw new IllegalArgumentException(
          bytes.remaining() + " bytes are no elements of " + type.bytes + " bytes");
    }
    Tensor tensor = allocate(type, bytes.remaining() / type.bytes, shape);
    tensor.data.duplicate().put(bytes.duplicate());
    return tensor;
  }

  private static Tensor allocate(DType type, int given, long[] shape) {
    if (shape.length > MAX_RANK) {
      throw new IllegalArgumentException(
          "a tensor has " + shape.length + " dims, at most " + MAX_RANK + " are possible");
    }
    long count = 1;
    for (long size : shape) {
      if (size < 0) throw new IllegalArgumentException("a size is " + size + ", must not be < 0");
      // Beyond what an array of Java can hold, it is not equal to `given`.
      count = size == 0 ? 0 : count > Integer.MAX_VALUE ? count : Math.multiplyExact(count, size);
    }
    if (count != given) {
      throw new IllegalArgumentException(
          given + " elements are given for sizes " + Arrays.toString(shape));
    }
    if ((long) given * type.bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(given + " elements need more than 2 GiB");
    }
    return new Tensor(type.number, shape.clone(), direct(given * type.bytes));
  }

  private static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  // Called by the native library, which fills `data`.
  static Tensor ofNative(int dtype, long[] shape, int bytes) {
    return new Tensor(dtype, shape, direct(bytes));
  }

  public DType dtype() {
    return DType.of(dtype);
  }

  public long[] shape() {
    return shape.clone();
  }

  public long numel() {
    return data.capacity() / dtype().bytes;
  }

  public float[] getDataAsFloatArray() {
    require(DType.FLOAT32);
    float[] elements = new float[(int) numel()];
    data.asFloatBuffer().get(elements);
    return elements;
  }

  public double[] getDataAsDoubleArray() {
    require(DType.FLOAT64);
    double[] elements = new double[(int) numel()];
    data.asDoubleBuffer().get(elements);
    return elements;
  }

  public long[] getDataAsLongArray() {
    require(DType.INT64);
    long[] elements = new long[(int) numel()];
    data.asLongBuffer().get(elements);
    return elements;
  }

  public int[] getDataAsIntArray() {
    require(DType.INT32);
    int[] elements = new int[(int) numel()];
    data.asIntBuffer().get(elements);
    return elements;
  }

  /** The bytes of elements of any type. */
  public byte[] getDataAsByteArray() {
    byte[] bytes = new byte[data.capacity()];
    data.duplicate().get(bytes);
    return bytes;
  }

  private void require(DType type) {
    if (dtype() != type) {
      throw new IllegalStateException("elements are of type " + dtype() + ", not " + type);
    }
  }

  @Override
  public String toString() {
    return "Tensor(" + dtype() + ", " + Arrays.toString(shape) + ")";
  }
}
