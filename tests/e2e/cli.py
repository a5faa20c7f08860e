#!/usr/bin/env python3
"""The cuzk command against the reference's outputs.

cli.py BIN SHARED WORK PART [--long]
    BIN     folder with the programs         SHARED  folder with vectors/
    WORK    folder for parameters and scratch; "setup" fills WORK/params for "prove" and for the daemon's tests
    PART    r1cs | witness | witness-kinds | setup | setup-kinds | prove | prove-kinds | verify | inspect | bad
"""
import base64
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

BIN, SHARED, WORK = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
PART = sys.argv[4]
LONG = "--long" in sys.argv
REF = SHARED / "vectors" / "reference"
POREP = REF / "2kib" / "porep-v1_1"
PARAMS = WORK / "params"
STEM = "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f"
checks = 0


def run(*args, exit_status=0):
    p = subprocess.run([BIN / "cuzk", *map(str, args)], capture_output=True, text=True)
    if p.returncode != exit_status:
        sys.exit(f"cuzk {' '.join(map(str, args))}\nexit {p.returncode}, expected {exit_status}\n{p.stdout}{p.stderr}")
    return p


def on_terminal(*args):
    """Standard output, and what a terminal on standard error showed."""
    master, slave = os.openpty()
    p = subprocess.Popen([BIN / "cuzk", *map(str, args)], stdout=subprocess.PIPE, stderr=slave, text=True)
    os.close(slave)
    shown = b""
    while True:
        try:
            block = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        shown += block
    out, _ = p.communicate()
    os.close(master)
    equal(p.returncode, 0, shown.decode())
    return out, shown.decode()


def lines(*args, exit_status=0):
    return [json.loads(line) for line in run(*args, "--json", exit_status=exit_status).stdout.splitlines()]


def equal(got, want, what):
    global checks
    checks += 1
    if got != want:
        sys.exit(f"{what}\n got  {got}\n want {want}")


def expected(folder):
    return json.loads((folder / "expected.json").read_text())


def r1cs():
    names = {"2kib": "2KiB", "4kib": "4kib", "16kib": "16KIB", "32kib": "32KiB", "8mib": "8MiB", "512mib": "512MiB",
             "32gib": "32GiB", "64gib": "64GiB"}
    for text in (REF / "r1cs.jsonl").read_text().splitlines():
        want = json.loads(text)
        if want["sector"] not in ("2kib", "8mib") and not LONG:
            continue
        got, = lines("r1cs", "--circuit", want["circuit"], "--sector", names[want["sector"]])
        equal({k: got[k] for k in want if k != "sector"}, {k: v for k, v in want.items() if k != "sector"}, f"r1cs {want['circuit']} {want['sector']}")
        equal(got["sector"].lower(), want["sector"], "sector")
    got, = lines("r1cs", "--circuit", "porep", "--sector", "2KiB", "--trace", REF / "trace" / "porep-2kib.u16")
    equal(got["first_difference"], None, "trace")
    # A changed trace names the constraint that differs.
    trace = bytearray((REF / "trace" / "porep-2kib.u16").read_bytes())
    trace[2 * 1234567] ^= 1
    changed = WORK / "changed.u16"
    changed.write_bytes(trace)
    got, = lines("r1cs", "--circuit", "porep", "--sector", "2KiB", "--trace", changed, exit_status=1)
    equal(got["first_difference"]["constraint"], 1234567, "first difference")


def witness():
    for folder in sorted((REF / "2kib").glob("porep-*")) + [REF / "8mib" / "porep-v1_1"]:
        want = expected(folder)["partition"]
        got = []
        if "non-interactive" in folder.name:
            for k in range(len(want)):
                got += lines("witness", "--c1", folder / "c1.json.gz", "--partition", k)
        else:
            got = lines("witness", "--c1", folder / "c1.json.gz")
        equal(len(got), len(want), f"{folder.name}: partitions")
        for k, (g, w) in enumerate(zip(got, want)):
            equal(g["partition"], k, "partition")
            equal(g["aux"], w["aux"], f"{folder.name} {k}: aux")
            equal(g["sha256"], w["witness_sha256" if "witness_sha256" in w else "sha256"], f"{folder.name} {k}: witness digest")
            equal(g["public_inputs"], w["public_inputs"], f"{folder.name} {k}: public inputs")


