"""Finds out whether the tests of CUDA kernels would see a fault in them: each mutant is a kernel in
which one barrier, comparison or clamp does nothing, and the tests of its row run with it on the
device in software, with its checks.

    mutants.py BUILD [--family FAMILY] [--row TEXT] [--rows N] [--each N] [--least SHARE] …

docs/software-cuda.md says what is changed and what comes of it.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "compiler"))
from forms import changes, probe
from host import host_of
from program import Code
from same_program import is_the_same
from write_docs import COLUMNS

# A test gave another result, a check found something, or the kernel did not end or crashed; the
# program is the same by a rule; it did the same in these tests; or the tests should have found it.
FOUND = ["result", "check", "error"]
RESULTS = [*FOUND, "same", "idle", "survives"]
# What the driver's checks call the end of a kernel that goes on for ever.
ENDLESS = "too many steps"


@dataclasses.dataclass
class Row:
    """A row of the table and the tests that run it."""
    name: str
    family: str
    group: str  # of rows that differ in their type and layout
    program: pathlib.Path
    tests: list[str]


@dataclasses.dataclass
class Mutant:
    row: Row
    module: str
    kernel: str
    line: int
    kind: str
    before: str
    after: str
    steps: int
    code: Code
    same: bool = False  # the same program, by is_the_same()
    result: str = ""    # one of RESULTS

    def edit(self, text):
        return f"{self.module}:{self.line}:{text}"


# --- Rows and their tests


def rows_of(build):
    for path in sorted((build / "kernels").glob("*/rows.txt")):
        for line in filter(None, path.read_text().splitlines()):
            yield dict(zip(COLUMNS, line.split("|"), strict=True))


def tests_of(program):
    """The tests of each row's name."""
    text = subprocess.check_output([program, "--gtest_list_tests", "--gtest_filter=Table/*"],
                                   text=True)
    tests, suite = collections.defaultdict(list), ""
    for line in text.splitlines():
        name = line.split("#")[0].strip()
        if not line.startswith(" "):
            suite = name
        elif "/" in name:
            tests[name.split("/")[1]].append(suite + name)
    return tests


def all_rows(build):
    columns = {row["name"]: row for row in rows_of(build) if row["device"] == "cuda"}
    rows = []
    for program in sorted((build / "tests").glob("*_kernels_test")):
        for name, tests in tests_of(program).items():
            if name in columns:
                row = columns[name]
                rows.append(Row(name, row["family"], row["row"], program, tests))
    return rows


def sample(rows, count, seed):
    """Of each family rows of `count` groups, or all, each of one type and layout: the same whatever
    other families are asked."""
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        groups[row.family][row.group].append(row)
    chosen = []
    for of_family in groups.values():
        rng = random.Random(seed)
        names = sorted(of_family)
        if count:
            names = rng.sample(names, min(count, len(names)))
        chosen += [rng.choice(of_family[name]) for name in names]
    return chosen


def mutants_of(build, row, tested, folder, each, rng):
    """Of lines that the row's tests run, which left their counts and modules in the folder. Of another
    row's kernels that row's tests are asked, if it has some."""
    result = []
    if not (folder / "counts").exists():
        sys.exit("mutants.py: the tests did not run on the device in software: "
                 "make mutants sets LD_LIBRARY_PATH")
    counts = json.loads((folder / "counts").read_text())
    steps = max(100_000, 2 * sum(sum(k["warp_instructions"].values()) for k in counts))
    for kernel in counts:
        ptx = (folder / f"{kernel['module']}.ptx").read_text()
        lines = ptx.splitlines()
        host = host_of(build, ptx, kernel["kernel"], row.name)
        if host and host.row != row.name and host.row in tested:
            continue
        code = Code(lines, kernel["kernel"], host)
        kinds = collections.defaultdict(list)
        for line, threads in kernel["lines"].items():
            before = lines[int(line) - 1].split("//")[0].strip()
            kind, texts = changes(before) if threads else (None, [])
            for after in texts:
                kinds[kind].append(Mutant(row, kernel["module"], kernel["kernel"], int(line), kind,
                                          before, after, steps, code))
        for of_kind in kinds.values():
            result += rng.sample(of_kind, min(each, len(of_kind))) if each else of_kind
    return result


# --- Runs


