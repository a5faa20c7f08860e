#!/usr/bin/env python3
"""Proofs of all kinds of 2 KiB sectors on a device, with fixed r and s, held against the reference's bytes.

gpu-proofs.py CUZK VECTORS [DEVICE] [FOLDER]: the cuzk program, shared/vectors, the device (cuda:0), a folder for
parameters (made by `cuzk setup` on that device with the public toxic waste when they are not there; 2.5 GB). Exit 0 when all are equal.
"""
import json
import pathlib
import subprocess
import sys
import time

cuzk, vectors = sys.argv[1], pathlib.Path(sys.argv[2])
device = sys.argv[3] if len(sys.argv) > 3 else "cuda:0"
folder = pathlib.Path(sys.argv[4] if len(sys.argv) > 4 else "/tmp/cuzk-params")
reference = vectors / "reference"
KINDS = {"porep-v1_1": "porep", "winning": "winning", "window-v1_2": "window", "update": "update"}
STREAMED = {"porep-v1_1": "1950", "update": "1950"}  # MiB: too little for the vectors
bad = 0


def run(*args):
    start = time.time()
    p = subprocess.run([cuzk, *map(str, args)], capture_output=True, text=True)
    return p.returncode == 0, (p.stdout + p.stderr).strip(), time.time() - start


def source(case, kind, expected):
    if kind == "porep":
        return ["--c1", case / "c1.json.gz"]
    options = ["--type", kind, "--vanilla", *sorted(case.glob("vanilla-*.bin"))]
    if kind == "update":
        for name in ("comm_r_old", "comm_r_new", "comm_d_new"):
            options += ["--" + name.replace("_", "-"), expected[name]]
        return options + ["--registered-proof", expected["registered_update_proof"]]
    return options + ["--registered-proof", expected["registered_post_proof"], "--randomness", expected["randomness"],
                      "--prover-id", expected["prover_id"]]


for name, kind in KINDS.items():
    case = reference / "2kib" / name
    expected = json.loads((case / "expected.json").read_text())
    made = folder / ("made-" + kind)
    if not made.exists():
        ok, text, seconds = run("setup", "--circuit", kind, "--sector", "2KiB", "--out", folder, "--toxic-waste",
                                reference / "keys" / "toxic-waste.json", "--device", device)
        print(f"setup {kind}: {seconds:.1f} s" if ok else f"FAIL  setup {kind}: {text}", flush=True)
        if not ok:
            bad += 1
            continue
        made.touch()
    for limit in [None] + ([STREAMED[name]] if name in STREAMED else []):
        for k, part in enumerate(expected["partition"]):
            out = folder / "proof.bin"
            options = ["--vram-limit", limit] if limit else []
            ok, text, seconds = run("prove", *source(case, kind, expected), "--partition", k, "--params", folder, "--out",
                                    out, "--unsafe-randomness", part["r"] + "," + part["s"], "--device", device, *options)
            equal = ok and out.read_bytes().hex() == part["proof"]
            bad += not equal
            what = f"{name} partition {k}" + (f", vram {limit} MiB" if limit else "")
            print(("ok   " if equal else "FAIL ") + f" {what}: " + (text if not equal or ok else ""), flush=True)
print("all proofs equal the reference's" if not bad else f"{bad} failed")
sys.exit(bad != 0)
