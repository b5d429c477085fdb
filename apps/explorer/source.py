"""Finds, in generators/ and schedules/, what a row of the table names: its algorithm's equation and
function, its schedule's comment and function."""

import dataclasses
import pathlib
import re


@dataclasses.dataclass
class Excerpt:
    """Lines of a file: a comment, and the code that it is about, either of which may be empty."""

    path: str  # below the root
    line: int  # of the first, from 1
    comment: str
    code: str

    @property
    def first_of_code(self):
        """The line that the code begins in."""
        return self.line + (self.comment.count("\n") + 1 if self.comment else 0)


def uncommented(lines):
    return "\n".join(re.sub(r"^\s*// ?", "", line) for line in lines)


def comment_above(lines, at):
    """The place of the comment's first line, which is `at` where there is none."""
    while at > 0 and lines[at - 1].lstrip().startswith("//"):
        at -= 1
    return at


def header_comment(root, path):
    """The comment at the top of a file."""
    lines = (root / path).read_text().splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith("//")), None)
    if start is None:
        return None
    end = start
    while end < len(lines) and lines[end].startswith("//"):
        end += 1
    return Excerpt(str(path), start + 1, uncommented(lines[start:end]), "")


def definition(root, path, name):
    """A function with its comment, in a file that is formatted: it begins and ends in column 0."""
    lines = (root / path).read_text().splitlines()
    for at, line in enumerate(lines):
        if not re.match(rf"[\w:<>&*, ]*\b{name}\(", line):
            continue
        end = at
        while end < len(lines) and not lines[end].rstrip().endswith(("{", ";", "}")):
            end += 1
        if end == len(lines) or lines[end].rstrip().endswith(";"):
            continue
        if not lines[end].rstrip().endswith("}"):
            end = next(i for i in range(end, len(lines)) if lines[i].startswith("}"))
        # Its type, where that stands on a line of its own.
        first = at - 1 if at and re.fullmatch(r"template<.*>|[\w:<>&*, ]+", lines[at - 1]) else at
        top = comment_above(lines, first)
        return Excerpt(str(path), top + 1, uncommented(lines[top:first]),
                       "\n".join(lines[first:end + 1]))
    return None


def sources(root, folder, suffix):
    return sorted(path.relative_to(root) for path in (root / folder).rglob("*" + suffix))


def in_files(root, paths, name):
    return next(filter(None, (definition(root, path, name) for path in paths)), None)


def after_name(text, algorithm, pattern):
    """Matches in a generator, those first that follow the algorithm's name."""
    at = text.find(f'"{algorithm}")')
    at = max(at if at >= 0 else text.find(f'"{algorithm}"'), 0)
    return re.findall(pattern, text[at:]) + re.findall(pattern, text[:at])


class Sources:
    def __init__(self, root):
        self.root = pathlib.Path(root)

    def generator(self, family):
        return next(self.root.glob(f"generators/*/{family}_generator.cpp")).read_text()

    def algorithm(self, family, algorithm):
        """The function that defines it. Generators call functions that headers here declare."""
        stages = {}
        for path in sources(self.root, "generators", ".h"):
            text = (self.root / path).read_text()
            structs = set(re.findall(r"^struct (\w+)", text, re.M))
            for kind, name in re.findall(r"^(\w+) (\w+)\(", text, re.M):
                if kind in structs and not name.endswith("_operands") and "_of_" not in name:
                    stages[name] = path
        called = [name for name in after_name(self.generator(family), algorithm, r"\b(\w+)\(")
                  if name in stages]
        best = min(called, default=None, key=lambda name: (
            name != f"{family}_{algorithm}", not name.endswith(f"_{algorithm}"),
            not name.endswith("_" + algorithm.split("_of_")[0]), name != family))
        if not best:
            return None, None
        return in_files(self.root, sources(self.root, "generators", ".cpp"), best), stages[best]

    def schedule(self, family, algorithm, schedule):
        """The function that the algorithm's table of schedules has under the name."""
        tables = {}
        for path in sources(self.root, "schedules", ".h"):
            text = (self.root / path).read_text()
            for name, body in re.findall(r"(\w+_schedules) =\s*\{(.*?)\};", text, re.S):
                entries = re.findall(r'\{"(\w+)",\s*([\w:]+)', body)
                tables[name] = path, dict(entries)
        for name in after_name(self.generator(family), algorithm, r"(\w+_schedules)\b"):
            path, entries = tables.get(name, (None, {}))
            if schedule not in entries:
                continue
            *space, function = entries[schedule].split("::")
            paths = sources(self.root, path.parent.joinpath(*space), ".cpp")
            return in_files(self.root, paths, function)
        return None

    def chooser(self, file, line):
        """The function that a line of a file is in."""
        path = pathlib.Path(file)
        if not file or not path.is_file() or not path.is_relative_to(self.root):
            return None
        path = path.relative_to(self.root)
        lines = (self.root / path).read_text().splitlines()
        for at in range(line - 1, -1, -1):
            name = re.match(r"[\w:<>&*, ]*?([\w:]+)\(", lines[at])
            if name and not lines[at][0].isspace():
                return definition(self.root, path, re.escape(name.group(1)))
        return None

    def equation(self, family, algorithm_header):
        """Comments that state it: of the family's header, of the algorithm's, and of those that
        these refer to."""
        wanted = [path.relative_to(self.root)
                  for path in self.root.glob(f"generators/*/{family}.h")]
        if algorithm_header and algorithm_header not in wanted:
            wanted.append(algorithm_header)
        found = []
        for path in wanted:
            if not (self.root / path).is_file():
                continue
            comment = header_comment(self.root, path)
            if not comment:
                continue
            found.append(comment)
            for other in re.findall(r"\b(?:generators|hk)/[\w/]+\.h\b", comment.comment):
                other = pathlib.Path(other)
                if other.parts[0] == "hk":
                    other = "runtime/include" / other
                if other not in wanted:
                    wanted.append(other)
        return found

    def declaration_comment(self, header, code):
        """What a header says of a function: the comment above it or above its stages."""
        name = re.search(r"(\w+) (\w+)\(", code)
        if not header or not name:
            return ""
        lines = (self.root / header).read_text().splitlines()
        texts = []
        for pattern in (rf"struct {name.group(1)}\b", rf"{name.group(1)} {name.group(2)}\("):
            for at, line in enumerate(lines):
                if re.match(pattern, line):
                    text = uncommented(lines[comment_above(lines, at):at])
                    texts += [text] if text and text not in texts else []
        return "\n\n".join(texts)
