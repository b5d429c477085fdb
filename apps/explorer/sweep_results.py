"""What a sweep wrote, read back: sweep.json says what was asked, results.csv has a line for
each candidate."""

import csv
import json
import os
import re
import statistics
from dataclasses import dataclass, field

OK, REFUSED = "ok", "does not take"


@dataclass
class Candidate:
    name: str
    algorithm: str
    schedule: str
    fixed: str
    knobs: dict
    status: str
    reason: str
    part: str
    compile_s: float
    seconds: float  # all that it took, in compiling, checking and measuring
    at_s: float  # since the sweep began
    ns: float = None
    table_ns: float = None
    ratio: float = None  # of the row's time, measured in turn with it, to the candidate's
    rate: float = None
    max_error: float = None

    @property
    def ok(self):
        return self.status == OK

    @property
    def by_machine(self):
        """Whether its schedule is an autoscheduler's, which are named after their paper's year."""
        return re.fullmatch(r"[A-Z][a-z]+\d{4}", self.schedule) is not None

    @property
    def way(self):
        return f"{self.algorithm}/{self.schedule}"

    @property
    def base(self):
        return f"{self.way} {self.fixed}".strip()

    @property
    def knobs_text(self):
        return ",".join(f"{name}:{value}" for name, value in self.knobs.items())


@dataclass
class Case:
    number: int  # from 1; in the ids of its plots
    name: str
    work: float
    bytes: float
    row: dict  # that selection takes: its name, its candidate, its base
    bases: list
    candidates: list = field(default_factory=list)
    refused: list = field(default_factory=list)  # bases that don't take the case
    line: str = None  # for the table, where the sweep says it

    @property
    def table_ns(self):
        """The row's time, the median of those that were measured in turn with the candidates."""
        times = [candidate.table_ns for candidate in self.right()]
        return statistics.median(times) if times else None

    def put_on_one_clock(self):
        """Times as if the row had taken table_ns in the rounds of each candidate: where a machine
        was slower for a while, it was so for both."""
        row = self.table_ns
        for candidate in self.right():
            candidate.table_ns, candidate.ns = row, row / candidate.ratio
            candidate.rate = self.work / candidate.ns

    def right(self):
        return [candidate for candidate in self.candidates if candidate.ok]

    def failed(self):
        return [candidate for candidate in self.candidates if not candidate.ok]

    def best(self, which=lambda candidate: True):
        return max(filter(which, self.right()), key=lambda candidate: candidate.ratio, default=None)

    @staticmethod
    def is_by_machine(candidate):
        return candidate.by_machine

    @staticmethod
    def is_by_hand(candidate):
        return not candidate.by_machine

    def fastest_first(self):
        return sorted(self.candidates, key=lambda candidate: -(candidate.ratio or 0))

    def statuses(self):
        return dict.fromkeys(candidate.status for candidate in self.fastest_first())

    def intensity(self):
        return self.work / self.bytes if self.work and self.bytes else None

    def row_rate(self):
        return self.work / self.table_ns

    def base_of(self, candidate):
        return next((base for base in self.bases if base["name"] == candidate.base), None)

    def wasted(self):
        return wasted(self.candidates)

    def knobs(self):
        """Name: the legal values that any base has, in order; the knobs that have a choice."""
        values = {}
        for base in self.bases:
            for knob in base["knobs"]:
                legal = values.setdefault(knob["name"], set())
                legal.update(map(str, [*knob["legal"], knob["value"]]))
        for candidate in self.candidates:
            for name, value in candidate.knobs.items():
                values.setdefault(name, set()).add(value)
        return {name: sorted(legal, key=by_number) for name, legal in values.items()
                if len(legal) > 1}

    def knob_of(self, candidate, name):
        """The candidate's value, its chooser's where it names none; None: it has no such knob."""
        if name in candidate.knobs:
            return candidate.knobs[name]
        base = self.base_of(candidate)
        knobs = base["knobs"] if base else []
        return next((str(knob["value"]) for knob in knobs if knob["name"] == name), None)


@dataclass
class Sweep:
    about: dict  # sweep.json
    cases: list

    @property
    def unit(self):
        return self.about["unit"]

    @property
    def of_bytes(self):
        return self.unit == "GB/s"

    @property
    def peak(self):
        return self.about["ceilings"].get("peak")

    @property
    def bandwidth(self):
        return self.about["ceilings"].get("memory")


def wasted(candidates):
    """The share of the time that went to those without a result."""
    total = sum(candidate.seconds for candidate in candidates)
    return sum(c.seconds for c in candidates if not c.ok) / total if total else 0


def by_number(text):
    try:
        return (0, float(text), text)
    except ValueError:
        return (1, 0, text)


def number(text):
    return float(text) if text else None


def candidate_of(line):
    knobs = dict(knob.split(":", 1) for knob in line["knobs"].split(",") if knob)
    candidate = Candidate(line["candidate"], line["algorithm"], line["schedule"], line["fixed"],
                          knobs, line["status"], line["reason"], line["part"],
                          number(line["compile_s"]) or 0, number(line["seconds_total"]) or 0,
                          number(line["at_s"]) or 0)
    if candidate.ok:
        candidate.ns = float(line["ns"])
        candidate.table_ns = float(line["table_ns"])
        candidate.ratio = candidate.table_ns / candidate.ns
        candidate.max_error = number(line["max_error"])
    return candidate


def case_of(about, place):
    return Case(place, about["name"], about["work"], about["bytes"], about["row"], about["bases"],
                line=about.get("line"))


def read(directory):
    """Raises ValueError where the files are none of a sweep, OSError where they are not there."""
    with open(os.path.join(directory, "sweep.json"), encoding="utf-8") as file:
        about = json.load(file)
    try:
        cases = {case["name"]: case_of(case, place) for place, case in enumerate(about["cases"], 1)}
        for key in ("family", "settings", "unit", "ceilings"):
            about[key]
    except (KeyError, TypeError) as error:
        raise ValueError(f"sweep.json has no {error}") from error
    with open(os.path.join(directory, "results.csv"), encoding="utf-8", newline="") as file:
        for place, line in enumerate(csv.DictReader(file), 2):
            # The last line of a sweep that was killed may be cut off.
            if None in line.values():
                continue
            try:
                case, candidate = cases[line["case"]], candidate_of(line)
            except (KeyError, ValueError) as error:
                raise ValueError(f"results.csv, line {place}: {error}") from error
            (case.refused if candidate.status == REFUSED else case.candidates).append(candidate)
    for case in cases.values():
        case.put_on_one_clock()
    return Sweep(about, list(cases.values()))
