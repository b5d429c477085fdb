"""Holds what was counted of the CUDA kernels against the contracts of the table.

    check_contracts.py KERNELS_DIR COUNTS

KERNELS_DIR is build/kernels, COUNTS what build/bin/counts has written. Fails where a kernel is over its row's contract,
and where one with a contract was not counted.
"""

import argparse
import pathlib
import sys

from write_docs import COUNTED, limits, read_rows


def faults(row: dict) -> list[str]:
    """In words, of a CUDA kernel."""
    contract = limits(row, "contract")
    if contract and row["counts"] is None:
        return [f"{row['name']} has a contract and was not counted"]
    found = []
    for name, limit in contract.items():
        figure, _, worst = COUNTED[name]
        value = row["counts"][figure]
        if worst(value, float(limit)) != float(limit):
            found.append(f"{row['name']}: {name} {value:.4f} on {row['counts']['case']}, its contract is {limit}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("counts", type=pathlib.Path)
    options = parser.parse_args()
    rows = [row for row in read_rows(options.kernels, options.counts) if row["device"] == "cuda"]
    found = [fault for row in rows for fault in faults(row)]
    for fault in found:
        print(fault, file=sys.stderr)
    counted = sum(row["counts"] is not None for row in rows)
    print(f"{counted} of {len(rows)} CUDA kernels counted, {sum(bool(row['contract']) for row in rows)} with a contract")
    return 1 if found or not counted else 0


if __name__ == "__main__":
    sys.exit(main())