def setup():
    want = json.loads((REF / "keys" / "params.jsonl").read_text().splitlines()[0])
    PARAMS.mkdir(parents=True, exist_ok=True)
    got, = lines("setup", "--circuit", "porep", "--sector", "2KiB", "--out", PARAMS, "--toxic-waste", REF / "keys" / "toxic-waste.json")
    equal(got["params_sha256"], want["params_sha256"], "params digest")
    equal(got["vk_sha256"], want["vk_sha256"], "vk digest")
    equal(pathlib.Path(got["params"]).name, STEM + ".params", "file name")
    equal(pathlib.Path(got["params"]).stat().st_size, want["params_bytes"], "length")
    digest = hashlib.sha256()
    with open(got["params"], "rb") as f:
        while block := f.read(1 << 22):
            digest.update(block)
    equal(digest.hexdigest(), want["params_sha256"], "the file itself")
    equal(pathlib.Path(got["vk"]).read_bytes(), (REF / "keys" / "porep-2kib.vk").read_bytes(), "key")
    equal([p.name for p in PARAMS.iterdir() if "tmp" in p.name], [], "no temporary file is left")
    alone = WORK / "key-alone"
    shutil.rmtree(alone, ignore_errors=True)
    waste = ["--toxic-waste", REF / "keys" / "toxic-waste.json"]
    got, = lines("setup", "--circuit", "porep", "--sector", "2KiB", "--out", alone, "--vk-only", *waste)
    equal(("params" in got, got["vk_sha256"]), (False, want["vk_sha256"]), "the key alone")
    equal([p.name for p in alone.iterdir()], [STEM + ".vk"], "nothing beside it")
    got, = lines("setup", "--circuit", "window", "--sector", "2KiB", "--out", alone, "--no-hash", "--stats", *waste)
    window = next(w for w in map(json.loads, (REF / "keys" / "params.jsonl").read_text().splitlines()) if w["circuit"] == "window")
    equal(("params_sha256" in got, got["params_bytes"]), (False, window["params_bytes"]), "not hashed")
    equal(hashlib.sha256(pathlib.Path(got["params"]).read_bytes()).hexdigest(), window["params_sha256"], "the file that was not hashed")
    run("setup", "--circuit", "porep", "--sector", "2KiB", "--out", alone, "--vk-only", exit_status=2)
    run("setup", "--circuit", "porep", "--sector", "2KiB", "--out", alone, "--device", "cuda", exit_status=1)


def kind_options(folder, kind):
    e = expected(folder)
    vanilla = sorted(folder.glob("vanilla-*.bin"), key=lambda p: int(p.stem.split("-")[1]))
    options = ["--type", kind, "--vanilla", *vanilla]
    if kind == "update":
        return options + ["--registered-proof", e["registered_update_proof"], "--comm-r-old", e["comm_r_old"], "--comm-r-new",
                          e["comm_r_new"], "--comm-d-new", e["comm_d_new"]]
    return options + ["--registered-proof", e["registered_post_proof"], "--randomness", e["randomness"], "--prover-id", e["prover_id"]]


KINDS = (("winning", "winning"), ("window", "window-v1"), ("window", "window-v1_2"), ("window", "window-v1_2-two"), ("update", "update"))


def witness_kinds():
    folders = [(kind, REF / "2kib" / name) for kind, name in KINDS]
    folders += [("winning", REF / "8mib" / "winning"), ("window", REF / "8mib" / "window-v1_2"), ("update", REF / "8mib" / "update")]
    for kind, folder in folders:
        want = expected(folder)["partition"]
        got = lines("witness", *kind_options(folder, kind))
        equal([g["sha256"] for g in got], [w["sha256"] for w in want], f"{folder}: witness digests")
        equal([g["public_inputs"] for g in got], [w["public_inputs"] for w in want], f"{folder}: public inputs")
    # The vanilla proofs as Curio's files have them: a JSON array of base64.
    folder = REF / "2kib" / "window-v1_2"
    array = WORK / "vanilla.json"
    array.write_text(json.dumps([base64.b64encode((folder / f"vanilla-{i}.bin").read_bytes()).decode() for i in range(3)]))
    options = kind_options(folder, "window")
    at = options.index("--registered-proof")
    got = lines("witness", "--type", "window", "--vanilla", array, *options[at:])
    equal([g["sha256"] for g in got], [w["sha256"] for w in expected(folder)["partition"]], "from a JSON array")


def setup_kinds():
    PARAMS.mkdir(parents=True, exist_ok=True)
    for text in (REF / "keys" / "params.jsonl").read_text().splitlines():
        want = json.loads(text)
        if want["circuit"] == "porep":
            continue
        got, = lines("setup", "--circuit", want["circuit"], "--sector", "2KiB", "--out", PARAMS, "--toxic-waste",
                     REF / "keys" / "toxic-waste.json")
        equal((got["params_sha256"], got["vk_sha256"]), (want["params_sha256"], want["vk_sha256"]), want["circuit"])


