"""Writes the page of explorer show or diff from the facts that the explorer has collected."""

import argparse
import html
import json
import pathlib
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))

import assembly  # noqa: E402
import difference  # noqa: E402
from files import write_file  # noqa: E402
from markup import (assembly_line, bar, conceptual, cpp, document, escape, excerpt,  # noqa: E402
                    numbered, prose, table)
from source import Sources  # noqa: E402

# What CUDA and OpenCL launch with unless a program asks for more.
SHARED_LIMIT = 48 * 1024
CODE_NAMES = {"cpu": "Assembly", "cuda": "PTX", "opencl": "OpenCL"}


def heading(kernel):
    built = kernel["library_bytes"]
    size = f"{built / 1024:.0f} KB in the library" if built else "not in the library yet"
    layout = "" if kernel["layout"] == "any" else " " + kernel["layout"]
    return (f'<h1>{escape(kernel["name"])}</h1>'
            f'<p>{escape(kernel["family"])} row <b>{escape(kernel["row"])}</b>, '
            f'{kernel["type"]}{layout}, <b>{kernel["device"]}</b>, '
            f'<b>{escape(kernel["algorithm"])}/{escape(kernel["schedule"])}</b>, {size}</p>')


def usage(rows):
    """(what, uses, has) each, as bars."""
    cells = [(escape(what), bar(uses, has), f"{100 * uses / has:.0f} %" if has else "", uses, has)
             for what, uses, has in rows]
    return table(("", "", "", "uses", "of"), cells, figures=(2, 3, 4),
                 classes=["over" if uses > has else "" for _, uses, has in rows])


def function_figures(function, budget):
    """A device function's use of the row's budget and of the limit, and its other figures."""
    rows = []
    if function["registers"] >= 0:
        rows.append(("registers a thread, of the budget", function["registers"],
                     budget["registers"]))
    if function["shared_dynamic"] >= 0:
        shared = max(function["shared_static"], 0) + function["shared_dynamic"]
        rows += [("shared bytes a block, of the budget", shared, budget["shared"]),
                 ("shared bytes a block, of 48 KiB", shared, SHARED_LIMIT)]
    others = [("threads a block", "threads"), ("stack bytes a thread", "stack_bytes"),
              ("spilled bytes", "spill_bytes")]
    said = {-1: "unknown", -2: "varies"}
    text = ", ".join(f"{label} {said.get(function[name], function[name])}"
                     for label, name in others)
    return f'<h3><code>{escape(function["name"])}</code></h3><p>{text}</p>{usage(rows)}'


def resources(kernel):
    parts = [function_figures(function, kernel["budget"])
             for function in kernel["resources"].get("functions", [])]
    if kernel["estimates"]:
        rows = [(e["what"], e["uses"], e["has"]) for e in kernel["estimates"]]
        parts.append("<h3>The schedule's own estimate</h3>" + usage(rows))
    return "".join(parts) or '<p class="empty">The schedule states no estimate.</p>'


def counted(codes, whole):
    if not codes:
        return '<p class="empty">none</p>'
    names = list(codes[0].counts)
    rows = [[f'<a href="#line-{code.line}">line {code.line}</a>', *([] if whole else [code.depth]),
             *(code.counts[name] or "·" for name in names), f"<code>{escape(code.name)}</code>"]
            for code in codes]
    columns = ["", *([] if whole else ["depth"]), *names, "function" if whole else "in function"]
    return table(columns, rows, figures=range(1, len(columns) - 1))


def code_figures(text):
    """Counts of the compiled code: what estimates only guess."""
    functions, loops = assembly.read(text)
    busy = [loop for loop in loops if loop.counts["multiply-adds"]] or loops
    return ("<h2>Innermost loops, those with most multiply-adds first</h2>"
            + counted(busy[:12], False) + "<h2>Functions</h2>" + counted(functions, True))


def knobs(kernel):
    if not kernel["knobs"]:
        return '<p class="empty">The schedule takes none.</p>'
    said = {"chooser": "chooser", "row": "row", "you": '<span class="you">you</span>'}
    rows = []
    for knob in kernel["knobs"]:
        legal = " ".join(f"<b>{v}</b>" if v == knob["value"] else str(v) for v in knob["legal"])
        rows.append([f'<code>{escape(knob["name"])}</code>', knob["value"], said[knob["set_by"]],
                     f'<span class="legal">{legal or "any"}</span>'])
    return table(("knob", "value", "set by", "legal"), rows, figures=(1,))


def command(kernel):
    """Repeats what the page shows, from any folder."""
    skipped = {"-o": "."}
    words = list(kernel["command"])
    for at, word in enumerate(words[:-1]):
        if word in skipped:
            words[at + 1] = skipped[word]
    return " ".join(shlex.quote(word) for word in words)


