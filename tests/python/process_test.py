"""Processes: fork() with workers that wait, and the interpreter's end while kernels run."""

import multiprocessing
import subprocess
import sys
import threading

import numpy as np
import pytest

import halide_kernels as hk

START = """
import threading
import numpy as np, halide_kernels as hk
hk.set_threads(4)
x, w = np.ones((1, 32, 32, 32), np.float32), np.ones((32, 3, 3, 32), np.float32)
"""


def images():
    return np.ones((1, 32, 32, 32), np.float32), np.ones((32, 3, 3, 32), np.float32)


def total(scale):
    x, w = images()
    return float(hk.conv2d(x * scale, w).sum())


@pytest.fixture
def four_threads():
    before = hk.get_threads()
    hk.set_threads(4)
    yield
    hk.set_threads(before)


def test_fork(four_threads):
    """Children have none of the parent's workers, and start their own."""
    expected = [total(scale) for scale in range(6)]
    with multiprocessing.get_context("fork").Pool(2) as children:
        assert children.map_async(total, range(6)).get(60) == expected
    assert total(1) == expected[1]


def test_fork_while_others_compute(four_threads):
    done = threading.Event()
    expected = total(1)
    wrong = []

    def work():
        while not done.is_set():
            if total(1) != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            with multiprocessing.get_context("fork").Pool(1) as children:
                assert children.map_async(total, [1]).get(60) == [expected]
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not wrong


def test_spawn():
    with multiprocessing.get_context("spawn").Pool(1) as children:
        assert children.map_async(total, [1]).get(60) == [total(1)]


@pytest.mark.parametrize("ending", [
    # Workers wait for the next loop without sleeping.
    "hk.conv2d(x, w)",
    # Threads that nobody joins are inside of kernels, or wait for the interpreter.
    "def work():\n    while True: hk.conv2d(x, w)\n"
    "for _ in range(3): threading.Thread(target=work, daemon=True).start()\n"
    "for _ in range(5): hk.conv2d(x, w)",
    # Calls while the interpreter ends.
    "import atexit; atexit.register(lambda: hk.conv2d(x, w)); hk.conv2d(x, w)",
    # Objects that live as long as modules do.
    "kept = hk.asarray(x), hk.prepare_filter(w), hk.conv2d(x, w), hk.conv2d(hk.asarray(x), w)\n"
    "import sys; sys.kept = kept",
    # A class whose object calls when it goes.
    "class Late:\n    def __del__(self, hk=hk, x=x, w=w): hk.conv2d(x, w)\n"
    "hk.conv2d(x, w)\nlate = Late()",
], ids=["spinning", "daemon", "atexit", "kept", "del"])
def test_exit(ending):
    for _ in range(5):
        run = subprocess.run([sys.executable, "-c", START + ending], capture_output=True,
                             text=True, timeout=60)
        assert (run.returncode, run.stderr) == (0, "")


def test_interrupt():
    """Control-C ends a loop of calls, after the kernel that runs."""
    code = START + ("import signal; signal.setitimer(signal.ITIMER_REAL, 0.3)\n"
                    "signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
                    "try:\n    while True: hk.conv2d(x, w)\n"
                    "except KeyboardInterrupt: print('interrupted', hk.conv2d(x, w).shape)")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout == "interrupted (1, 30, 30, 32)\n"
