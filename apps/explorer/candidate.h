#pragma once
// One way to compile a kernel: what a row of the table says, its knobs perhaps others.

#include <map>
#include <string>
#include <vector>

#include "hk/kernel_info.h"

namespace hk::explorer {

struct Candidate {
    std::string family;                    // of the generator: conv2d
    std::string algorithm, schedule;       // the schedule may be an autoscheduler of Halide's
    std::string knobs;                     // tile_x:8,tile_k:16; empty: the chooser's
    std::map<std::string, int64_t> fixed;  // fields whose values the compiler knows: kernel_w 3
    DataType type = DataType::f32;
    Layout layout = Layout::any;
    DeviceType device = DeviceType::cpu;
    std::string cpu = {};           // one of cpu_levels(); empty: this machine
    std::vector<Constraint> where;  // the problems that it takes; the fixed ones among them

    // The row itself, as kernels.cmake has it compiled.
    static Candidate of(const KernelInfo &row);

    std::string fixed_text() const;  // "kernel_w=3 kernel_h=3"
    // Without knobs: "packed/broadcast kernel_w=3 kernel_h=3".
    std::string base() const;
    // With them, unless there are none: "packed/broadcast kernel_w=3 block:32,tile_x:7".
    std::string name() const;
    // Of the generator, in Halide's terms.
    std::map<std::string, std::string> parameters() const;
    std::string target() const;
};

// What CPUs the portable preset has kernels for, best first: avx512, avx2, …
std::vector<std::string> cpu_levels();

// Halide's autoschedulers for a device.
std::vector<std::string> autoschedulers(DeviceType device);
bool is_autoscheduler(const std::string &schedule);

}  // namespace hk::explorer
