#pragma once
// The table of kernels as data, and selection over it.
//
// Each compiled kernel is one KernelInfo, in the order of kernels.cmake: the most specific first.
// Selection is a pure function: the first row that takes the problem and fits the device.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hk/data_type.h"
#include "hk/device.h"

namespace hk {

enum class Layout : uint8_t { nhwc, nchw, any };  // any: of families that have no layouts

std::string_view name_of(Layout layout) noexcept;  // "nhwc", "nchw", "any"
Layout layout_of(std::string_view name);           // nhwc or nchw; throws InvalidArgument

// What the kernel compiler measured: of a CUDA kernel by ptxas (the largest figure over its chips
// and device functions), of an OpenCL kernel from the lowered code. -1: not known for this target.
struct KernelResources {
    int registers = -1;      // a thread
    int stack_bytes = -1;    // a thread
    int spill_bytes = -1;    // a thread
    int shared_static = -1;  // bytes a block
    int shared_dynamic = -1;
    int threads = -1;  // a block

    int shared_bytes() const {
        return shared_dynamic < 0 ? -1 : std::max(shared_static, 0) + shared_dynamic;
    }
};

// A condition of a row, as kernels.cmake writes it: channels%16=0 is {"channels", multiple_of, 16}.
struct Constraint {
    enum class Relation : uint8_t { equal, at_least, at_most, multiple_of };
    const char *field;
    Relation relation;
    int64_t value;
};

bool holds(const Constraint &constraint, int64_t value) noexcept;

// Its relation and value in words: "at most 4".
std::string to_string(const Constraint &constraint);

// An argument of a compiled function.
struct KernelArgument {
    const char *name;  // that the generator gives it
    int bytes;         // of a number or a pointer; 0: a buffer
    // Of a buffer, innermost first: what the kernel wants it to be a multiple of, or at most;
    // 0: nothing.
    std::span<const int64_t> extents;
};

struct KernelInfo {
    const char *name;    // of the compiled function: conv2d_3x3_f32_nhwc_cpu
    const char *family;  // conv2d
    const char *row;     // 3x3
    const char *algorithm;
    const char *schedule;  // root, broadcast, staged, …
    const char *knobs;     // of the schedule; empty: its chooser's
    DataType type;
    Layout layout;
    DeviceType device;
    std::span<const Constraint> where;
    KernelResources resources;

    // The compiled function, or one that differs in its name alone, with its arguments as an array
    // of pointers, the user's context before all others. Tells on failure by a return value other
    // than 0.
    int (*call)(void **arguments);
    std::span<const KernelArgument> arguments;

    // Of a table whose kernels are compiled when they are first asked for, as the explorer's: gives
    // the row its resources, call and arguments. Null in the libraries. Throws what it likes.
    void (*load)(const KernelInfo &) = nullptr;

    // Whoever reads what `load` gives calls this first.
    const KernelInfo &loaded() const {
        if (load) load(*this);
        return *this;
    }

    // An argument's extent along a dimension; 0 where the kernel wants nothing of it.
    int64_t extent(std::string_view argument, size_t dim) const;
};

// A row that selection rejected, and why: "kernel_w is 5, the row needs 3".
struct Rejection {
    const KernelInfo *kernel;
    std::string reason;
};

// A row whose conditions all hold. `shortage`: what the device lacks for it, "needs 22784 bytes of
// shared memory, the device has 16384"; empty where it fits.
struct Rung {
    const KernelInfo *kernel;
    std::string shortage;
};

struct Selection {
    const KernelInfo *kernel = nullptr;  // the first rung that fits; null: no row takes the problem
    std::vector<Rung> ladder;  // in the table's order: up to `kernel`, or all where asked for
    std::vector<Rejection> rejected;  // of that device, type and layout; where asked for

    // Whether the device is too small for the row that the problem would take on a larger one.
    bool fell_back() const { return kernel && ladder.front().kernel != kernel; }
};

// The value of a problem's field by its name in constraints; throws std::out_of_range for a name
// that the family does not have.
using FieldLookup = std::function<int64_t(std::string_view)>;

// `limits`: rows that need more shared memory, threads or registers are rejected. Rows of
// another device, type or layout don't count as rejected.
Selection select(std::span<const KernelInfo> kernels, DataType type, Layout layout,
                 DeviceType device, const DeviceLimits &limits, const FieldLookup &field,
                 bool explain);

}  // namespace hk
