"""Writes what a sweep of conv2d would leave: sweep.json and results.csv, the same every time.

    sample_sweep.py DIR [--cases 3] [--candidates 160] [--unit GFLOP/s] [--cut]
"""

import argparse
import csv
import json
import os
import random

COLUMNS = ("case,candidate,algorithm,schedule,fixed,knobs,status,reason,compile_s,seconds_total,ns,"
           "table_ns,ratio,rate,max_error,at_s,part").split(",")
FIXED = "kernel_w=3 kernel_h=3"
KNOBS = {
    "packed/broadcast": {"block": [16, 32, 64], "tile_x": list(range(2, 15)), "tile_y": [1, 2, 3],
                   "tile_k": [16, 32, 48, 64], "stage": [0, 1]},
    "packed/dot": {"tile_x": [2, 4, 7], "tile_c": [64, 128, 256, 512]},
    "winograd/tiles": {"tile": [2, 4, 6], "block": [16, 32, 64]},
}
MACHINE = ["packed/Adams2019", "packed/Mullapudi2016", "packed/Li2018"]
FAILURES = [
    ("compile error", "tile_x:14,tile_k:64: 30 accumulators, 28 registers are free", 0.3),
    ("wrong", "output(3, 5, 0) is 1.25, not <1.5> & the like", 3.1),
    ("timeout", "no answer in 20 s", 20.0),
    ("crash", "signal 11 (segmentation fault) in its first call", 2.2),
]


def bases():
    return [{"name": f"{way} {FIXED}", "family": "conv2d", "rows": "3x3",
             "where": f"{FIXED} groups>=1",
             "chooser": "schedules/conv2d/cpu/broadcast.cpp:25",
             "knobs": [{"name": name, "value": values[len(values) // 2], "legal": values}
                       for name, values in knobs.items()]} for way, knobs in KNOBS.items()]


def row_time(case, unit):
    """Nanoseconds, at rates of a CPU."""
    return case["work"] / (9.1 if unit == "GB/s" else 83.0)


def time_of(row_ns, way, knobs):
    """Nanoseconds: a valley in each knob, and what is not in the model."""
    share = {"packed/broadcast": 0.72, "packed/dot": 0.6, "winograd/tiles": 1.1}.get(way)
    if share is None:
        share = {"packed/Adams2019": 0.31, "packed/Mullapudi2016": 0.12, "packed/Li2018": 0.2}[way]
    for name, value in knobs.items():
        values = KNOBS[way][name]
        away = abs(values.index(value) - len(values) // 2) / len(values)
        share *= 1 - 0.5 * away**1.3
    return 0.7 * row_ns / share * random.lognormvariate(0, 0.03)


def candidate_of(way):
    knobs = {name: random.choice(values) for name, values in KNOBS.get(way, {}).items()
             if random.random() < 0.85}
    text = ",".join(f"{name}:{value}" for name, value in knobs.items())
    algorithm, schedule = way.split("/")
    return knobs, {"candidate": f"{way} {FIXED} {text}".strip(), "algorithm": algorithm,
                   "schedule": schedule, "fixed": FIXED, "knobs": text}


def lines_of(case, row_ns, count):
    yield {"case": case["name"], "candidate": "grouped/grouped", "algorithm": "grouped",
           "schedule": "grouped", "status": "does not take", "reason": "groups is 1, it needs groups>=4", "at_s": "0",
           "seconds_total": "0", "compile_s": "0", "ns": "0", "table_ns": "0", "part": "1/1"}
    at = 0.0
    for place in range(count):
        way = MACHINE[place // 7 - 1] if place in (7, 14, 21) else random.choice(
            ["packed/broadcast"] * 5 + ["packed/dot"] + ["winograd/tiles"] * 2)
        knobs, line = candidate_of(way)
        line |= {"case": case["name"], "part": "1/1"}
        compiling = random.uniform(1.4, 4)
        if random.random() < 0.08 and way not in MACHINE:
            status, reason, seconds = random.choice(FAILURES)
            line |= {"status": status, "reason": reason,
                     "compile_s": f"{min(compiling, seconds):.2f}",
                     "seconds_total": f"{seconds:.2f}", "ns": "0", "table_ns": "0"}
        else:
            table_ns = row_ns * random.lognormvariate(0, 0.01)
            ns, seconds = time_of(row_ns, way, knobs), compiling + random.uniform(0.4, 0.9)
            line |= {"status": "ok", "compile_s": f"{compiling:.2f}", "ns": f"{ns:.1f}",
                     "seconds_total": f"{seconds:.2f}", "ratio": f"{table_ns / ns:.4f}",
                     "table_ns": f"{table_ns:.1f}",
                     "rate": f"{case['work'] / ns:.3f}", "max_error": "1.2e-06"}
        at += seconds
        yield {**line, "at_s": f"{at:.2f}"}


def cases_of(count, unit):
    """Sides and channels of a network's convolutions; bytes alone where the unit is theirs."""
    sizes = [(56, 64), (28, 128), (14, 256), (7, 512), (112, 32), (56, 128), (28, 256), (14, 512)]
    result = []
    for place in range(count):
        side, channels = sizes[place % len(sizes)]
        size = 4.0 * (2 * side * side * channels + 9 * channels * channels)
        work = size if unit == "GB/s" else 2.0 * side * side * channels * channels * 9
        name = f"{side}x{side}_{channels}-{channels}_3x3" + ("" if place < 8 else f"_n{place}")
        result.append({"name": name, "work": work, "bytes": size, "bases": bases(),
                       "row": {"name": "3x3", "base": f"packed/broadcast {FIXED}",
                               "candidate": f"packed/broadcast {FIXED} tile_y:1"}})
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--cases", type=int, default=1)
    parser.add_argument("--candidates", type=int, default=160)
    parser.add_argument("--unit", default="GFLOP/s")
    parser.add_argument("--cut", action="store_true", help="as a sweep that was killed")
    arguments = parser.parse_args()
    random.seed(9)
    os.makedirs(arguments.directory, exist_ok=True)
    cases = cases_of(arguments.cases, arguments.unit)
    about = {"family": "conv2d", "unit": arguments.unit, "strategy": "evolve", "seed": 1,
             "settings": {"type": "f32", "layout": "nhwc", "device": "cpu", "threads": 1},
             "budget_seconds": 1800, "machine": "a processor (family 25, model 17)",
             "date": "2026-11-22", "cases": cases,
             "ceilings": {"peak": None if arguments.unit == "GB/s" else 118.2,
                          "memory": 11.4}}
    with open(os.path.join(arguments.directory, "sweep.json"), "w", encoding="utf-8") as file:
        json.dump(about, file, indent=1)
    path = os.path.join(arguments.directory, "results.csv")
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for place, case in enumerate(cases):
            if arguments.cut and place == len(cases) - 1 and place:
                continue
            row_ns = row_time(case, arguments.unit)
            writer.writerows(lines_of(case, row_ns, arguments.candidates))
        if arguments.cut:
            file.write(f"{cases[0]['name']},packed/broadcast,pack")


if __name__ == "__main__":
    main()
