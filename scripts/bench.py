#!/usr/bin/env python3
"""Measures whole programs and prints Markdown tables: medians of several runs, the machine's name, peers on request."""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEM = "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f"


def run(args, **kw):
    p = subprocess.run([str(a) for a in args], capture_output=True, text=True, **kw)
    if p.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, args))}: exit {p.returncode}\n{p.stdout}{p.stderr}")
    return p.stdout


def run_watching_memory(args):
    """Output, seconds and the peak of anonymous memory (what is not a mapped file) in MiB, sampled every 20 ms."""
    start = time.monotonic()
    p = subprocess.Popen([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    peak = 0
    out = {}
    reader = threading.Thread(target=lambda: out.update(zip(("out", "err"), p.communicate())))
    reader.start()
    while reader.is_alive():
        try:
            status = pathlib.Path(f"/proc/{p.pid}/status").read_text()
            found = re.search(r"RssAnon:\s+(\d+)", status)
            peak = max(peak, int(found.group(1)) if found else 0)
        except OSError:
            pass
        time.sleep(0.02)
    reader.join()
    if p.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, args))}: exit {p.returncode}\n{out['out']}{out['err']}")
    return out["out"], time.monotonic() - start, peak / 1024


def daemon_status_latency(build, params, c1, work):
    """Milliseconds that GetStatus takes while a proof runs: one call every 100 ms, each a process of its own."""
    address = f"unix://{work}/bench.sock"
    config = work / "bench.toml"
    config.write_text(f'[daemon]\nlisten = "{address}"\n[memory]\ntotal_budget = "4GiB"\n[srs]\nparam_cache = "{params}"\n')
    daemon = subprocess.Popen([build / "bin" / "cuzk-daemon", "-c", config], stderr=subprocess.DEVNULL)
    bench = [build / "bin" / "cuzk-bench", "-a", address]
    try:
        for _ in range(100):
            if subprocess.run([*bench, "status"], capture_output=True).returncode == 0:
                break
            time.sleep(0.05)
        proof = subprocess.Popen([*bench, "single", "-t", "porep", "--c1", c1, "--json"], stdout=subprocess.PIPE, text=True)
        took = []
        while proof.poll() is None:
            start = time.monotonic()
            run([*bench, "status", "--json"])
            took.append((time.monotonic() - start) * 1e3)
            time.sleep(max(0, 0.1 - (time.monotonic() - start)))
        if proof.returncode != 0:
            sys.exit("bench: the daemon's proof failed")
        took.sort()
        return len(took), took[len(took) // 2], took[min(len(took) - 1, int(len(took) * 0.99))]
    finally:
        daemon.terminate()
        daemon.wait()


def cpu_name():
    found = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    flags = "avx512ifma" in pathlib.Path("/proc/cpuinfo").read_text()
    return f"{found.group(1) if found else 'unknown'}, {os.cpu_count()} cores{', AVX-512 IFMA' if flags else ''}"


def build_peers(shared, work):
    """Copies the peers' sources (the shared folder is read-only) and builds them; returns oracle and gnark programs."""
    oracle = os.environ.get("CZ_ORACLE")
    if not oracle:
        shutil.copytree(shared / "oracle", work / "oracle")
        subprocess.run(["chmod", "-R", "u+w", work / "oracle"], check=True)
        run(["cargo", "build", "--release"], cwd=work / "oracle", env={**os.environ, "CARGO_TARGET_DIR": str(work / "target")})
        oracle = work / "target" / "release" / "oracle"
    shutil.copytree(shared / "peers" / "gnark", work / "gnark")
    subprocess.run(["chmod", "-R", "u+w", work / "gnark"], check=True)
    run(["go", "build", "-o", "peer", "."], cwd=work / "gnark")
    return oracle, work / "gnark" / "peer"


def kind_options(folder, kind):
    """The options of a PoSt or update input of the vectors, and how many partitions it has."""
    e = json.loads((folder / "expected.json").read_text())
    options = ["--type", kind, "--vanilla", *sorted(folder.glob("vanilla-*.bin"))]
    if kind == "update":
        options += ["--registered-proof", e["registered_update_proof"], "--comm-r-old", e["comm_r_old"], "--comm-r-new", e["comm_r_new"],
                    "--comm-d-new", e["comm_d_new"]]
    else:
        options += ["--registered-proof", e["registered_post_proof"], "--randomness", e["randomness"], "--prover-id", e["prover_id"]]
    return options, len(e["partition"])


def kind_params(shared, folder, kind):
    """The parameter file of a circuit, by its key."""
    key = (shared / "vectors" / "reference" / "keys" / f"{kind}-2kib.vk").read_bytes()
    vk, = [p for p in folder.glob("*.vk") if p.read_bytes() == key]
    return vk.with_suffix(".params")


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(c) for c in row) + " |")
    print()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--peers", action="store_true")
    ap.add_argument("--no-peer-setup", action="store_true", help="with --peers: leave out bellperson's setup, which takes 13 minutes")
    ap.add_argument("--levels", action="store_true", help="single operations at every level of the field, not the best alone")
    ap.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    ap.add_argument("--shared", default=ROOT.parent / "shared", type=pathlib.Path)
    ap.add_argument("--runs", default=3, type=int)
    a = ap.parse_args()
    cuzk, ref = a.build / "bin" / "cuzk", a.shared / "vectors" / "reference"
    c1 = ref / "2kib" / "porep-v1_1" / "c1.json.gz"
    waste = ref / "keys" / "toxic-waste.json"
    with tempfile.TemporaryDirectory(dir=a.build) as tmp:
        work = pathlib.Path(tmp)
        params = work / "params"
        params.mkdir()
        print(f"Machine: {cpu_name()}. {time.strftime('%Y-%m-%d')}.\n", flush=True)

        # Setup, and the files that the rest uses.
        out, setup_s, setup_mem = run_watching_memory([cuzk, "setup", "--circuit", "porep", "--sector", "2KiB", "--out", params, "--toxic-waste", waste, "--json"])
        setup = json.loads(out)

        proves = []
        for _ in range(a.runs):
            out, wall, mem = run_watching_memory([cuzk, "prove", "--c1", c1, "--params", params, "--out", work / "proof", "--json"])
            proves.append((wall, mem, json.loads(out)["seconds"]))
        prove_s = statistics.median(p[0] for p in proves)
        prove_mem = max(p[1] for p in proves)
        middle = sorted(proves, key=lambda p: p[0])[len(proves) // 2][2]
        scalar = []
        for level in ("adx",):
            env = {**os.environ, "CUZK_FIELD": level}
            start = time.monotonic()
            run([cuzk, "prove", "--c1", c1, "--params", params, "--out", work / "proof2", "--json"], env=env)
            scalar.append((level, time.monotonic() - start))
        stats = [json.loads(run([cuzk, "r1cs", "--circuit", "porep", "--sector", "2KiB", "--stats", "--json"])) for _ in range(a.runs)]
        build_ms = statistics.median(s["seconds_build"] for s in stats) * 1e3
        single = [json.loads(run([cuzk, "witness", "--c1", c1, "--threads", "1", "--stats", "--json"]).splitlines()[-1]) for _ in range(a.runs)]
        witness_ms = statistics.median(s["seconds_assign"] for s in single) * 1e3
        level = "ifma" if "AVX-512 IFMA" in cpu_name() else "adx"
        single_ops = json.loads(run([a.build / "bin" / "bench_compute", "--json", *([] if a.levels else ["--level", level])]))

        kinds = {}
        for kind, name in (("winning", "winning"), ("window", "window-v1_2"), ("update", "update")):
            run([cuzk, "setup", "--circuit", kind, "--sector", "2KiB", "--out", params, "--toxic-waste", waste])
            options, partitions = kind_options(ref / "2kib" / name, kind)
            took = []
            for _ in range(a.runs):
                start = time.monotonic()
                run([cuzk, "prove", *options, "--params", params, "--out", work / "proof3"])
                took.append((time.monotonic() - start) / partitions)
            kinds[kind] = statistics.median(took)

        polls, p50, p99 = daemon_status_latency(a.build, params, c1, work)

        peer = {}
        if a.peers:
            oracle, gnark = build_peers(a.shared, work)
            env = {**os.environ, "RUST_LOG": "off", "FIL_PROOFS_PARENT_CACHE": str(work / "parents")}
            gnark_out = run([gnark, "16", "18", "20"])
            for m in re.finditer(r"^(\S+ 2\^\d+) s ([\d.]+)|^(\w+_(?:ns|ms)) ([\d.]+)", gnark_out, re.M):
                peer[m.group(1) or m.group(3)] = float(m.group(2) or m.group(4))
            # The reference's prover on our parameters (the same bytes as its own).
            mine = work / "oracle-params"
            mine.mkdir()
            os.link(params / (STEM + ".params"), mine / "porep-2kib.params")
            text = subprocess.run([str(a) for a in (oracle, "sectors", "42", work / "sw", work / "so", mine, "porep")], env=env, capture_output=True,
                                  text=True, check=True).stderr
            found = re.search(r"create_proof ([\d.]+)s", text)
            peer["prove"] = float(found.group(1)) if found else None
            for name in ("winning", "window", "update"):
                os.link(kind_params(a.shared, params, name), mine / f"{name}-2kib.params")
            for part in ("post", "update"):
                text = subprocess.run([str(x) for x in (oracle, "sectors", "42", work / f"sw-{part}", work / f"so-{part}", mine, part)], env=env,
                                      capture_output=True, text=True, check=True).stderr
                times = [float(t) for t in re.findall(r"create_proof ([\d.]+)s", text)]
                if part == "post":
                    peer["winning"], peer["window"] = times[0], statistics.median(times[1:])
                else:
                    peer["update"] = times[0]
            if not a.no_peer_setup:
                start = time.monotonic()
                run([oracle, "params", "porep", "2kib", work / "ok", work / "ok.params"], env=env)
                peer["setup"] = time.monotonic() - start

        rows = [["setup, s", f"{setup_s:.1f}", f"{peer['setup']:.0f}" if peer.get("setup") else "–", f"{peer['setup'] / setup_s:.1f}x" if peer.get("setup") else "–", "6x"],
                ["prove, s", f"{prove_s:.2f}", f"{peer['prove']:.1f}" if peer.get("prove") else "–", f"{peer['prove'] / prove_s:.1f}x" if peer.get("prove") else "–", "2.5x"]]
        for level, s in scalar:
            rows.append([f"prove with CUZK_FIELD={level}, s", f"{s:.2f}", f"{peer['prove']:.1f}" if peer.get("prove") else "–", f"{peer['prove'] / s:.1f}x" if peer.get("prove") else "–", "2.5x"])
        for kind, seconds in kinds.items():
            other = peer.get(kind)
            rows.append([f"prove {kind}, a partition, whole process, s", f"{seconds:.2f}", f"{other:.2f}" if other else "–",
                         f"{other / seconds:.1f}x" if other else "–", "2.5x"])
        rows += [["prove, peak memory beside the mapping, MiB", f"{prove_mem:.0f}", "–", "–", "1024"],
                 ["setup, peak memory beside mappings, MiB", f"{setup_mem:.0f}", "–", "–", "–"],
                 [f"GetStatus during a proof, p99 of {polls}, ms (p50 {p50:.0f})", f"{p99:.0f}", "–", "–", "200"],
                 ["R1CS built, ms", f"{build_ms:.1f}", "–", "–", "50"],
                 ["witness on one core, ms", f"{witness_ms:.1f}", "–", "–", "20"]]
        print("**2 KiB PoRep, whole programs**\n")
        table(["what", "cuzk", "bellperson", "ratio", "target"], rows)
        print("**Parts of one proof, seconds**\n")
        table(list(middle), [[f"{v:.3f}" for v in middle.values()]])
        print(f"**Single operations**, {single_ops['threads']} threads\n")
        rows = []
        for op in single_ops["rows"]:
            other = peer.get(f"{op['name']} 2^{op['log2n']}")
            rows.append([op["name"], f"2^{op['log2n']}", op["level"], f"{op['seconds']:.4f}",
                         f"{op['seconds'] * 1e9 / 2 ** op['log2n']:.0f}", f"{other:.4f}" if other else "–",
                         f"{other / op['seconds']:.2f}x" if other else "–"])
        table(["operation", "size", "level", "s", "ns each", "gnark-crypto, s", "ratio"], rows)


if __name__ == "__main__":
    main()
