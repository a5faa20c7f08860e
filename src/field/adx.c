#include "field/constants.h"
#include "field/field_int.h"
#include "field/fp_inline.h"
#include "field/fr_inline.h"

/*
 * Montgomery products with mulx and the two carry chains of adcx and adox, a limb of b at a time: t += a·b[i], then
 * t = (t + k·m)/2^64. The moduli leave the top bit free, so the carry of the first half joins the second's top limb
 * without overflow. rdx holds the multiplier; the assembler is inline, so that it needs no calling convention.
 */

#if FIELD_X86_64

/* t[0…] (+)= a[j]·rdx; [A] takes the carry of the last limb. */
#define MUL_STEP(j, low, high) "mulx 8*" #j "(%[a]), %%rax, %[A]\n\tadox %%rax, %[" low "]\n\t"
#define MUL_NEXT(high) "adcx %[A], %[" high "]\n\t"

/* t[j-1] = t[j] + …: the low product of limb j joins t[j - 1], the high one becomes t[j]. */
#define RED_STEP(j, below, own)                                                                                        \
    "adcx %[" own "], %[" below "]\n\t"                                                                                \
    "mulx 8*" #j "+%[m], %%rax, %[" own "]\n\t"                                                                        \
    "adox %%rax, %[" below "]\n\t"

#define RED_START(first)                                                                                               \
    "mov %[inv], %%rdx\n\t"                                                                                            \
    "imul %[" first "], %%rdx\n\t"                                                                                     \
    "xor %%eax, %%eax\n\t"                                                                                             \
    "mulx %[m], %%rax, %[h]\n\t"                                                                                       \
    "adcx %[" first "], %%rax\n\t"                                                                                     \
    "mov %[h], %[" first "]\n\t"

#define RED_END(last)                                                                                                  \
    "mov $0, %%eax\n\t"                                                                                                \
    "adcx %%rax, %[" last "]\n\t"                                                                                      \
    "adox %[A], %[" last "]\n\t"

#define FP_REDUCE                                                                                                      \
    RED_START("t0")                                                                                                    \
    RED_STEP(1, "t0", "t1")                                                                                            \
    RED_STEP(2, "t1", "t2")                                                                                            \
    RED_STEP(3, "t2", "t3") RED_STEP(4, "t3", "t4") RED_STEP(5, "t4", "t5") RED_END("t5")

#define FP_ROUND(i)                                                                                                    \
    "mov 8*" #i "(%[b]), %%rdx\n\t"                                                                                    \
    "xor %%eax, %%eax\n\t" MUL_STEP(0, "t0", "t1") MUL_NEXT("t1") MUL_STEP(1, "t1", "t2") MUL_NEXT("t2")               \
        MUL_STEP(2, "t2", "t3") MUL_NEXT("t3") MUL_STEP(3, "t3", "t4") MUL_NEXT("t4") MUL_STEP(4, "t4", "t5")          \
            MUL_NEXT("t5") MUL_STEP(5, "t5", "t5") "mov $0, %%eax\n\t"                                                 \
                                                   "adcx %%rax, %[A]\n\t"                                              \
                                                   "adox %%rax, %[A]\n\t" FP_REDUCE

#define FR_REDUCE                                                                                                      \
    RED_START("t0")                                                                                                    \
    RED_STEP(1, "t0", "t1") RED_STEP(2, "t1", "t2") RED_STEP(3, "t2", "t3") RED_END("t3")

#define FR_ROUND(i)                                                                                                    \
    "mov 8*" #i "(%[b]), %%rdx\n\t"                                                                                    \
    "xor %%eax, %%eax\n\t" MUL_STEP(0, "t0", "t1") MUL_NEXT("t1") MUL_STEP(1, "t1", "t2") MUL_NEXT("t2")               \
        MUL_STEP(2, "t2", "t3") MUL_NEXT("t3") MUL_STEP(3, "t3", "t3") "mov $0, %%eax\n\t"                             \
                                                                       "adcx %%rax, %[A]\n\t"                          \
                                                                       "adox %%rax, %[A]\n\t" FR_REDUCE

void cz_fp_mul_adx(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b) {
    static const uint64_t inv = FP_INV;
    struct cz_fp t = {{0}};
    uint64_t carry, high;
    __asm__(FP_ROUND(0) FP_ROUND(1) FP_ROUND(2) FP_ROUND(3) FP_ROUND(4) FP_ROUND(5)
            : [t0] "+&r"(t.l[0]), [t1] "+&r"(t.l[1]), [t2] "+&r"(t.l[2]), [t3] "+&r"(t.l[3]), [t4] "+&r"(t.l[4]),
              [t5] "+&r"(t.l[5]), [A] "=&r"(carry), [h] "=&r"(high)
            : [a] "r"(a->l), [b] "r"(b->l), [m] "o"(CZ_FP_INLINE_MODULUS), [inv] "m"(inv)
            : "rax", "rdx", "cc", "memory");
    cz_fp_inline_reduce(r, &t);
}

void cz_fp_sqr_adx(struct cz_fp *r, const struct cz_fp *a) {
    cz_fp_mul_adx(r, a, a);
}

void cz_fr_mul_adx(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b) {
    static const uint64_t inv = FR_INV;
    struct cz_fr t = {{0}};
    uint64_t carry, high;
    __asm__(FR_ROUND(0) FR_ROUND(1) FR_ROUND(2) FR_ROUND(3)
            : [t0] "+&r"(t.l[0]), [t1] "+&r"(t.l[1]), [t2] "+&r"(t.l[2]), [t3] "+&r"(t.l[3]), [A] "=&r"(carry),
              [h] "=&r"(high)
            : [a] "r"(a->l), [b] "r"(b->l), [m] "o"(CZ_FR_INLINE_MODULUS), [inv] "m"(inv)
            : "rax", "rdx", "cc", "memory");
    cz_fr_inline_reduce(r, &t);
}

void cz_fr_sqr_adx(struct cz_fr *r, const struct cz_fr *a) {
    cz_fr_mul_adx(r, a, a);
}

#endif
