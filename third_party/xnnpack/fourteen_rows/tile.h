/* SPDX-License-Identifier: Apache-2.0
 *
 * One tile of 14 rows times 32 or 16 columns with AVX-512; of 16, weights may lie in blocks of 32
 * or of 16.
 *
 *             32 columns                28 sums, two vectors of weights and two of inputs
 *           +------------+              fill the 32 registers. A vector of weights is read
 *   14 rows | zmm0 zmm14 |              for 14 rows: they come from the second-level cache,
 *           | zmm1 zmm15 |              which gives less than the processor multiplies when
 *           |   ...      |              each is used for 7.
 *           +------------+
 *
 * Fourteen pointers to rows and one to weights fill the registers of addresses, so that all else
 * is on the stack: a compiler would keep sums there instead. With each four inputs of a row it
 * brings some weights to the second-level cache that are needed later. A tile is a function of its
 * own, so that no compiler needs one of these registers for what else a function does.
 *
 * Whoever fills `struct wide_tile` owns what it points to.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_TILE_H_
#define PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_TILE_H_

#include <stddef.h>

#define WIDE_ROWS 14
#define WIDE_COLUMNS 32

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define HAS_WIDE_TILE 1

struct wide_tile {
  const float** pointers; /* WIDE_ROWS for each element of a window */
  size_t elements;        /* of a window, at least one */
  const float* zero;      /* a pointer that is not moved by offset */
  size_t offset;          /* in bytes, of all other pointers */
  size_t fours;           /* depth / 4 */
  size_t ones;            /* depth % 4 */
  size_t rest;            /* bytes of weights for `ones` */
  const char* ahead;      /* what is brought to the cache first, ... */
  size_t step;            /* ... and bytes to the next of it: four for each of `fours` */
  float* output;
  size_t output_stride; /* bytes from row to row */
  const float* weights; /* the bias, then those of a block for each of depth, all taps */
  float min, max;
  size_t skipped; /* bytes between the bias and the first weights */
};

/* clang-format off */

/* On the stack, from where it points to: */
#define ROW "0(%%rsp)" /* the last row's pointer, while its register is used */
#define LEFT "8(%%rsp)"
#define AHEAD "16(%%rsp)"
#define STEP "24(%%rsp)"
#define REST "32(%%rsp)"
#define ONES "40(%%rsp)"
#define FOURS "48(%%rsp)"
#define OFFSET "56(%%rsp)"
#define ZERO "64(%%rsp)"
#define ELEMENTS "72(%%rsp)"
#define POINTERS "80(%%rsp)"
#define TILE "88(%%rsp)"

/* A pointer to a row, moved unless it points to zeros. */
#define FIND(at, row)              \
  "mov " at "(%%rbp), %%" row "\n" \
  "cmp " ZERO ", %%" row "\n"      \
  "je 9f\n"                        \
  "add " OFFSET ", %%" row "\n"    \
  "9:\n"
#define NEXT(row) "add $16, %%" row "\n"
#define INPUT(row, at, to) "vbroadcastss " at "(%%" row "), %%zmm" to "\n"
#define TIMES(input, sum, weights) \
  "vfmadd231ps %%zmm" weights ", %%zmm" input ", %%zmm" sum "\n"
#define BRING "prefetcht1 (%%rbp)\n add " STEP ", %%rbp\n"
/* Bounds come first: of a sum that is not a number, both keep it. */
#define CLAMP(sum)                                       \
  "vmaxps %%zmm" sum ", %%zmm28, %%zmm" sum "\n"         \
  "vminps %%zmm" sum ", %%zmm29, %%zmm" sum "\n"

/* What tiles of 32 columns do with the second half; those of 16 have none of it. */
#define HIGH_OF_32(x) x
#define HIGH_OF_16(x)

/* All rows times the weights of one input; an input is read two rows before it is needed. */
#define COLUMN_OF_32(at, w)                                                 \
  "vmovups " w "(%%rax), %%zmm28\n"                                         \
  "vmovups " w "+64(%%rax), %%zmm29\n"                                      \
  INPUT("rbx", at, "30") INPUT("rcx", at, "31")                             \
  TIMES("30", "0", "28") TIMES("30", "14", "29") INPUT("rdx", at, "30")     \
  TIMES("31", "1", "28") TIMES("31", "15", "29") INPUT("rsi", at, "31")     \
  TIMES("30", "2", "28") TIMES("30", "16", "29") INPUT("rdi", at, "30")     \
  TIMES("31", "3", "28") TIMES("31", "17", "29") INPUT("r8", at, "31")      \
  TIMES("30", "4", "28") TIMES("30", "18", "29") INPUT("r9", at, "30")      \
  TIMES("31", "5", "28") TIMES("31", "19", "29") INPUT("r10", at, "31")     \
  TIMES("30", "6", "28") TIMES("30", "20", "29") INPUT("r11", at, "30")     \
  TIMES("31", "7", "28") TIMES("31", "21", "29") INPUT("r12", at, "31")     \
  TIMES("30", "8", "28") TIMES("30", "22", "29") INPUT("r13", at, "30")     \
  TIMES("31", "9", "28") TIMES("31", "23", "29") INPUT("r14", at, "31")     \
  TIMES("30", "10", "28") TIMES("30", "24", "29") INPUT("r15", at, "30")    \
  TIMES("31", "11", "28") TIMES("31", "25", "29") INPUT("rbp", at, "31")    \
  TIMES("30", "12", "28") TIMES("30", "26", "29")                           \
  TIMES("31", "13", "28") TIMES("31", "27", "29")