def prove_kinds():
    for kind, name in KINDS:
        folder = REF / "2kib" / name
        options = kind_options(folder, kind)
        parts = expected(folder)["partition"]
        out = WORK / "kind.bin"
        vk, = [p for p in PARAMS.glob("*.vk") if p.read_bytes() == (REF / "keys" / f"{kind}-2kib.vk").read_bytes()]
        for k, part in enumerate(parts):
            if "proof" not in part:
                continue
            run("prove", *options, "--partition", k, "--params", PARAMS, "--out", out, "--unsafe-randomness", part["r"] + "," + part["s"])
            equal(out.read_bytes().hex(), part["proof"], f"{name} partition {k}: proof bytes for given r, s")
            got, = lines("verify", *options, "--partition", k, "--vk", vk, "--proof", out)
            equal(got["valid"], True, f"{name} partition {k}")
        run("prove", *options, "--params", PARAMS, "--out", out)
        equal(out.stat().st_size, 192 * len(parts), f"{name}: proof length")
        got, = lines("verify", *options, "--vk", vk, "--proof", out)
        equal(got["valid"], True, f"{name}: fresh proof")


def prove():
    part = expected(POREP)["partition"][0]
    out = WORK / "proof.bin"
    run("prove", "--c1", POREP / "c1.json.gz", "--params", PARAMS, "--out", out, "--unsafe-randomness", part["r"] + "," + part["s"])
    equal(out.read_bytes().hex(), part["proof"], "proof bytes for given r, s")
    got, = lines("verify", "--c1", POREP / "c1.json.gz", "--vk", PARAMS / (STEM + ".vk"), "--proof", out)
    equal(got["valid"], True, "verify")
    # Fresh randomness, another sector version, the client's envelope.
    c1 = gzip.decompress((REF / "2kib" / "porep-v1_1-synthetic" / "c1.json.gz").read_bytes())
    envelope = WORK / "envelope.json"
    envelope.write_text(json.dumps({"SectorNum": 1, "Phase1Out": base64.b64encode(c1).decode(), "SectorSize": 2048}))
    start = time.monotonic()
    text, shown = on_terminal("prove", "--c1", envelope, "--params", PARAMS, "--out", WORK / "second.bin", "--json")
    equal(json.loads(text)["proof_bytes"], 192, "proof length")
    if time.monotonic() - start > 4:
        equal("prove: partition 1 of 1 … " in shown, True, f"progress on a terminal: {shown!r}")
        equal(shown.endswith("\r\033[K"), True, f"the line is wiped: {shown!r}")
    got, = lines("verify", "--c1", envelope, "--vk", PARAMS / (STEM + ".vk"), "--proof", WORK / "second.bin")
    equal(got["valid"], True, "fresh proof")
    # Another sector's proof is invalid, with exit status 1.
    got, = lines("verify", "--c1", envelope, "--vk", PARAMS / (STEM + ".vk"), "--proof", out, exit_status=1)
    equal(got["valid"], False, "another sector's proof")


def verify():
    key = REF / "keys" / "porep-2kib.vk"
    proof = bytes.fromhex(expected(POREP)["partition"][0]["proof"])
    path = WORK / "reference.bin"
    path.write_bytes(proof)
    equal(lines("verify", "--c1", POREP / "c1.json.gz", "--vk", key, "--proof", path)[0]["valid"], True, "reference's proof")
    for prf in sorted((SHARED / "vectors" / "filecoin-real").glob("*.prf")):
        equal(lines("verify", "--prf", prf)[0]["valid"], True, prf.name)
        data = bytearray(prf.read_bytes())
        data[-1 if "x10" in prf.name else 200 + 31] ^= 1  # the lowest byte of a public input
        bad = WORK / "bad.prf"
        bad.write_bytes(data)
        equal(lines("verify", "--prf", bad, exit_status=1)[0]["valid"], False, prf.name + " changed")
    for cut in (0, 191, 193, 384):
        path.write_bytes((proof * 3)[:cut])
        run("verify", "--c1", POREP / "c1.json.gz", "--vk", key, "--proof", path, exit_status=1)


def inspect():
    kinds = [(REF / "keys" / "porep-2kib.vk", "vk"), (POREP / "c1.json.gz", "c1"), (SHARED / "vectors" / "filecoin-real" / "winning32.prf", "prf")]
    proof = WORK / "reference-inspect.bin"
    proof.write_bytes(bytes.fromhex(expected(POREP)["partition"][0]["proof"]))
    kinds.append((proof, "proof"))
    if PARAMS.exists():
        kinds.append((PARAMS / (STEM + ".params"), "params"))
    for path, kind in kinds:
        got, = lines("inspect", path)
        equal(got["kind"], kind, str(path))
        run("inspect", path)
    page = WORK / "page.params"
    page.write_text("<html>404 not found</html>")
    p = run("inspect", page, exit_status=1)
    equal("HTML" in p.stderr, True, f"an error page is named: {p.stderr}")


