# SPDX-License-Identifier: Apache-2.0
"""XNNPACK's microkernels for arm64."""

load("@xnnpack//gen:aarch64_microkernels.bzl", "PROD_AARCH64_ASM_MICROKERNEL_SRCS")
load("@xnnpack//gen:neon_microkernels.bzl", "PROD_NEON_MICROKERNEL_SRCS")
load("@xnnpack//gen:neon_aarch64_microkernels.bzl", "PROD_NEON_AARCH64_MICROKERNEL_SRCS")
load("@xnnpack//gen:neondot_microkernels.bzl", "PROD_NEONDOT_MICROKERNEL_SRCS")
load("@xnnpack//gen:neondot_aarch64_microkernels.bzl", "PROD_NEONDOT_AARCH64_MICROKERNEL_SRCS")
load("@xnnpack//gen:neondotfp16arith_microkernels.bzl", "PROD_NEONDOTFP16ARITH_MICROKERNEL_SRCS")
load("@xnnpack//gen:neonfma_microkernels.bzl", "PROD_NEONFMA_MICROKERNEL_SRCS")
load("@xnnpack//gen:neonfma_aarch64_microkernels.bzl", "PROD_NEONFMA_AARCH64_MICROKERNEL_SRCS")
load("@xnnpack//gen:neonfp16_microkernels.bzl", "PROD_NEONFP16_MICROKERNEL_SRCS")
load("@xnnpack//gen:neonfp16arith_microkernels.bzl", "PROD_NEONFP16ARITH_MICROKERNEL_SRCS")
load("@xnnpack//gen:neonfp16arith_aarch64_microkernels.bzl", "PROD_NEONFP16ARITH_AARCH64_MICROKERNEL_SRCS")
load("@xnnpack//gen:neoni8mm_microkernels.bzl", "PROD_NEONI8MM_MICROKERNEL_SRCS")
load("@xnnpack//gen:neonv8_microkernels.bzl", "PROD_NEONV8_MICROKERNEL_SRCS")

# What xnnpack.BUILD disables and gcc 12 has for arm64. SME it lacks.
ARM64_OPTIONAL = [
    "ARM_DOTPROD",
    "ARM_FP16_SCALAR",
    "ARM_FP16_VECTOR",
    "ARM_I8MM",
]

# Instruction set -> (microkernels, options). Which of them run is decided by
# cpuinfo when the program starts. Every arm64 processor has what comes without
# an option.
ARM64_MICROKERNELS = {
    "aarch64_assembly": (PROD_AARCH64_ASM_MICROKERNEL_SRCS, ["-march=armv8.2-a+fp16+dotprod"]),
    "neon": (PROD_NEON_MICROKERNEL_SRCS, []),
    "neon_aarch64": (PROD_NEON_AARCH64_MICROKERNEL_SRCS, []),
    "neonfma": (PROD_NEONFMA_MICROKERNEL_SRCS, []),
    "neonfma_aarch64": (PROD_NEONFMA_AARCH64_MICROKERNEL_SRCS, []),
    "neonfp16": (PROD_NEONFP16_MICROKERNEL_SRCS, []),
    "neonv8": (PROD_NEONV8_MICROKERNEL_SRCS, []),
    "neonfp16arith": (PROD_NEONFP16ARITH_MICROKERNEL_SRCS, ["-march=armv8.2-a+fp16"]),
    "neonfp16arith_aarch64": (PROD_NEONFP16ARITH_AARCH64_MICROKERNEL_SRCS, ["-march=armv8.2-a+fp16"]),
    "neondot": (PROD_NEONDOT_MICROKERNEL_SRCS, ["-march=armv8.2-a+dotprod"]),
    "neondot_aarch64": (PROD_NEONDOT_AARCH64_MICROKERNEL_SRCS, ["-march=armv8.2-a+dotprod"]),
    "neondotfp16arith": (PROD_NEONDOTFP16ARITH_MICROKERNEL_SRCS, ["-march=armv8.2-a+dotprod+fp16"]),
    "neoni8mm": (PROD_NEONI8MM_MICROKERNEL_SRCS, ["-march=armv8.2-a+i8mm+fp16"]),
}
