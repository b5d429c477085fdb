"""The explorer's pages are templates beside this file, in which text is escaped."""

import pathlib
import re

import jinja2
from markupsafe import Markup, escape

HERE = pathlib.Path(__file__).parent
CPP = re.compile(
    r"(?P<comment>//[^\n]*)|(?P<string>&#34;.*?&#34;)|"
    r"\b(?P<keyword>auto|bool|break|case|const|constexpr|continue|else|false|float|for|if|int|"
    r"namespace|return|static|struct|template|true|typename|using|void|while)\b")
CONCEPTUAL = re.compile(
    r"(?P<string>&#34;.*?&#34;)|"
    r"\b(?P<label>produce|consume|gpu_block|gpu_thread|parallel|vectorized|for|allocate)\b|"
    r"\b(?P<keyword>let|in|if|else|assert|free|ramp|broadcast|x\d+)\b")
ASSEMBLY = re.compile(
    r"^(?:(?P<label>[.$\w&#;]+:.*)|(?P<spilled>.*(?:Spill|Reload).*)|"
    r"(?P<multiply>\s*(?:vfn?m|vpdp|vpmadd|(?:@%\w+ )?fma\.).*)|"
    r"(?P<comment>\s*(?:#|//|\.).*))$", re.M)


def mark(text, pattern):
    """What the pattern's groups match has their names as its classes."""
    return Markup(pattern.sub(
        lambda match: f'<span class="{match.lastgroup}">{match.group()}</span>', str(escape(text))))


def numbered(marked, first=1, prefix=""):
    """Lines with their numbers; `prefix`: of the lines' ids."""
    place = f' id="{prefix}%d"' if prefix else "%.0s"
    lines = [f'<span class="l"{place % number}><span class="n">{number}</span>{line}</span>'
             for number, line in enumerate(str(escape(marked)).split("\n"), first)]
    return Markup("<pre>" + "\n".join(lines) + "</pre>")


def breakable(text):
    """Knobs may go on in the next line after a comma."""
    return escape(text).replace(",", Markup(",<wbr>"))


def for_script(text):
    return Markup(text.replace("<", "\\u003c"))


PAGES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
    undefined=jinja2.StrictUndefined)
PAGES.globals["file"] = lambda name: Markup((HERE / name).read_text(encoding="utf-8"))
PAGES.filters |= {
    "breakable": breakable, "for_script": for_script, "numbered": numbered,
    "cpp": lambda text: mark(text, CPP), "conceptual": lambda text: mark(text, CONCEPTUAL),
    "assembly": lambda text: mark(text, ASSEMBLY)}


def written(template, **values):
    return PAGES.get_template(template).render(values)