def bad():
    c1 = gzip.decompress((POREP / "c1.json.gz").read_bytes())
    text = json.loads(c1)
    table = []

    def case(name, data, *words):
        path = WORK / f"bad-{len(table)}.json"
        path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        table.append((name, path, words))

    def changed(**kw):
        return {**text, **kw}

    case("empty", b"")
    case("truncated", c1[: len(c1) // 2])
    case("not json", b"\x00\x01\x02")
    case("a page", b"<html>not found</html>")
    case("missing field", {k: v for k, v in text.items() if k != "comm_r"}, "comm_r")
    case("wrong type", changed(seed="abc"), "seed")
    case("short array", changed(ticket=[1, 2, 3]), "ticket")
    case("byte out of range", changed(comm_d=[256] * 32), "comm_d")
    case("not below r", changed(comm_r=[255] * 32), "comm_r")
    case("unknown proof", changed(registered_proof="StackedDrg3KiBV9"), "registered_proof")
    case("another size", changed(registered_proof="StackedDrg8MiBV1_1"))
    case("deep nesting", b'{"a":' * 10000 + b"1" + b"}" * 10000)
    case("big number", b'{"registered_proof":' + b"9" * 10_000_000 + b"}")
    case("invalid utf-8", c1.replace(b"StackedDrg2KiBV1_1", b"StackedDrg2KiBV1_\xff"))
    case("envelope base64", {"SectorNum": 1, "Phase1Out": "****", "SectorSize": 2048}, "Phase1Out")
    case("envelope size", {"SectorNum": 1, "Phase1Out": base64.b64encode(c1).decode(), "SectorSize": 4096}, "SectorSize")
    case("trailing", c1 + b"x")
    for name, path, words in table:
        p = run("witness", "--c1", path, exit_status=1)
        message = p.stderr.strip()
        if not message or "\n" in message:
            sys.exit(f"{name}: wants one line, got {message!r}")
        for word in words:
            equal(word in message, True, f"{name}: {message!r} names {word}")
    usage = [[], ["nonsense"], ["r1cs"], ["r1cs", "--circuit", "porep", "--sector", "3KiB"], ["r1cs", "--circuit", "porep", "--sector", "2KiB", "--frobnicate"],
             ["prove", "--c1", "x"], ["witness", "--c1", POREP / "c1.json.gz", "--partition", "x"], ["witness", "--c1", POREP / "c1.json.gz", "--threads", "-1"]]
    for args in usage:
        run(*args, exit_status=2)
    run("witness", "--c1", WORK / "absent.json", exit_status=1)
    run("witness", "--c1", POREP / "c1.json.gz", "--partition", "7", exit_status=1)
    p = run("prove", "--c1", WORK / "absent.json", "--params", WORK, "--out", WORK / "absent" / "x.bin", exit_status=1)
    equal("x.bin" in p.stderr, True, f"the output is opened before the work: {p.stderr}")
    folder = WORK / "ended"
    p = subprocess.Popen([BIN / "cuzk", "setup", "--circuit", "porep", "--sector", "2KiB", "--out", folder])
    time.sleep(1)
    equal(p.poll(), None, "the setup goes on")
    p.terminate()
    equal(p.wait(), -15, "setup ended by SIGTERM")
    try:
        os.close(os.open(folder, os.O_WRONLY | os.O_TMPFILE, 0o600))
        equal(os.listdir(folder), [], "and what it leaves")
    except OSError:  # a file system without unnamed files
        pass
    if PARAMS.exists():
        stem = WORK / "wrong" / (STEM + ".params")
        stem.parent.mkdir(exist_ok=True)
        for name, data in (("page", b"<!DOCTYPE html><title>404</title>"), ("short", (PARAMS / (STEM + ".params")).open("rb").read(100000)), ("empty", b"")):
            stem.write_bytes(data)
            p = run("prove", "--c1", POREP / "c1.json.gz", "--params", stem.parent, "--out", WORK / "x.bin", exit_status=1)
            equal(STEM in p.stderr, True, f"{name}: names the file: {p.stderr}")
        stem.unlink()
        p = run("prove", "--c1", POREP / "c1.json.gz", "--params", stem.parent, "--out", WORK / "x.bin", exit_status=1)
        equal(STEM in p.stderr, True, f"absent: names the file: {p.stderr}")


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    {"r1cs": r1cs, "witness": witness, "setup": setup, "prove": prove, "verify": verify, "inspect": inspect, "bad": bad,
     "witness-kinds": witness_kinds, "setup-kinds": setup_kinds, "prove-kinds": prove_kinds}[PART]()
    print(f"{PART}: {checks} checks passed")
