// SPDX-License-Identifier: Apache-2.0
package io.petrel;

import java.nio.charset.StandardCharsets;

/** What Petrel could not do, with the reason: "input 0: dim 2 is 4, must be 8". */
public final class PetrelException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String code;

  PetrelException(String code, String message) {
    super(message);
    this.code = code;
  }

  /** The kind of error, a word such as "InvalidProgram" or "NotFound". */
  public String getCode() {
    return code;
  }

  // Called by the native library.
  static PetrelException of(byte[] code, byte[] message) {
    return new PetrelException(
        new String(code, StandardCharsets.UTF_8), new String(message, StandardCharsets.UTF_8));
  }
}