def run_tests(row, folder, **settings):
    """Status and output of the row's tests, and the lines of the device's report."""
    report = pathlib.Path(folder) / "report"
    report.unlink(missing_ok=True)
    environment = {**os.environ, "SOFTWARE_CUDA_REPORT": str(report)}
    environment |= {f"SOFTWARE_CUDA_{name}": str(value) for name, value in settings.items()}
    outcome = subprocess.run(
        [row.program, "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={':'.join(row.tests)}"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder)
    lines = report.read_text(errors="replace") if report.exists() else ""
    if "cuModuleLoad" in lines:
        raise RuntimeError(f"{settings}\n{lines}")
    return outcome.returncode, outcome.stdout.decode(errors="replace"), lines


def baseline(build, row, tested, parent, each, seed):
    """The row's mutants. Its tests pass without any."""
    with tempfile.TemporaryDirectory(dir=parent) as name:
        folder = pathlib.Path(name)
        status, output, _ = run_tests(row, folder, COUNT=folder / "counts", PTX=folder)
        if status != 0:
            raise RuntimeError(f"{row.name}: its tests fail without a mutant\n{output}")
        return mutants_of(build, row, tested, folder, each, random.Random(f"{seed} {row.name}"))


def differs(mutant, folder):
    """Whether a mutant that no test finds did another thing than the kernel: gave another value, or,
    without a barrier, other results where threads run in another order, one by one."""
    if mutant.kind == "barrier":
        return any(run_tests(mutant.row, folder, EDIT=mutant.edit(""), LANES=1, ORDER=order)[0]
                   for order in ("ascending", "descending", "random:1"))
    edit = mutant.edit(probe(mutant.before, mutant.after))
    status, _, report = run_tests(mutant.row, folder, EDIT=edit)
    if status != 0 and "out of bounds" not in report:
        raise RuntimeError(f"{edit}\n{report}")
    return status != 0


def judge(mutant, parent):
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        status, output, report = run_tests(mutant.row, folder, EDIT=mutant.edit(mutant.after),
                                           STEPS=mutant.steps)
        if status == 0 and mutant.same:
            mutant.result = "same"
        elif status == 0:
            mutant.result = "survives" if differs(mutant, folder) else "idle"
        elif ENDLESS in report or status < 0:
            mutant.result = "error"
        elif re.search(r"CUDA_ERROR_(LAUNCH_FAILED|ILLEGAL_ADDRESS|MISALIGNED_ADDRESS)", output):
            mutant.result = "check"
        else:
            mutant.result = "result"
    if mutant.same and mutant.result in FOUND:
        raise RuntimeError(f"a rule is wrong: {mutant}")
    return mutant


def share_found(mutants):
    """Of those that do something else than the kernel in the tests."""
    found = sum(m.result in FOUND for m in mutants)
    return found / max(found + sum(m.result == "survives" for m in mutants), 1)


def print_table(judged, name, names):
    """A line a family or kind: mutants by their results, and the share that was found."""
    print(f"\n{name:32}{'mutants':>8}" + "".join(f"{r:>9}" for r in RESULTS) + f"{'found':>9}")
    for value in [*sorted({names(m) for m in judged}), "all"]:
        of = [m for m in judged if value in ("all", names(m))]
        counts = {r: sum(m.result == r for m in of) for r in RESULTS}
        print(f"{value:32}{len(of):8}" + "".join(f"{n:9}" for n in counts.values()) +
              f"{share_found(of):9.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--family", default="", help="one; else all")
    parser.add_argument("--row", default="", help="rows whose names have this in them")
    parser.add_argument("--rows", type=int, default=0, help="of a family, at most; 0: all")
    parser.add_argument("--each", type=int, default=0, help="mutants of a kind and kernel; 0: all")
    parser.add_argument("--least", type=float, default=0, help="share found, below which it fails")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    a.build = a.build.resolve()
    parent = a.build / "tests" / "folders" / "mutants"
    parent.mkdir(parents=True, exist_ok=True)
    every = all_rows(a.build)
    tested = {row.name for row in every}
    rows = sample([row for row in every
                   if a.family in ("", row.family) and a.row in row.name], a.rows, a.seed)
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        found = {}
        for mutants in pool.map(lambda row: baseline(a.build, row, tested, parent, a.each, a.seed), rows):
            known = {key[0] for key in found}
            new = {(m.module, m.line, m.after): m for m in mutants if m.module not in known}
            for m in new.values():  # in this thread alone, as z3 asks for
                m.same = is_the_same(m.code, m.line, m.before, m.after)
            found |= new
        print(f"{len(rows)} rows, {len(found)} mutants", flush=True)
        judged = []
        for mutant in pool.map(lambda m: judge(m, parent), found.values()):
            judged.append(mutant)
            if mutant.result in ("idle", "survives"):
                print(f"{mutant.result:8} {mutant.row.name}, {mutant.kernel}, line {mutant.line}: "
                      f"{mutant.before}  ->  {mutant.after or 'nothing'}", flush=True)
    print_table(judged, "kind", lambda m: m.kind)
    print_table(judged, "family", lambda m: m.row.family)
    if not judged:
        sys.exit("no row or no mutant of these")
    return share_found(judged) < a.least


if __name__ == "__main__":
    sys.exit(main())
