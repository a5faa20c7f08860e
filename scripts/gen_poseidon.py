#!/usr/bin/env python3
"""Generates src/hash/poseidon_constants.inc (spec/gadgets.md §6.1, spec/known-values.md §3).

    gen_poseidon.py          writes the file
    gen_poseidon.py --check  compares it with what is committed; exit 1 when it differs
    gen_poseidon.py --arity 36 --out FILE
                             writes the constants of one arity to FILE, made while building; only a test needs arity 36

Raw round constants from the Grain LFSR, the Cauchy matrix M, the compressed constants and the sparse factors of the
partial rounds. Every array is checked against the published SHA-256 before anything is written. None is published for
arity 36; what the reference makes with it is (tests/vectors/test_r1cs_gadgets.c).
"""

import hashlib
import os
import sys

R = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
FIELD_BITS = 255
FULL = 8
PARTIAL = {2: 55, 4: 56, 8: 57, 11: 57}
PARTIAL_OF_TESTS = {36: 60}
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "hash", "poseidon_constants.inc")

# arity: comp, M, pre_sparse, sparse, rc (known-values.md §3)
SUMS = {
    2: (
        "b768b730ce5198394d948d76421ab53b08cc16ec1ac082cf503f370192253e16",
        "b55e71db69c416c830c28ca9871f933b6c27220eae309801c981ee3b0885ee51",
        "13d6e8e5ba45b0d2096617d055499f36adad1aab6853de143ed42b14eea9a0f6",
        "a2fe507a83bddb8d57e5a00e7e58e79800c272b0db7dd4141943f6e567e99138",
        "cf4dfb7448132022e22b32e3dce6b125cb06329448f9e8d8fe53a71c73cbe6d4",
    ),
    4: (
        "3e4ec19ded2c86a89f3d6bddc13d9571a0cc5473e7207cfbaf6a8169a69f5709",
        "42a9ccbf22e42dc598fbe106f6b5019b46d545a725eb7538ba6bcf3765b350ab",
        "aee67dfb1ae8c43eca89f5742a745c6309f2d302ab741b75d2641b7025d87413",
        "f1c3c3a9fe9ea4a3c38c91971e5f379da38123fe1dcf960b461d84c5ba759f2b",
        "91e463d6553415b3901b9f26b2ad53e6298ac3e5ab0ef260d397bafe8bdde98e",
    ),
    8: (
        "f5a94aea73a583d080abdf7d71259fab9107f5523a4a1eddc41468f94564dd16",
        "82d366586a4b49ae74f4c5bbc94bbed0a0eb064584097367d926ae1f11e30894",
        "dcfbdaea3eb7e347664c8f881c5443b1895f10c85cab0878022eb287defa8587",
        "3f823785875d8cc161c963d2a62d103a3fefab30eb4244cef877d8e624fb79f4",
        "9a4a743575f0eaf285c93d73f8adaf4e7ef4042c2445b42bddaf1a64e5face72",
    ),
    11: (
        "2d7c0e4e9b98eda82102b69f1a964ae59ccf98b0008b6d3d632d86f4fea79d1d",
        "7ef350e5db367cae7828071ca354fefd25c59fe77e31261d27fb2ce8f14ff956",
        "f2a7353f0ce5ad724a7a58bf2db0e37f7c5662f064a6c97466021af83279a96e",
        "810a4d7f126f6e5fb3eb1980b57c70f90bb835219373d955726e30b3ca931556",
        "479dc0d71d694cd50d853dec0c94aeb37df2a69929eaa23b545a52b1226aec06",
    ),
}


def grain_constants(t, partial):
    """(FULL + partial)·t field elements of the Grain LFSR, rejecting values >= R."""
    state = 0  # bit 79 is b0, the oldest
    for value, width in ((1, 2), (1, 4), (FIELD_BITS, 12), (t, 12), (FULL, 10), (partial, 10), ((1 << 30) - 1, 30)):
        state = state << width | value
    mask = (1 << 80) - 1

    def bits():
        nonlocal state
        while True:
            s = state
            new = (s >> 17 ^ s >> 28 ^ s >> 41 ^ s >> 56 ^ s >> 66 ^ s >> 79) & 1
            state = (s << 1 | new) & mask
            yield new

    stream = bits()
    for _ in range(160):
        next(stream)
    out = []
    while len(out) < (FULL + partial) * t:
        value, have = 0, 0
        while have < FIELD_BITS:
            use, bit = next(stream), next(stream)
            if use:
                value, have = value << 1 | bit, have + 1
        if value < R:
            out.append(value)
    return out


def mat_vec(m, v):
    return [sum(a * b for a, b in zip(row, v)) % R for row in m]


