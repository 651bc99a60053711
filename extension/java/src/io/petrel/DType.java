// SPDX-License-Identifier: Apache-2.0
package io.petrel;

/** The type of the elements of a tensor. */
public enum DType {
  UINT8(0, 1),
  INT8(1, 1),
  INT16(2, 2),
  INT32(3, 4),
  INT64(4, 8),
  FLOAT16(5, 2),
  FLOAT32(6, 4),
  FLOAT64(7, 8),
  BOOL(11, 1),
  BFLOAT16(15, 2);

  final int number; // of petrel.h and of PyTorch
  final int bytes;

  DType(int number, int bytes) {
    this.number = number;
    this.bytes = bytes;
  }

  static DType of(int number) {
    for (DType type : values()) {
      if (type.number == number) return type;
    }
    throw new PetrelException("NotSupported", "elements of type " + number + " have no DType");
  }
}
