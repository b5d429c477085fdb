#pragma once
// Runs a program as a person does.

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace hk::test {

struct Outcome {
    int status = -1;     // of exit; -1 where it crashed
    std::string output;  // both streams, or only the first where errors are kept apart
};

inline Outcome run_program(const std::string &command, bool with_errors = true) {
    Outcome outcome;
    FILE *pipe = popen((command + (with_errors ? " 2>&1" : " 2>/dev/null")).c_str(), "r");
    if (!pipe) return outcome;
    char block[4096];
    while (const size_t size = fread(block, 1, sizeof block, pipe)) {
        outcome.output.append(block, size);
    }
    const int status = pclose(pipe);
    if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
    return outcome;
}

}  // namespace hk::test
