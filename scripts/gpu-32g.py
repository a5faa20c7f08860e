#!/usr/bin/env python3
"""Proofs of 32 GiB sectors in the daemon, over gRPC, on one GPU: run.sh of a bundle that scripts/gpu-32g.sh made.

gpu-32g.py [OUT] [STEP…]: porep, winning, snap and window by default. Each step makes its parameters on the GPU from the
public toxic waste, starts a daemon of its own, proves, verifies with `cuzk verify`, and prints what was measured. OUT
gets the keys, the proofs and figures.json, each daemon's timeline (trace-*.json) and the waterfall of the first PoRep,
which is printed. Exit 0 when every proof verifies.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
STEPS = sys.argv[2:] or ["porep", "winning", "snap", "window"]
WORK = pathlib.Path("/tmp/cuzk-32g")
PARAMS = WORK / "params"
figures = {}
bad = 0


def log(text):
    print(text, flush=True)


def tool(*args, check=True):
    start = time.time()
    p = subprocess.run([str(HERE / args[0]), *map(str, args[1:])], capture_output=True, text=True)
    if check and p.returncode:
        raise RuntimeError(f"{' '.join(map(str, args[:6]))}: {p.stderr.strip()[-600:]}")
    return p.stdout, time.time() - start


class Sampler(threading.Thread):
    """Every half second: how busy the card is, its memory, and the daemon's resident memory."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.stop = pid, threading.Event()
        self.busy, self.vram, self.anon, self.mapped = [], [], [], []

    def run(self):
        while not self.stop.wait(0.5):
            q = subprocess.run(["nvidia-smi", "--query-gpu=utilization.gpu,memory.used", "--format=csv,noheader,nounits"],
                               capture_output=True, text=True).stdout.split(",")
            if len(q) == 2:
                self.busy.append(int(q[0]))
                self.vram.append(int(q[1]))
            status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
            kib = {line.split(":")[0]: int(line.split()[1]) for line in status.splitlines() if line.startswith("Rss")}
            self.anon.append(kib["RssAnon"] // 1024)
            self.mapped.append((kib["RssFile"] + kib["RssShmem"]) // 1024)

    def result(self):
        self.stop.set()
        self.join()
        top = lambda v: max(v, default=0)
        return {"gpu_busy_percent": round(sum(self.busy) / max(len(self.busy), 1)), "vram_mib": top(self.vram),
                "rss_anon_mib": top(self.anon), "rss_mapped_mib": top(self.mapped)}


def cpu_seconds(pid):
    field = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(field[11]) + int(field[12])) / os.sysconf("SC_CLK_TCK")


class Daemon:
    running = None

    def __init__(self, circuit):
        config = WORK / "cuzk.toml"
        config.write_text(f'[daemon]\nlisten = "127.0.0.1:9820"\n[srs]\nparam_cache = "{PARAMS}"\n'
                          f'preload = ["{circuit}"]\n[gpus]\ngpu_workers_per_device = 2\n')
        self.log = open(OUT / f"daemon-{circuit}.log", "w")
        start = time.time()
        self.trace = OUT / f"trace-{circuit}.json"
        self.process = subprocess.Popen([HERE / "cuzk-daemon", "--config", config, "--trace", self.trace],
                                        stdout=self.log, stderr=self.log)
        Daemon.running = self
        while True:  # preload answers once the parameters are on the card
            if self.process.poll() is not None:
                raise RuntimeError(f"the daemon ended: {(OUT / f'daemon-{circuit}.log').read_text()[-600:]}")
            if not subprocess.run([HERE / "cuzk-bench", "preload", "-c", circuit], capture_output=True).returncode:
                break
            time.sleep(0.1)
        self.ready = time.time() - start
        log(f"{circuit}: daemon ready, parameters on the card, after {self.ready:.1f} s")

    def measured(self, name, count, *args):
        sampler = Sampler(self.process.pid)
        cpu = cpu_seconds(self.process.pid)
        sampler.start()
        text, wall = tool("cuzk-bench", "--json", *args)
        result = sampler.result()
        result |= {"wall_s": round(wall, 2), "cpu_s_a_proof": round((cpu_seconds(self.process.pid) - cpu) / count, 2),
                   "daemon_ready_s": round(self.ready, 2), "bench": json.loads(text)}
        figures[name] = result
        b = result["bench"]
        log(f"{name}: {b.get('seconds', wall) / count:.2f} s a proof, " + json.dumps({k: v for k, v in result.items() if k != "bench"}))
        log("    " + json.dumps({k: v for k, v in b.items() if k not in ("proof", "request_id", "job_id")}))
        return b

    def waterfall(self):
        time.sleep(0.2)  # the trace is flushed when a job has ended
        text, _ = tool("cuzk-bench", "waterfall", "--width", "150", self.trace, check=False)
        (OUT / self.trace.name.replace("trace", "waterfall").replace("json", "txt")).write_text(text)
        log(text)

    def end(self):
        text, _ = tool("cuzk-bench", "metrics", check=False)
        Daemon.running = None
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.log.close()
        log(f"daemon: exit {code}")
        return text


def verified(name, *args):
    global bad
    try:
        text, wall = tool("cuzk", "verify", "--json", *args)
        log(f"{name}: verified: {text.strip().splitlines()[-1][:200]}")
    except RuntimeError as e:
        bad += 1
        log(f"FAIL  {name}: {e}")


def setup(circuit):
    if PARAMS.exists():
        for f in PARAMS.iterdir():
            f.unlink()
    text, wall = tool("cuzk", "setup", "--circuit", circuit, "--sector", "32GiB", "--out", PARAMS, "--no-hash", "--device",
                      "cuda:0", "--toxic-waste", HERE / "toxic-waste.json", "--json")
    figures["setup " + circuit] = {"wall_s": round(wall, 1)} | json.loads(text.strip().splitlines()[-1])
    vk = next(PARAMS.glob("*.vk"))
    shutil.copy(vk, OUT / f"{circuit}.vk")
    log(f"setup {circuit} 32GiB: {wall:.1f} s, {next(PARAMS.glob('*.params')).stat().st_size / 1e9:.2f} GB")
    return OUT / f"{circuit}.vk"


def porep():
    vk = setup("porep")
    daemon = Daemon("porep-32g")
    inputs = [WORK / f"c1-{seed}.json" for seed in (1, 2, 3)]
    for seed, c1 in enumerate(inputs, 1):
        _, wall = tool("cuzk-bench", "gen-vanilla", "porep", "--sector", "32GiB", "--seed", seed, "--out", c1)
        log(f"gen-vanilla porep 32GiB, seed {seed}: {wall:.2f} s, {c1.stat().st_size / 1e6:.1f} MB")
    for i, c1 in enumerate(inputs):
        out = OUT / f"porep-{i + 1}.proof"
        daemon.measured(f"porep {i + 1}, alone", 1, "single", "-t", "porep", "--c1", c1, "--out", out)
        if i == 0:
            daemon.waterfall()
        verified(f"porep {i + 1}", "--c1", c1, "--vk", vk, "--proof", out)
    daemon.measured("porep, batch of 6, 2 at a time", 6, "batch", "-t", "porep", "--c1", inputs[0], "-c", "6", "-j", 2)
    (OUT / "metrics-porep.txt").write_text(daemon.end())


def others(name, kind, circuit, bench, daemon_id, generate, repeat):
    vk = setup(circuit)
    folder = WORK / name
    _, wall = tool("cuzk-bench", "gen-vanilla", kind, "--sector", "32GiB", "--seed", "1", "--out", folder, *generate)
    files = sorted(folder.glob("vanilla-*"), key=lambda p: int(p.stem.split("-")[1]))
    log(f"gen-vanilla {kind} 32GiB: {wall:.1f} s, {len(files)} files")
    e = json.loads((folder / "expected.json").read_text())
    vanilla = [a for f in files for a in ("--vanilla", f)]
    if kind == "snap":
        given = [a for k in ("comm_r_old", "comm_r_new", "comm_d_new") for a in ("--" + k.replace("_", "-"), e[k])]
        proof_name = e["registered_update_proof"]
    else:
        given = ["--randomness", e["randomness"]]
        proof_name = e["registered_post_proof"]
    daemon = Daemon(daemon_id)
    for i in range(repeat):
        out = OUT / f"{name}.proof"
        miner = [] if kind == "snap" else ["--miner-id", "1000"]
        daemon.measured(f"{name} {i + 1}", 1, "single", "-t", bench, *vanilla, *given, *miner, "--sector", "32GiB",
                        "--registered-proof", e["registered_proof"], "--out", out)
    miner = [] if kind == "snap" else ["--miner", "1000"]
    verified(name, "--type", circuit, *vanilla, *given, *miner, "--registered-proof", proof_name, "--vk", vk, "--proof", out)
    daemon.end()


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    PARAMS.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64g,huge=always", "tmpfs", PARAMS], check=True)
    log(subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip())
    run = {
        "porep": porep,
        "winning": lambda: others("winning", "winning", "winning", "winning", "winning-32g", [], 3),
        "snap": lambda: others("snap", "snap", "update", "snap", "snap-32g", [], 2),
        "window": lambda: others("window", "window", "window", "wpost", "wpost-32g", ["--sectors", "2300"], 2),
    }
    global bad
    for step in STEPS:
        try:
            run[step]()
        except Exception as e:  # the other steps' figures are worth having
            bad += 1
            log(f"FAIL  {step}: {e}")
        finally:
            if Daemon.running:  # the step broke off
                Daemon.running.end()
    (OUT / "figures.json").write_text(json.dumps(figures, indent=1))
    subprocess.run(["umount", "-l", PARAMS])
    return bad != 0


sys.exit(main())
