"""Names a wheel after the oldest glibc that it runs with, and checks what it needs of a machine.

    finish_wheel.py FOLDER OUTPUT

Moves the wheel of FOLDER to OUTPUT. Fails where it needs libraries other than the system's, or is
larger than 60 MB.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

LARGEST = 60e6
# What manylinux has everywhere (peps.python.org/pep-0600).
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
          "ld-linux-x86-64.so.2", "libgcc_s.so.1"}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def newest_glibc(library):
    """The newest version of glibc's symbols that the library asks for: (2, 34)."""
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", library)))
    if needed - SYSTEM:
        sys.exit(f"finish_wheel: {library} needs {', '.join(sorted(needed - SYSTEM))}")
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", output("readelf", "-V", "-W", library))
    return max((int(major), int(minor)) for major, minor in versions)


def main():
    folder, target = map(pathlib.Path, sys.argv[1:])
    wheel, = folder.glob("*.whl")
    with tempfile.TemporaryDirectory() as scratch:
        with zipfile.ZipFile(wheel) as archive:
            extension, = (name for name in archive.namelist() if name.endswith(".so"))
            library = archive.extract(extension, scratch)
        major, minor = newest_glibc(library)
    platform = f"manylinux_{major}_{minor}_x86_64"
    name = output(sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", platform,
                  str(wheel)).split()[-1]
    target.mkdir(exist_ok=True)
    finished = target / name
    (folder / name).replace(finished)
    size = finished.stat().st_size
    print(f"{finished}: {size / 1e6:.1f} MB")
    if size > LARGEST:
        sys.exit(f"finish_wheel: it may have {LARGEST / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
