#!/usr/bin/env bash
# Installs what the build needs: Debian packages that are missing, and .venv from requirements.txt.
# Does nothing the second time. Where it may not install packages it names them and stops.
set -euo pipefail
cd "$(dirname "$0")"

packages=(g++ ccache libgtest-dev libbenchmark-dev libpng-dev libjpeg-dev pocl-opencl-icd
    ocl-icd-opencl-dev opencl-headers libcli11-dev nlohmann-json3-dev libdlpack-dev libxxhash-dev
    libboost-dev zlib1g-dev libopenmpi-dev openmpi-bin chromium python3-venv)
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' ||
        missing+=("$package")
done
# A Python of one's own brings venv along; Debian's needs python3-venv.
if python3 -c 'import ensurepip, venv' 2>/dev/null; then
    missing=("${missing[@]/#python3-venv/}")
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
