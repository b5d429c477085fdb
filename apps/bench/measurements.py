"""Results of bench: as the JSON that it writes, and as the CSV file of a CPU that the documents keep.

A row is a case: a dictionary with the keys of bench's JSON that are in COLUMNS, and `peers` (times
of the baselines that count in its ratio) and `other_layouts` (of those that don't)."""

import csv
import io
import json
import math
import re

NUMBERS = ["ns", "rate", "peak", "ratio", "max_error"]  # None: there is none
COLUMNS = ["family", "type", "output_type", "layout", "device", "threads", "list", "case", "row",
           "us", "unit", "rate", "peak", "ratio", "max_error", "failure", "date"]
SETTING = ["family", "type", "output_type", "layout", "device", "threads"]
COUNTED, OTHER = "baseline:", "other:"  # prefixes of columns with a library's time in microseconds
VENDORS = {"AuthenticAMD": "AMD", "GenuineIntel": "Intel"}


def setting(row):
    return tuple(row[key] for key in SETTING)


def times(row):
    return {**row["peers"], **row["other_layouts"]}


def ratio_of(row):
    """To the fastest baseline; of what has none to memcpy."""
    if row["ratio"] or not row["ns"]:
        return row["ratio"]
    return row["other_layouts"].get("memcpy", 0) / row["ns"] or None


def group_by(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


class Cpu:
    """What bench says of it: "AMD EPYC (AuthenticAMD, family 25, model 17)". `page` is the name of
    its files, which end in .csv, .md and .svg."""

    def __init__(self, text):
        parts = re.fullmatch(r"(.*) \(((\w+), )?family (\d+), model (\d+)\)", text)
        if not parts:
            raise ValueError(f'"{text}" names no CPU by vendor, family and model')
        self.text = text
        self.vendor = VENDORS.get(parts[3], parts[3] or text.split()[0])
        self.family, self.model = parts[4], parts[5]
        self.name = parts[1]

    @property
    def page(self):
        return f"{self.vendor.lower()}-family{self.family}-model{self.model}"

    @property
    def file(self):
        return f"{self.page}.csv"

    @property
    def short(self):
        return f"{self.vendor} {self.family}/{self.model}"

    def __str__(self):
        name = self.name if self.name.startswith(self.vendor) else f"{self.vendor} {self.name}"
        return f"{name}, family {self.family}, model {self.model}"


class Measurements:
    """The results of one CPU: cpu, abilities (in bench's words), versions (of baselines), rows."""

    def __init__(self, cpu, abilities, versions, rows):
        self.cpu, self.abilities, self.versions, self.rows = cpu, abilities, list(versions), rows

    def update(self, newer):
        """Its rows take the place of those of the same settings and lists, or come last."""
        key = lambda row: (*setting(row), row["list"])
        groups = group_by(self.rows, key)
        groups.update(group_by(newer.rows, key))
        self.rows = [row for rows in groups.values() for row in rows]
        self.versions = list(dict.fromkeys(self.versions + newer.versions))
        self.abilities = newer.abilities

    def __str__(self):
        libraries = {prefix: sorted({name for row in self.rows for name in row[key]})
                     for prefix, key in ((COUNTED, "peers"), (OTHER, "other_layouts"))}
        columns = COLUMNS + [prefix + name for prefix, names in libraries.items() for name in names]
        text = io.StringIO()
        text.write(f"# {self.cpu.text}\n# {self.abilities}\n# {'; '.join(self.versions)}\n")
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(cells_of, self.rows))
        return text.getvalue()


def short(value):
    """Four digits, as many as repeat from run to run, and all before the point."""
    return "" if value is None else f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


def cells_of(row):
    cells = {key: row[key] for key in COLUMNS if key in row}
    cells |= {key: short(row[key]) for key in NUMBERS if key != "ns"}
    cells["us"] = short(row["ns"] and row["ns"] / 1e3)
    cells["failure"] = row["failure"] or ""
    for prefix, key in ((COUNTED, "peers"), (OTHER, "other_layouts")):
        cells |= {prefix + name: short(ns / 1e3) for name, ns in row[key].items()}
    return cells


def row_of(cells):
    number = lambda text: float(text) if text else None
    row = {key: number(cells[key]) if key in NUMBERS else cells[key]
           for key in COLUMNS if key != "us"}
    row["ns"] = 1e3 * float(cells["us"]) if cells["us"] else None
    row["threads"] = int(cells["threads"])
    for prefix, key in ((COUNTED, "peers"), (OTHER, "other_layouts")):
        row[key] = {name.removeprefix(prefix): 1e3 * float(text) for name, text in cells.items()
                    if name.startswith(prefix) and text}
    return row


def read_csv(path):
    """Raises OSError, and ValueError where it is no such file."""
    with open(path, encoding="utf-8", newline="") as file:
        cpu, abilities, versions = (file.readline().removeprefix("#").strip() for _ in range(3))
        try:
            rows = [row_of(cells) for cells in csv.DictReader(file)]
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path}: not a table of results: {error}") from error
    return Measurements(Cpu(cpu), abilities, [part for part in versions.split("; ") if part], rows)


def read_json(path):
    """Of bench --json: a list, an entry for each CPU. Raises OSError and ValueError."""
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    needed = {"cpu", "abilities", "peers", "other_layouts", "peer_versions", "ns", *COLUMNS} - {"us"}
    if not isinstance(rows, list) or any(needed - set(row) for row in rows):
        raise ValueError("it is not what bench --json writes")
    return [Measurements(Cpu(cpu), some[-1]["abilities"],
                         sorted({v for row in some for v in row["peer_versions"]}), some)
            for cpu, some in group_by(rows, lambda row: row["cpu"]).items()]


def combined(measurements):
    """One entry a CPU, later results in place of earlier ones."""
    result = {}
    for some in measurements:
        if some.cpu.file in result:
            result[some.cpu.file].update(some)
        else:
            result[some.cpu.file] = some
    return result
