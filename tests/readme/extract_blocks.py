"""Writes every block of C++ in the README and the documents to files that are compiled.

    extract_blocks.py SOURCE_DIR FOLDER PROGRAM ...

A block with a main() is a program, named by the last header hk/NAME.h that it includes: FOLDER has
NAME.cpp, and the programs have to be those that are named. Any other block is a fragment, which
becomes a function behind the declarations of its document's prelude; FOLDER has PRELUDE.cpp.
"""

import pathlib
import re
import sys

PRELUDES = {"docs/adding-a-kernel.md": "schedule_prelude"}
BLOCK = re.compile(r"^```c\+\+\n(.*?)^```$", re.M | re.S)


def documents(source):
    return [source / "README.md", *sorted((source / "docs").rglob("*.md"))]


def blocks(source):
    """The document, the line that a block begins in, and the block."""
    for path in documents(source):
        text = path.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            yield path.relative_to(source).as_posix(), text.count("\n", 0, match.start()) + 2, match[1]


def fragment(name, line, text):
    """Its includes and its function."""
    includes = "".join(f"{part}\n" for part in text.splitlines() if part.startswith("#include"))
    body = re.sub(r"^#include.*$", "", text, flags=re.M)
    function = f"{re.sub('[^a-zA-Z0-9]', '_', name)}_{line}"
    return includes, f'\nvoid {function}() {{\n#line {line} "{name}"\n{body}}}\n'


def main():
    source, folder = map(pathlib.Path, sys.argv[1:3])
    expected = set(sys.argv[3:])
    files = {f"{prelude}.cpp": ([f'#include "tests/readme/{prelude}.h"\n'], [])
             for prelude in ("prelude", *PRELUDES.values())}
    programs = {}
    for name, line, text in blocks(source):
        if "int main(" in text:
            family = re.findall(r"^#include <hk/(\w+)\.h>", text, re.M)[-1]
            programs[family] = f'#line {line} "{name}"\n{text}'
            continue
        includes, function = fragment(name, line, text)
        head, body = files[PRELUDES.get(name, "prelude") + ".cpp"]
        head.append(includes)
        body.append(function)
    if set(programs) != expected:
        sys.exit(f"the documents have the programs {sorted(programs)}, this test {sorted(expected)}")
    for name, (head, body) in files.items():
        (folder / name).write_text("".join(head + body), encoding="utf-8")
    for family, text in programs.items():
        (folder / f"{family}.cpp").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