def overview(kernel, sources, code):
    where = [[f"<code>{escape(condition)}</code>"] for condition in kernel["where"].split()]
    parameters = [[f"<code>{escape(name)}</code>", f"<code>{escape(value)}</code>"]
                  for name, value in kernel["parameters"].items()]
    _, header = sources.algorithm(kernel["family"], kernel["algorithm"])
    equation = sources.equation(kernel["family"], header)
    more = "".join(excerpt(e) for e in equation[1:])
    figures = "" if kernel["device"] == "opencl" else code_figures(code)
    return f"""
<div class="columns"><div>
<h2>Equation</h2><div id="equation">{"".join(excerpt(e) for e in equation[:1])}</div>
{f"<details><summary>What that refers to</summary>{more}</details>" if more else ""}
</div><div>
<h2>Resources</h2><div id="resources">{resources(kernel)}</div>
<h2>Knobs</h2><div id="knobs">{knobs(kernel)}</div>
</div></div>
<div id="counts">{figures}</div>
<div class="columns"><div>
<h2>Generator parameters</h2>{table((), parameters)}
</div><div>
<h2>The row takes problems with</h2>{table((), where or [["any sizes"]])}
</div></div>
<h2>Command that repeats it <button class="copy" data-of="command">copy</button></h2>
<pre class="command" id="command">{escape(command(kernel))}</pre>"""


def algorithm(kernel, sources):
    found, header = sources.algorithm(kernel["family"], kernel["algorithm"])
    if not found:
        return '<p class="empty">Not found in generators/.</p>'
    stages = prose(sources.declaration_comment(header, found.code))
    note = f'<p class="path">{escape(header)}</p>{stages}' if stages else ""
    return f"<h2>{escape(kernel['algorithm'])}</h2>{note}{excerpt(found)}"


def schedule_parts(kernel, sources):
    """The schedule's function and the one that chooses its sizes, without repetition."""
    function = sources.schedule(kernel["family"], kernel["algorithm"], kernel["schedule"])
    chooser = sources.chooser(kernel["chooser"]["file"], kernel["chooser"]["line"])
    if function and chooser and (function.path, function.line) == (chooser.path, chooser.line):
        chooser = None
    return function, chooser


def schedule(kernel, sources):
    function, chooser = schedule_parts(kernel, sources)
    parts = [excerpt(function, f"Schedule {kernel['schedule']}"),
             excerpt(chooser, "Chooser of its sizes")]
    for path in dict.fromkeys(found.path for found in (function, chooser) if found):
        text = (sources.root / path).read_text().rstrip("\n")
        parts.append(f"<details><summary>All of {escape(path)}</summary>"
                     f"{numbered(cpp(text))}</details>")
    return "".join(parts)


def offline(text):
    """Halide's page without what it loads from the network: a library that it does not use, and one
    that colours assembly, which stays plain."""
    text = re.sub(r"<script src='http[^>]*></script>", "", text)
    return re.sub(r'<script type="module" name="hl">.*?</script>', "", text, flags=re.S)


def lowered(kernel):
    content = offline(pathlib.Path(kernel["files"]["lowered_html"]).read_text())
    content = content.replace("&", "&amp;").replace('"', "&quot;")
    return f'<iframe id="lowered-page" title="lowered" loading="lazy" srcdoc="{content}"></iframe>'


def conceptual_section(kernel):
    text = pathlib.Path(kernel["files"]["conceptual"]).read_text().rstrip("\n")
    first = difference.first_work(text.split("\n")) + 1
    link = f'<a href="#conceptual-{first}">the work begins</a>'
    return (f"<p>After checks of the arguments {link}.</p>"
            + numbered(conceptual(text), prefix="conceptual-"))


def code_of(kernel):
    """Assembly, PTX or OpenCL; where it is no file of its own, it is in Halide's page."""
    files = kernel["files"]
    if "code" in files:
        return pathlib.Path(files["code"]).read_text()
    page = pathlib.Path(files["lowered_html"]).read_text()
    found = re.search(r"<div id='assemblyContent'[^>]*>\s*<pre>\n?(.*?)</pre>", page, re.S)
    return html.unescape(re.sub(r"<[^>]*>", "", found.group(1)))


def show(kernel, sources):
    code = code_of(kernel)
    marked = "\n".join(assembly_line(line.expandtabs()) for line in code.rstrip("\n").split("\n"))
    if kernel["device"] == "opencl":
        marked = cpp(code.rstrip("\n"))
    sections = [("overview", "Overview", overview(kernel, sources, code), ""),
                ("algorithm", "Algorithm", algorithm(kernel, sources), ""),
                ("schedule", "Schedule", schedule(kernel, sources), ""),
                ("conceptual", "Conceptual code", conceptual_section(kernel), ""),
                ("lowered", "Lowered code", lowered(kernel), "whole"),
                ("code", CODE_NAMES[kernel["device"]], numbered(marked, prefix="line-"), "")]
    return document(kernel["name"], heading(kernel), sections)


def diff(kernels, sources):
    functions = [schedule_parts(kernel, sources) for kernel in kernels]
    texts = [difference.read(kernel) for kernel in kernels]

    def loops(kernel):
        if kernel["device"] == "opencl":
            return ""
        found = assembly.read(code_of(kernel))[1]
        return counted(found[:6], False)

    tables = [{"Resources": resources(kernel), "Knobs": knobs(kernel),
               "Innermost loops": loops(kernel)} for kernel in kernels]
    return difference.page(kernels, functions, texts, tables, CODE_NAMES, command)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("facts", type=pathlib.Path, help="JSON, of one kernel or two")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    facts = json.loads(arguments.facts.read_text())
    sources, kernels = Sources(facts["sources"]), facts["kernels"]
    text = show(kernels[0], sources) if len(kernels) == 1 else diff(kernels, sources)
    try:
        write_file(arguments.output, text)
    except OSError as error:
        sys.exit(f"page.py: {error}")


if __name__ == "__main__":
    main()
