#!/usr/bin/env python3
"""cuzk-bench gen-vanilla: its files are inputs of cuzk, the same seed gives the same ones, what cannot be is refused.

gen_vanilla.py BIN WORK
"""
import gzip
import json
import pathlib
import shutil
import subprocess
import sys

BIN, WORK = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
GEN = ["cuzk-bench", "gen-vanilla"]


def run(program, *args, exit_status=0, text=None):
    p = subprocess.run([BIN / program, *map(str, args)], capture_output=True, text=True)
    if p.returncode != exit_status or (text and text not in p.stderr):
        sys.exit(f"{program} {' '.join(map(str, args))}\nexit {p.returncode}, expected {exit_status} with {text}\n{p.stderr}")
    return p.stdout


def make(name, *args):
    folder = WORK / name
    run(*GEN, *args, "--out", folder)
    return {f.name: f.read_bytes() for f in folder.iterdir()}


def witness(name, kind, options):
    e = json.loads((WORK / name / "expected.json").read_text())
    args = [x for o in options for x in (f"--{o.replace('_', '-')}", e[o])]
    proof = e.get("registered_post_proof") or e["registered_update_proof"]
    files = sorted((WORK / name).glob("vanilla-*.bin"))
    out = run("cuzk", "witness", "--type", kind, "--registered-proof", proof, *args, "--json", "--vanilla", *files)
    return [json.loads(line) for line in out.splitlines()]


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
POST, SNAP = ["randomness", "prover_id"], ["comm_r_old", "comm_r_new", "comm_d_new"]
CASES = [("winning", "winning", [], POST, 1), ("window", "window", ["--sectors", 3], POST, 2),
         ("window", "window", ["--sectors", 2, "--version", "V1"], POST, 1), ("snap", "update", [], SNAP, 1)]
for i, (kind, circuit, more, options, partitions) in enumerate(CASES):
    first = make(f"{i}-a", kind, "--seed", 5, *more)
    if first != make(f"{i}-b", kind, "--seed", 5, "--threads", 3, *more):
        sys.exit(f"{kind}: the same seed gives other files")
    if first == make(f"{i}-c", kind, "--seed", 6, *more):
        sys.exit(f"{kind}: another seed gives the same files")
    if len(witness(f"{i}-a", circuit, options)) != partitions:
        sys.exit(f"{kind}: {partitions} partitions expected")

for version in ["V1", "V1_1"]:
    c1 = [WORK / f"{version}-{n}" for n in ("a.json", "b.json", "c.json", "d.json.gz")]
    for path, seed, threads in zip(c1, (5, 5, 6, 5), (1, 3, 3, 2)):
        out = run(*GEN, "porep", "--version", version, "--seed", seed, "--threads", threads, "--out", path)
        if f"StackedDrg2KiB{version}: sector " not in out:
            sys.exit(f"porep says: {out}")
    a, b, c, d = (path.read_bytes() for path in c1)
    if a != b or a == c or gzip.decompress(d) != a:
        sys.exit(f"porep {version}: the seed decides, not the threads or gzip")
    if json.loads(a)["registered_proof"] != f"StackedDrg2KiB{version}":
        sys.exit("porep: another registered proof")
    plain, packed = (run("cuzk", "witness", "--c1", path, "--json") for path in (c1[0], c1[3]))
    if plain != packed or len(plain.splitlines()) != 1:
        sys.exit(f"porep {version}: witness {plain}")

for args, text in [(["porep", "--version", "synthetic", "-o", "x"], "depend on comm_r"),
                   (["porep", "--version", "non-interactive", "--sector", "32GiB", "-o", "x"], "depend on comm_r"),
                   (["porep", "--version", "V1_1_Feat_SyntheticPoRep", "-o", "x"], "depend on comm_r"),
                   (["porep", "--version", "V2", "-o", "x"], "porep has V1 and V1_1"),
                   (["porep", "--sectors", 2, "-o", "x"], "of one sector"), (["porep", "--partition", 1, "-o", "x"], "all of its"),
                   (["porep", "--sector", "4KiB", "-o", "x"], "64GiB"), (["porep"], "--out is missing"),
                   ([], "wants a kind"), (["cake", "-o", "x"], "unknown kind"), (["snap"], "--out is missing"),
                   (["winning", "--sectors", 2, "-o", "x"], "a winning PoSt is of one"),
                   (["window", "--sectors", 0, "-o", "x"], "at least one"),
                   (["window", "--version", "V9", "-o", "x"], "V1 and V1_2"),
                   (["snap", "--sectors", 2, "-o", "x"], "of one sector"), (["snap", "--threads", 1025, "-o", "x"], "--threads"),
                   (["snap", "--sector", "3KiB", "-o", "x"], "64GiB"), (["snap", "x", "-o", "x"], "unexpected word")]:
    run(*GEN, *args, exit_status=2, text=text)
run(*GEN, "porep", "-o", WORK / "no" / "c1.json", exit_status=1, text="No such file")
run(*GEN, "snap", "-o", WORK / "no" / "folder", exit_status=1, text="No such file")
print("ok")