/* An input that serves one vector of weights is an operand in memory. */
#define TIMES_INPUT(row, at, sum)                                           \
  "vfmadd231ps " at "(%%" row ")%{1to16%}, %%zmm28, %%zmm" sum "\n"
#define COLUMN_OF_16(at, w)                                                 \
  "vmovups " w "(%%rax), %%zmm28\n"                                         \
  TIMES_INPUT("rbx", at, "0") TIMES_INPUT("rcx", at, "1")                   \
  TIMES_INPUT("rdx", at, "2") TIMES_INPUT("rsi", at, "3")                   \
  TIMES_INPUT("rdi", at, "4") TIMES_INPUT("r8", at, "5")                    \
  TIMES_INPUT("r9", at, "6") TIMES_INPUT("r10", at, "7")                    \
  TIMES_INPUT("r11", at, "8") TIMES_INPUT("r12", at, "9")                   \
  TIMES_INPUT("r13", at, "10") TIMES_INPUT("r14", at, "11")                 \
  TIMES_INPUT("r15", at, "12") TIMES_INPUT("rbp", at, "13")

#define BIAS(high, s0, s1)           \
  "vmovups (%%rax), %%zmm" s0 "\n"   \
  high("vmovups 64(%%rax), %%zmm" s1 "\n")

#define STORE(high, s0, s1)                                             \
  CLAMP(s0) high(CLAMP(s1))                                             \
  "vmovups %%zmm" s0 ", (%%rbx)\n"                                      \
  high("vmovups %%zmm" s1 ", 64(%%rbx)\n")                              \
  "add %%rcx, %%rbx\n"

