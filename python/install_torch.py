"""Installs PyTorch for tests on the CPU, without the CUDA libraries that its wheel depends on.

    install_torch.py REQUIREMENTS

In their place it puts libraries next to PyTorch's own, whose functions say that there is no device.
Needs gcc, nm and readelf. Does nothing where PyTorch can be imported.
"""

import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile

SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|gomp|gfortran)\.so|ld-linux")
CUDA = re.compile(r"_*cu|nccl|nvrtc|nvshmem|nv|cupti")
NO_DEVICE = 100  # cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needed(libraries):
    """Names of libraries that these ask for."""
    text = "".join(output("readelf", "-d", library) for library in libraries)
    return set(re.findall(r"NEEDED.*\[(.*)\]", text))


def version_nodes(libraries):
    """Of each library that is asked for, the version of its symbols."""
    nodes, name = {}, None
    for library in libraries:
        for line in output("readelf", "-V", "-W", library).splitlines():
            if found := re.search(r"File: (\S+)", line):
                name = found[1]
            elif name and (found := re.search(r"Name: (\S+)\s+Flags", line)):
                nodes.setdefault(name, found[1])
    return nodes


def symbols(libraries, which):
    """Dynamic symbols, defined or undefined, without their versions."""
    lines = "".join(output("nm", "-D", which, library) for library in libraries).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.strip()}


def stand_in(name):
    """A function of C that tells that there is no device."""
    if re.search(r"(Error|Status).*(String|Name)", name):
        return f'const char *{name}(void) {{ return "no device"; }}\n'
    return f"int {name}(void) {{ return {NO_DEVICE}; }}\n"


def make_libraries(folder, names, functions, nodes):
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch, "stand_in.c")
        source.write_text("".join(map(stand_in, sorted(functions))))
        for name in names:
            options = []
            if name in nodes:
                script = pathlib.Path(scratch, "versions.map")
                script.write_text(f"{nodes[name]} {{ global: *; }};\n")
                options = [f"-Wl,--version-script={script}"]
            output("gcc", "-w", "-fno-builtin", "-shared", "-fPIC", f"-Wl,-soname,{name}",
                   *options, "-o", str(folder / name), str(source))


def main():
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode == 0:
        return
    output(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
           "--no-deps", "-r", sys.argv[1])
    torch = pathlib.Path(sysconfig.get_paths()["purelib"], "torch")
    libraries = [str(path) for path in [*torch.glob("lib/*.so"), *torch.glob("_C*.so")]]
    missing = [name for name in sorted(needed(libraries))
               if not SYSTEM.match(name) and not (torch / "lib" / name).exists()]
    absent = symbols(libraries, "--undefined-only") - symbols(libraries, "--defined-only")
    make_libraries(torch / "lib", missing, filter(CUDA.match, absent), version_nodes(libraries))
    output(sys.executable, "-c", "import torch; assert not torch.cuda.is_available()")


if __name__ == "__main__":
    main()
