#!/usr/bin/env bash
# Installs what the build needs: Debian packages that are missing, and .venv from requirements.txt.
# Does nothing the second time. Where it may not install packages it names them and stops.
#
#   ./setup.sh            for all of it
#   ./setup.sh library    for the libraries alone: -DHK_BUILD_APPS=OFF (docs/building.md)
set -euo pipefail
cd "$(dirname "$0")"

packages=(g++ ccache opencl-headers libdlpack-dev libxxhash-dev libzstd-dev libboost-dev
    libjemalloc-dev python3-venv python3-dev)
case "${1-}" in
"") packages+=(liblz4-dev libgtest-dev libpng-dev libjpeg-dev zlib1g-dev libcli11-dev nlohmann-json3-dev
    libeigen3-dev libstb-dev
    pocl-opencl-icd ocl-icd-opencl-dev libopenmpi-dev openmpi-bin chromium) ;;
library) ;;
*)
    echo "usage: ./setup.sh [library]" >&2
    exit 2
    ;;
esac
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' ||
        missing+=("$package")
done
# A Python of one's own brings venv along; Debian's needs python3-venv.
if python3 -c 'import ensurepip, venv' 2>/dev/null; then
    missing=("${missing[@]/#python3-venv/}")
fi
# And its headers.
if python3 -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null; then
    missing=("${missing[@]/#python3-dev/}")
fi
read -ra missing <<<"${missing[*]-}"

if ((${#missing[@]})); then
    install="apt-get install -y --no-install-recommends ${missing[*]}"
    if [[ $(id -u) == 0 ]]; then
        sudo=
    elif sudo -n true 2>/dev/null; then
        sudo="sudo "
    else
        echo "setup: packages are missing; install them and run this again:" >&2
        echo "    sudo apt-get update && sudo $install" >&2
        exit 1
    fi
    ${sudo}apt-get update -qq
    DEBIAN_FRONTEND=noninteractive ${sudo}$install -qq
fi

stamp=.venv/installed
if ! cmp -s requirements.txt "$stamp"; then
    python3 -m venv .venv
    .venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
    cp requirements.txt "$stamp"
fi
