"""Pieces of HTML that the pages are made of."""

import html
import pathlib
import re

HERE = pathlib.Path(__file__).parent
CPP = re.compile(
    r"(?P<comment>//[^\n]*)|(?P<string>&quot;.*?&quot;)|"
    r"\b(?P<keyword>auto|bool|break|case|const|constexpr|continue|else|false|float|for|if|int|"
    r"namespace|return|static|struct|template|true|typename|using|void|while)\b")

CONCEPTUAL = re.compile(
    r"(?P<string>&quot;.*?&quot;)|"
    r"\b(?P<label>produce|consume|gpu_block|gpu_thread|parallel|vectorized|for|allocate)\b|"
    r"\b(?P<keyword>let|in|if|else|assert|free|ramp|broadcast|x\d+)\b")


def escape(text):
    return html.escape(str(text))


def document(title, heading, sections, extra=""):
    """`sections`: (id, label, content, class) each; the first is seen first."""
    links = "".join(f'<a href="#{id_}">{escape(label)}</a>' for id_, label, _, _ in sections)
    parts = "\n".join(f'<section id="{id_}" class="{kind}">\n{content}\n</section>'
                      for id_, _, content, kind in sections)
    style, script = (HERE / "page.css").read_text(), (HERE / "page.js").read_text()
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n'
            f"<style>\n{style}{extra}</style>\n</head>\n<body>\n"
            f"<header>{heading}<nav>{links}</nav></header>\n<main>\n{parts}\n</main>\n"
            f"<script>\n{script}</script>\n</body>\n</html>\n")


def table(columns, rows, figures=(), classes=()):
    """`figures`: the columns that are right-aligned. Cells are HTML. `classes`: of rows."""
    def line(tag, cells):
        return "".join(f'<{tag}{" class=figure" if at in figures else ""}>{cell}</{tag}>'
                       for at, cell in enumerate(cells))
    head = f'<tr>{line("th", map(escape, columns))}</tr>' if columns else ""
    kinds = list(classes) or [""] * len(rows)
    body = "\n".join(f'<tr{f" class={kind}" if kind else ""}>{line("td", row)}</tr>'
                     for kind, row in zip(kinds, rows))
    return f'<div class="scroll"><table>{head}\n{body}</table></div>'


def bar(uses, has):
    share = min(100, 100 * uses / has) if has else (100 if uses else 0)
    return f'<span class="bar"><i style="width:{share:.0f}%"></i></span>'


def prose(text):
    return f'<pre class="prose">{escape(text)}</pre>' if text else ""


def mark(pattern, text):
    """HTML in which what the pattern's groups match has their names as its classes."""
    return pattern.sub(lambda match: f'<span class="{match.lastgroup}">{match.group()}</span>',
                       escape(text))


def cpp(text):
    return mark(CPP, text)


def conceptual(text):
    return mark(CONCEPTUAL, text)


def numbered(marked, first=1, prefix=""):
    """Lines of HTML with their numbers; `prefix`: of the lines' ids."""
    lines = []
    for number, line in enumerate(marked.split("\n"), first):
        place = f' id="{prefix}{number}"' if prefix else ""
        lines.append(f'<span class="l"{place}><span class="n">{number}</span>{line}</span>')
    return "<pre>" + "\n".join(lines) + "</pre>"


def excerpt(found, heading=""):
    """A comment and its code, with where they are."""
    if not found:
        return ""
    first = found.line + (found.comment.count("\n") + 1 if found.comment else 0)
    code = numbered(cpp(found.code), first) if found.code else ""
    where = f'<p class="path">{escape(found.path)}:{found.line}</p>'
    return (f"<h2>{escape(heading)}</h2>" if heading else "") + where + prose(found.comment) + code


def assembly_line(line):
    marked = escape(line)
    text = line.strip()
    if re.match(r"[.$\w\"]+:", line):
        return f'<span class="label">{marked}</span>'
    if "Spill" in text or "Reload" in text:
        return f'<span class="spilled">{marked}</span>'
    if re.match(r"vfn?m|vpdp|vpmadd|(@%\w+ )?fma\.", text):
        return f'<span class="multiply">{marked}</span>'
    return f'<span class="comment">{marked}</span>' if text.startswith(("#", "//", ".")) else marked
