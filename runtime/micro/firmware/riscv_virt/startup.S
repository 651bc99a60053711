/* SPDX-License-Identifier: Apache-2.0
 *
 * What runs before main on the machine virt: the stack, .data and .bss. */
  .section .vectors, "ax"
  .globl petrel_reset
petrel_reset:
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  la sp, petrel_stack_high
  la t0, petrel_fault
  .option push
  .option arch, +zicsr
  csrw mtvec, t0
  .option pop
  la a0, petrel_data_start
  la a1, petrel_data_end
  la a2, petrel_data_from
1:bgeu a0, a1, 2f
  lw t0, 0(a2)
  sw t0, 0(a0)
  addi a0, a0, 4
  addi a2, a2, 4
  j 1b
2:la a0, petrel_bss_start
  la a1, petrel_bss_end
3:bgeu a0, a1, 4f
  sw zero, 0(a0)
  addi a0, a0, 4
  j 3b
4:call main
  call petrel_board_exit
5:j 5b
  /* A fault ends the emulation with this code. */
  .balign 4
petrel_fault:
  li a0, 99
  call petrel_board_exit
6:j 6b

  /* The three that the emulator knows as a call must not be compressed, and lie in one page. */
  .section .text.petrel_semihosting_call, "ax"
  .globl petrel_semihosting_call
  .balign 16
petrel_semihosting_call:
  .option push
  .option norvc
  slli x0, x0, 0x1f
  ebreak
  srai x0, x0, 7
  .option pop
  ret
