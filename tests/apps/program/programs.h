#pragma once
// The programs, with work of a second for each.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/apps/program.h"
#include "tests/support/folder.h"

namespace hk::test {

struct Program {
    std::string name, command;
    std::string work;  // flags; writes to out.* in the folder that it runs in
};

inline const std::string python = "'" HK_PYTHON "' '" HK_APPS "/";

inline const std::vector<Program> programs = {
    {"filter", "'" HK_FILTER "'", "--device cpu --max-size 32 --repeats 1 --output out.png"},
    {"pointcloud", "'" HK_POINTCLOUD "'",
     "--device cpu --voxel 300 --repeats 1 --channels 4 --output out.png"},
    {"train", "'" HK_TRAIN "'", "--steps 3 --history out.json --trace out.trace"},
    {"train_soak", "'" HK_TRAIN_SOAK "'", "--steps 10 --batch 8"},
    {"replay", "'" HK_REPLAY "'", "--allocations 100 --live 10 --rounds 1"},
    {"explain", "'" HK_EXPLAIN "'", "topk --input 4x100 --k 3"},
    {"bench", "'" HK_BENCH "'",
     "--list smoke --filter 1x1 --no-peers --seconds 0.01 --json out.json"},
    {"explorer", "'" HK_EXPLORER "'", "list topk"},
    {"fuzz", "'" HK_FUZZ "'", "--family sgd --kind valid --count 3"}};

// In the running test's own folder.
inline Outcome run_here(const std::string &command, bool with_errors = true) {
    return run_program("cd '" + own_folder().string() + "' && " + command, with_errors);
}

}  // namespace hk::test
