// What can be set from outside, by name: SOFTWARE_CUDA_CHECK=all in the environment, or "CHECK" and
// "all" in control.h.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "software_cuda/machine/chips.h"
#include "software_cuda/machine/machine.h"

namespace software_cuda {

// Which findings of checks fail a launch that a GPU would end well.
enum class Strict {
    kOff,
    kShared,  // those of a block: shared memory, barriers, lanes
    kOn,      // global memory too
};

// A line of a module that is another one: a mutant.
struct LineEdit {
    std::string module;  // its key
    uint64_t line = 0;   // from 1
    std::string text;
};

struct DriverSettings {
    Settings machine;
    std::vector<const Chip *> chips{find_chip("sm_80")};  // of each device; the last of the others
    int devices = 1;
    uint64_t memory = 0;  // bytes of each device; 0: as many as the chip has
    bool run = true;      // false: launches are checked and noted, and execute nothing
    Strict strict = Strict::kOff;
    std::string report;  // file that lines are added to; "": standard error; "off": none
    std::string count;   // file that the counts of all launches are written to, when the process
                         // ends; "": none
    std::string ptx;     // folder that the text of each module is written to; "": none
    LineEdit edit;

    const Chip &chip(size_t device) const { return *chips[std::min(device, chips.size() - 1)]; }

    // Throws std::invalid_argument, which says what is wrong.
    void set(std::string_view name, std::string_view value);
    // Reads all variables; throws std::invalid_argument.
    void read_environment();
};

}  // namespace software_cuda
