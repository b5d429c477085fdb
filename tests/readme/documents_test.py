"""README.md and docs/: links lead somewhere, files and targets of make that they name exist, and
nothing is so long that nobody reads it.

    documents_test.py SOURCE_DIR
"""

import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
README = SOURCE / "README.md"
FENCED = re.compile(r"^ *```.*?^ *```", re.M | re.S)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
LONGEST_PARAGRAPH, LONGEST_README = 420, 150  # characters, lines
GENERATED = ["docs/kernels.md", "docs/onnx.md", "docs/selection.md"]


def documents():
    return [README, *sorted((SOURCE / "docs").rglob("*.md"))]


def prose(path):
    """Without blocks of code."""
    return FENCED.sub("", path.read_text(encoding="utf-8"))


def name(path):
    return path.relative_to(SOURCE).as_posix()


def anchors(path):
    """Of headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links():
    for path in documents():
        for target in LINK.findall(prose(path)):
            if not re.match(r"[a-z]+:", target):
                file, _, anchor = target.partition("#")
                yield path, target, (path.parent / file).resolve() if file else path, anchor


def paragraphs(path):
    """Of prose and lists, an item each; not tables, which are looked up."""
    for block in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. )", prose(path)):
        if not re.match(r"\s*(\||<!--|#)", block):
            yield re.sub(r"\]\([^)]*\)", "]", " ".join(block.split()))


class Documents(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for path, target, file, anchor in links():
            with self.subTest(document=name(path), link=target):
                self.assertTrue(file.exists())
                if anchor:
                    self.assertIn(anchor, anchors(file))

    def test_each_is_reached_from_the_readme(self):
        leads = {}
        for path, _, file, _ in links():
            leads.setdefault(path, set()).add(file)
        reached, new = set(), {README}
        while new:
            reached |= new
            new = {file for path in new for file in leads.get(path, ())} - reached
        self.assertEqual([name(path) for path in documents() if path not in reached], [])

    def test_files_that_they_name_exist(self):
        folders = "|".join(sorted(path.name for path in SOURCE.iterdir()
                                  if path.is_dir() and not path.name.startswith((".", "build"))))
        for path in documents():
            for file in re.findall(rf"`((?:{folders})/[\w./-]*\w/?)`", prose(path)):
                if re.search(r"\b[A-Z]{3,}\b|[A-Z]{3,}_", file):
                    continue  # stands for a name
                with self.subTest(document=name(path), file=file):
                    self.assertTrue((SOURCE / file).exists())

    def test_targets_of_make_exist(self):
        makefile = (SOURCE / "Makefile").read_text().replace("\\\n", " ")
        targets = re.search(r"^\.PHONY: (.*)$", makefile, re.M)[1].split()
        for path in documents():
            text = path.read_text(encoding="utf-8")
            for target in re.findall(r"(?:^|`|&& )make ([a-z-]+)", text, re.M):
                with self.subTest(document=name(path)):
                    self.assertIn(target, targets)

    def test_paragraphs_are_short(self):
        for path in documents():
            for paragraph in paragraphs(path) if name(path) not in GENERATED else ():
                with self.subTest(document=name(path), begins=paragraph[:60]):
                    self.assertLessEqual(len(paragraph), LONGEST_PARAGRAPH)

    def test_readme_is_short(self):
        lines = README.read_text(encoding="utf-8").splitlines()
        self.assertLessEqual(len(lines), LONGEST_README)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