def mat_mul(a, b):
    cols = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, col)) % R for col in cols] for row in a]


def mat_inverse(m):
    n = len(m)
    a = [list(row) + [int(i == j) for j in range(n)] for i, row in enumerate(m)]
    for c in range(n):
        p = next(i for i in range(c, n) if a[i][c])
        a[c], a[p] = a[p], a[c]
        k = pow(a[c][c], -1, R)
        a[c] = [x * k % R for x in a[c]]
        for i in range(n):
            if i != c and a[i][c]:
                f = a[i][c]
                a[i] = [(x - f * y) % R for x, y in zip(a[i], a[c])]
    return [row[n:] for row in a]


def compress(rc, t, partial, inverse):
    """The constants that follow when each addition is moved through the linear layer before it."""
    rk = lambda q: rc[q * t : (q + 1) * t]
    half = FULL // 2
    out = list(rk(0))
    for q in range(1, half):
        out += mat_vec(inverse, rk(q))
    acc, single = rk(half + partial), []
    for i in range(partial):
        v = mat_vec(inverse, acc)
        single.append(v[0])
        v[0] = 0
        acc = [(a + b) % R for a, b in zip(rk(half + partial - i - 1), v)]
    out += mat_vec(inverse, acc) + single[::-1]
    for q in range(1, half):
        out += mat_vec(inverse, rk(half + partial + q))
    assert len(out) == FULL * t + partial
    return out


def factor(m, partial):
    """pre_sparse and the list of (w_hat, v_rest), first partial round first."""
    t, cur, out = len(m), m, []
    for _ in range(partial):
        hat = [row[1:] for row in cur[1:]]
        w = mat_vec(mat_inverse(hat), [row[0] for row in cur[1:]])
        out.append([cur[0][0]] + w + cur[0][1:])
        prime = [[1] + [0] * (t - 1)] + [[0] + row for row in hat]
        cur = mat_mul(m, prime)
    return cur, out[::-1]


def digest(values):
    return hashlib.sha256(b"".join(v.to_bytes(32, "little") for v in values)).hexdigest()


def array(name, values):
    lines = [f"static const struct cz_fr {name}[{len(values)}] = {{"]
    for v in values:
        mont = (v << 256) % R
        limbs = ", ".join(f"0x{mont >> 64 * i & (1 << 64) - 1:016x}" for i in range(4))
        lines.append(f"    {{{{{limbs}}}}},")
    return lines + ["};"]


def constants(arity, partial):
    """The lines of the four arrays of one arity."""
    t = arity + 1
    rc = grain_constants(t, partial)
    m = [[pow(i + j + t, -1, R) for j in range(t)] for i in range(t)]
    comp = compress(rc, t, partial, mat_inverse(m))
    pre, sparse = factor(m, partial)
    flat = [[x for row in part for x in row] for part in (m, pre, sparse)]
    for what, values, want in zip(("comp", "mds", "pre_sparse", "sparse", "rc"), [comp, *flat, rc], SUMS.get(arity, ())):
        if digest(values) != want:
            sys.exit(f"gen_poseidon.py: arity {arity}: {what} has SHA-256 {digest(values)}, expected {want}")
    lines = []
    for what, values in zip(("COMP", "MDS", "PRE_SPARSE", "SPARSE"), [comp, *flat]):
        lines += array(f"{what}_{arity}", values)
    return lines


def generate(arities):
    lines = ["/* Made by scripts/gen_poseidon.py; do not edit. Montgomery form, limbs low to high. */", ""]
    for arity, partial in arities.items():
        lines += constants(arity, partial)
    return "\n".join(lines) + "\n"


def write(path, text):
    try:
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
    except OSError as e:
        sys.exit(f"gen_poseidon.py: {e}")


def main():
    args = sys.argv[1:]
    if args == ["--check"]:
        text = generate(PARTIAL)
        try:
            with open(OUT, encoding="ascii") as f:
                same = f.read() == text
        except OSError as e:
            sys.exit(f"gen_poseidon.py: {e}")
        if not same:
            sys.exit("gen_poseidon.py: src/hash/poseidon_constants.inc is not what the script makes")
    elif len(args) == 4 and args[0] == "--arity" and args[2] == "--out":
        every = {str(arity): (arity, partial) for arity, partial in {**PARTIAL, **PARTIAL_OF_TESTS}.items()}
        if args[1] not in every:
            sys.exit(f"gen_poseidon.py: --arity: {args[1]} is none of {', '.join(every)}")
        write(args[3], generate(dict([every[args[1]]])))
    elif args:
        sys.exit(__doc__)
    else:
        write(OUT, generate(PARTIAL))


if __name__ == "__main__":
    main()
