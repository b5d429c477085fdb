"""The README's table of operations, between <!-- operations --> and <!-- end of operations -->.

    operations_table.py [--check] PROGRAM README

PROGRAM is readme_operations, which prints it. --check writes nothing and fails where it differs.
"""

import argparse
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"(<!-- operations -->\n).*?(<!-- end of operations -->)", re.S)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("program")
    parser.add_argument("readme", type=pathlib.Path)
    arguments = parser.parse_args()
    table = subprocess.run([arguments.program], check=True, capture_output=True, text=True).stdout
    old = arguments.readme.read_text(encoding="utf-8")
    new = BLOCK.sub(lambda block: block[1] + table + block[2], old)
    if not BLOCK.search(old):
        sys.exit(f"{arguments.readme} has no table of operations")
    if arguments.check:
        if new != old:
            sys.exit(f"{arguments.readme}: its table of operations is out of date: make docs")
    else:
        arguments.readme.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
