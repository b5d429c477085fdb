"""The page of two kernels side by side."""

import difflib
import pathlib
import re

from markup import document, escape, excerpt, prose, table

CONTEXT = 3  # equal lines that are shown around different ones


def first_work(lines):
    """The place of the first loop or buffer, after the checks of the arguments."""
    work = re.compile(r"\s*(produce|allocate|for|parallel|gpu_block\w*)\b")
    return next((at for at, line in enumerate(lines) if work.match(line)), 0)


def read(kernel):
    """Conceptual code from its first loop or buffer on, and compiled code; with the kernel's name
    taken out, so that two compare."""
    def text(name):
        whole = pathlib.Path(kernel["files"][name]).read_text().replace(kernel["name"], "KERNEL")
        return [line.expandtabs() for line in whole.splitlines()]
    conceptual = text("conceptual")
    return conceptual[first_work(conceptual):], text("code")


def comparable(line):
    """Without what differs between any two compilations: numbers of labels and of temporaries, and
    comments."""
    line = re.sub(r"\s+(#|//) .*", "", line)
    line = re.sub(r"\.?\$?L_*(BB|CPI|tmp|func_end)[\w]*", "L", line)
    conceptual = re.match(r"\s*(let|\w+ = )", line)
    return re.sub(r"\b([a-z]\w*?)\$?\d+\b", r"\1", line) if conceptual else line


def runs(left, right, key):
    """Opcodes of difflib, with equal runs folded to their context."""
    matcher = difflib.SequenceMatcher(None, list(map(key, left)), list(map(key, right)))
    for kind, a, a_end, b, b_end in matcher.get_opcodes():
        length = a_end - a
        if kind != "equal" or length <= 2 * CONTEXT + 1:
            yield kind, a, a_end, b, b_end
            continue
        head = 0 if a == 0 and b == 0 else CONTEXT
        tail = 0 if a_end == len(left) and b_end == len(right) else CONTEXT
        if head:
            yield "equal", a, a + head, b, b + head
        yield "fold", a + head, a_end - tail, b + head, b_end - tail
        if tail:
            yield "equal", a_end - tail, a_end, b_end - tail, b_end


def side(lines, at, end, kind):
    if at >= end:
        return '<td class="number"></td><td></td>'
    return f'<td class="number">{at + 1}</td><td class="{kind}">{escape(lines[at])}</td>'


def lines_table(left, right, key=lambda line: line):
    """Two texts side by side, and how many lines of each differ."""
    rows, removed, added = [], 0, 0
    for kind, a, a_end, b, b_end in runs(left, right, key):
        if kind == "fold":
            rows.append(f'<tr class="fold"><td colspan="4">{a_end - a} equal lines</td></tr>')
            continue
        same = kind == "equal"
        if not same:
            removed, added = removed + a_end - a, added + b_end - b
        for i in range(max(a_end - a, b_end - b)):
            rows.append("<tr>" + side(left, a + i, a_end, "" if same else "removed")
                        + side(right, b + i, b_end, "" if same else "added") + "</tr>")
    columns = 2 * '<col style="width:7ch"><col>'
    body = (f'<table class="lines code"><colgroup>{columns}</colgroup>' + "\n".join(rows)
            + "</table>")
    return body, removed, added


def lines_section(left, right, key=lambda line: line):
    body, removed, added = lines_table(left, right, key)
    if not removed and not added:
        return '<p class="empty">Equal.</p>'
    return (f"<p>{removed} of {len(left)} lines differ on the left, "
            f"{added} of {len(right)} on the right.</p>{body}")


def facts_table(kernels):
    rows, classes = [], []

    def add(name, values):
        shown = ["" if value is None else str(value) for value in values]
        rows.append([escape(name), *(f"<code>{escape(value)}</code>" for value in shown)])
        classes.append("different" if shown[0] != shown[1] else "")

    for key in ("family", "row", "algorithm", "schedule", "type", "layout", "device", "where"):
        add(key, [kernel[key] for kernel in kernels])
    names = dict.fromkeys(name for kernel in kernels for name in kernel["parameters"])
    for name in [name for name in names if name not in ("algorithm", "schedule", "type", "layout")]:
        add(name, [kernel["parameters"].get(name) for kernel in kernels])
    chosen = [{knob["name"]: knob["value"] for knob in kernel["knobs"]} for kernel in kernels]
    for name in dict.fromkeys(name for values in chosen for name in values):
        add(f"knob {name}", [values.get(name) for values in chosen])
    for name in ("registers", "stack_bytes", "spill_bytes", "shared_dynamic", "threads"):
        values = [kernel["resources"].get(name, -1) for kernel in kernels]
        if max(values) >= 0:
            add(name.replace("_", " "), ["unknown" if value == -1 else value for value in values])
    estimates = [{e["what"]: f'{e["uses"]} of {e["has"]}' for e in kernel["estimates"]}
                 for kernel in kernels]
    for name in dict.fromkeys(name for values in estimates for name in values):
        add("estimated " + name, [values.get(name) for values in estimates])
    add("KB in the library", [f'{(kernel["library_bytes"] or 0) / 1024:.0f}' for kernel in kernels])
    return table(("", *(kernel["name"] for kernel in kernels)), rows, classes=classes)


def source_lines(found):
    return [] if not found else found.code.split("\n")


def schedules(functions):
    parts = []
    for at, title in enumerate(("Schedule", "Chooser of its sizes")):
        pair = [function[at] for function in functions]
        if not any(pair):
            continue
        if pair[0] == pair[1]:
            parts.append(excerpt(pair[0], f"{title}, the same on both sides"))
            continue
        comments = "".join(f'<div>{prose(found.comment) if found else ""}</div>' for found in pair)
        places = [f"{found.path}:{found.line}" if found else "" for found in pair]
        paths = "".join(f'<div class="path">{escape(place)}</div>' for place in places)
        parts.append(f'<h2>{title}</h2><div class="sides">{paths}{comments}</div>'
                     + lines_section(*map(source_lines, pair)))
    return "".join(parts)


def page(kernels, functions, texts, tables, code_names, command):
    (left, left_code), (right, right_code) = texts
    a, b = kernels
    sides = "".join(
        f"<h2>{escape(title)}</h2><div class=sides><div>{tables[0][title]}</div>"
        f"<div>{tables[1][title]}</div></div>" for title in tables[0])
    commands = "".join(f'<pre class="command">{escape(command(k))}</pre>' for k in kernels)
    overview = (f"<h2>What differs is marked</h2><div id=facts>{facts_table(kernels)}</div>{sides}"
                f"<h2>Commands</h2>{commands}")
    names = dict.fromkeys(code_names[kernel["device"]] for kernel in kernels)
    sections = [
        ("overview", "Overview", overview, ""),
        ("schedule", "Schedule", schedules(functions), ""),
        ("conceptual", "Conceptual code", lines_section(left, right, comparable), ""),
        ("code", " and ".join(names), lines_section(left_code, right_code, comparable), "")]

    short = [f'{kernel["row"]} {kernel["candidate_knobs"]}'.rstrip() for kernel in kernels]
    title = " and ".join(short if short[0] != short[1] else [a["name"], b["name"]])
    heading = (f"<h1>{escape(title)}</h1><p><b>{escape(a['name'])}</b> on the left, "
               f"<b>{escape(b['name'])}</b> on the right</p>")
    return document(title, heading, sections)
