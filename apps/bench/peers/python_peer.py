"""A library's side of bench: a script that peers/python.cpp starts with a socket as its input and
output, and that serves its tasks here.

The first line is a problem, as JSON: a task, and arrays that lie in files of a folder. Every line
after it is answered by one line: "run COUNT" by the seconds that it took to run the task so often;
"outputs" by the names of files of that folder, into which the results of the last run were written.
"""

import json
import sys
import time

import numpy as np


def arrays_of(problem):
    folder = problem["folder"]
    return {
        array["name"]: np.fromfile(f"{folder}/{array['name']}", array["type"]).reshape(
            array["shape"]
        )
        for array in problem["arrays"]
    }


def serve(tasks, version):
    """tasks: functions of arrays and options, by name; each returns a function that runs the task
    and one that returns its results by name. version: a function, printed for --version."""
    if sys.argv[1:] == ["--version"]:
        print(version())
        return
    problem = json.loads(sys.stdin.readline())
    run, outputs = tasks[problem["task"]](arrays_of(problem), problem["options"])
    print("ready", flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "run":
            start = time.perf_counter()
            for _ in range(int(arguments[0])):
                run()
            answer = json.dumps(time.perf_counter() - start)
        else:
            results = outputs()
            for name, array in results.items():
                array.tofile(f"{problem['folder']}/{name}")
            answer = json.dumps(list(results))
        print(answer, flush=True)