/* STRIDE is the bytes of weights for one input. */
#define DEFINE_TILE(name, high, COLUMN, STRIDE)                                         \
  static __attribute__((noinline)) void name(const struct wide_tile* tile) {            \
    const float* weights = tile->weights;                                               \
    __asm__ volatile(                                                                   \
        /* What lies below the stack pointer may be in use. */                          \
        "lea -128(%%rsp), %%rsp\n"                                                      \
        "push %%rbp\n"                                                                  \
        "push %%rdx\n"                                                                  \
        "push 0(%%rdx)\n"  /* pointers */                                               \
        "push 8(%%rdx)\n"  /* elements */                                               \
        "push 16(%%rdx)\n" /* zero */                                                   \
        "push 24(%%rdx)\n" /* offset */                                                 \
        "push 32(%%rdx)\n" /* fours */                                                  \
        "push 40(%%rdx)\n" /* ones */                                                   \
        "push 48(%%rdx)\n" /* rest */                                                   \
        "push 64(%%rdx)\n" /* step */                                                   \
        "push 56(%%rdx)\n" /* ahead */                                                  \
        "sub $16, %%rsp\n"                                                              \
        BIAS(high, "0", "14") BIAS(high, "1", "15") BIAS(high, "2", "16")               \
        BIAS(high, "3", "17") BIAS(high, "4", "18") BIAS(high, "5", "19")               \
        BIAS(high, "6", "20") BIAS(high, "7", "21") BIAS(high, "8", "22")               \
        BIAS(high, "9", "23") BIAS(high, "10", "24") BIAS(high, "11", "25")             \
        BIAS(high, "12", "26") BIAS(high, "13", "27")                                   \
        "add $" STRIDE ", %%rax\n"                                                      \
        "add 104(%%rdx), %%rax\n" /* skipped */                                         \
                                                                                        \
        "1:\n" /* an element of a window */                                             \
        "push " FOURS "\n"                                                              \
        "pop " LEFT "\n"                                                                \
        "mov " POINTERS ", %%rbp\n"                                                     \
        FIND("0", "rbx") FIND("8", "rcx") FIND("16", "rdx") FIND("24", "rsi")           \
        FIND("32", "rdi") FIND("40", "r8") FIND("48", "r9") FIND("56", "r10")           \
        FIND("64", "r11") FIND("72", "r12") FIND("80", "r13") FIND("88", "r14")         \
        FIND("96", "r15") FIND("104", "rbp")                                            \
        "addq $112, " POINTERS "\n"                                                     \
        "cmpq $0, " LEFT "\n"                                                           \
        "je 3f\n"                                                                       \
                                                                                        \
        ".p2align 6\n"                                                                  \
        "2:\n"                                                                          \
        COLUMN("0", "0*" STRIDE) COLUMN("4", "1*" STRIDE)                               \
        COLUMN("8", "2*" STRIDE) COLUMN("12", "3*" STRIDE)                              \
        "mov %%rbp, " ROW "\n"                                                          \
        "mov " AHEAD ", %%rbp\n"                                                        \
        BRING BRING BRING BRING                                                         \
        "mov %%rbp, " AHEAD "\n"                                                        \
        "mov " ROW ", %%rbp\n"                                                          \
        "add $4*" STRIDE ", %%rax\n"                                                    \
        NEXT("rbx") NEXT("rcx") NEXT("rdx") NEXT("rsi") NEXT("rdi") NEXT("r8")          \
        NEXT("r9") NEXT("r10") NEXT("r11") NEXT("r12") NEXT("r13") NEXT("r14")          \
        NEXT("r15") NEXT("rbp")                                                         \
        "decq " LEFT "\n"                                                               \
        "jne 2b\n"                                                                      \
                                                                                        \
        "3:\n" /* up to three more inputs */                                            \
        "cmpq $1, " ONES "\n"                                                           \
        "jb 5f\n"                                                                       \
        COLUMN("0", "0*" STRIDE)                                                        \
        "cmpq $2, " ONES "\n"                                                           \
        "jb 4f\n"                                                                       \
        COLUMN("4", "1*" STRIDE)                                                        \
        "cmpq $3, " ONES "\n"                                                           \
        "jb 4f\n"                                                                       \
        COLUMN("8", "2*" STRIDE)                                                        \
        "4:\n"                                                                          \
        "add " REST ", %%rax\n"                                                         \
                                                                                        \
        "5:\n"                                                                          \
        "decq " ELEMENTS "\n"                                                           \
        "jne 1b\n"                                                                      \
        "mov " TILE ", %%rdx\n"                                                         \
        "add $96, %%rsp\n"                                                              \
        "pop %%rbp\n"                                                                   \
        "lea 128(%%rsp), %%rsp\n"                                                       \
        "mov 72(%%rdx), %%rbx\n"                                                        \
        "mov 80(%%rdx), %%rcx\n"                                                        \
        "vbroadcastss 96(%%rdx), %%zmm28\n"                                             \
        "vbroadcastss 100(%%rdx), %%zmm29\n"                                            \
        STORE(high, "0", "14") STORE(high, "1", "15") STORE(high, "2", "16")            \
        STORE(high, "3", "17") STORE(high, "4", "18") STORE(high, "5", "19")            \
        STORE(high, "6", "20") STORE(high, "7", "21") STORE(high, "8", "22")            \
        STORE(high, "9", "23") STORE(high, "10", "24") STORE(high, "11", "25")          \
        STORE(high, "12", "26") STORE(high, "13", "27")                                 \
        : "+a"(weights), "+d"(tile)                                                     \
        :                                                                               \
        : "rbx", "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",    \
          "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",        \
          "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",         \
          "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23",       \
          "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "cc", \
          "memory");                                                                    \
  }

DEFINE_TILE(compute_tile_of_32, HIGH_OF_32, COLUMN_OF_32, "128")
DEFINE_TILE(compute_tile_of_16, HIGH_OF_16, COLUMN_OF_16, "128")
DEFINE_TILE(compute_narrow_tile, HIGH_OF_16, COLUMN_OF_16, "64")

/* clang-format on */

#define AS_READ(field, at) \
  _Static_assert(offsetof(struct wide_tile, field) == (at), "as the code above reads it")
AS_READ(pointers, 0);
AS_READ(elements, 8);
AS_READ(zero, 16);
AS_READ(offset, 24);
AS_READ(fours, 32);
AS_READ(ones, 40);
AS_READ(rest, 48);
AS_READ(ahead, 56);
AS_READ(step, 64);
AS_READ(output, 72);
AS_READ(output_stride, 80);
AS_READ(min, 96);
AS_READ(max, 100);
AS_READ(skipped, 104);

#undef AHEAD
#undef AS_READ
#undef BIAS
#undef BRING
#undef CLAMP
#undef COLUMN_OF_16
#undef COLUMN_OF_32
#undef DEFINE_TILE
#undef ELEMENTS
#undef FIND
#undef FOURS
#undef HIGH_OF_16
#undef HIGH_OF_32
#undef INPUT
#undef LEFT
#undef NEXT
#undef OFFSET
#undef ONES
#undef POINTERS
#undef REST
#undef ROW
#undef STEP
#undef STORE
#undef TILE
#undef TIMES
#undef TIMES_INPUT
#undef ZERO

#endif /* x86-64 */

#endif /* PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_TILE_H_ */
