#!/usr/bin/env python3
"""Holds every #include "…" under src against the table of layers in ARCHITECTURE.md, and every CMake DEPS with it.

The table is read from ARCHITECTURE.md, so that the page and the check cannot drift apart.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def layers():
    rows = {}
    for line in (ROOT / "ARCHITECTURE.md").read_text().splitlines():
        m = re.match(r"\| `src/(\w+)` \|.*\| ([\w –-]+) \|$", line)
        if m:
            allowed = set(re.findall(r"\w+", m.group(2)))
            rows[m.group(1)] = allowed | {m.group(1)}
    return rows


def main():
    table = layers()
    if len(table) < 12:
        sys.exit(f"check_layers: found only {len(table)} rows in ARCHITECTURE.md")
    bad, seen = [], 0
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix not in {".c", ".h", ".cpp", ".cu", ".cuh", ".S", ".inc"}:
            continue
        rel = path.relative_to(ROOT / "src")
        folder = rel.parts[0]
        if folder not in table:
            bad.append(f"src/{rel}: folder '{folder}' is not in the table")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not m:
                if re.match(r"\s*#\s*include\s+<cuda", line) and rel.parts[:2] != ("compute", "cuda"):
                    bad.append(f"src/{rel}:{number}: CUDA headers belong to src/compute/cuda")
                continue
            seen += 1
            target = m.group(1).split("/")[0]
            if "/" not in m.group(1):
                if not m.group(1).endswith((".pb-c.h", ".inc")):
                    bad.append(f"src/{rel}:{number}: include \"{m.group(1)}\" must name its folder")
            elif target in ("cuzk",):
                pass
            elif target not in table[folder]:
                bad.append(f"src/{rel}:{number}: {folder} may not include {target}")
    for path in sorted((ROOT / "src").glob("*/CMakeLists.txt")):
        folder = path.parent.name
        for m in re.finditer(r"cz_library\(\s*\w+[^)]*?DEPS\s+([\w\s]+?)(?:LIBS|SOURCES|\))", path.read_text()):
            for dep in m.group(1).split():
                if dep not in table.get(folder, set()):
                    bad.append(f"src/{folder}/CMakeLists.txt: {folder} may not link {dep}")
    if not seen:
        sys.exit("check_layers: no #include seen")
    print("\n".join(bad) or f"layers: {seen} includes in order")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
