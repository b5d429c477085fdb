"""What this build is and what it finds: ``python -m halide_kernels``."""

import os
import sys
from collections import Counter

import halide_kernels as hk


def main() -> None:
    print(f"halide_kernels {hk.__version__}")
    for name in hk.devices():
        print(f"device {name}: {hk.device_description(name)}")
    print("CPU features:", " ".join(hk.cpu_features()))
    rows = hk.kernels()
    families = Counter(row.family for row in rows)
    devices = Counter(row.device for row in rows)
    print(f"{len(rows)} kernels:", ", ".join(f"{count} {name}" for name, count in devices.items()))
    for family, count in families.items():
        print(f"  {family}: {count}")


if __name__ == "__main__":
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:  # of `| head`; the interpreter would flush again on its way out
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
