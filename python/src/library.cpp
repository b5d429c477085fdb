#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "HalideRuntime.h"
#include "arguments.h"
#include "element_types.h"
#include "hk/device.h"
#include "hk/error.h"
#include "hk/memory.h"
#include "operations.h"
#include "unlocked.h"

namespace hk::python {

namespace {

using namespace nb::literals;

// Our errors as Python's; those that have no counterpart are classes of the module, made once.
struct ErrorTypes {
    PyObject *device = nullptr, *kernel = nullptr;
};
ErrorTypes &error_types() {
    static ErrorTypes types;
    return types;
}

void set_error(PyObject *type, const std::exception &error) {
    PyErr_SetString(type, in_numpy_names(error.what()).c_str());
}

void translate(const std::exception_ptr &failure, void *) {
    try {
        std::rethrow_exception(failure);
    } catch (const InvalidArgument &error) {
        set_error(PyExc_ValueError, error);
    } catch (const OutOfMemory &error) {
        set_error(PyExc_MemoryError, error);
    } catch (const DeviceError &error) {
        set_error(error_types().device, error);
    } catch (const KernelFailure &error) {
        set_error(error_types().kernel, error);
    }
}

PyObject *new_error(nb::module_ &module, const char *name, const char *doc) {
    const std::string full = "halide_kernels._core." + std::string(name);
    PyObject *type = PyErr_NewExceptionWithDoc(full.c_str(), doc, PyExc_RuntimeError, nullptr);
    if (!type) throw nb::python_error();
    module.attr(name) = nb::handle(type);
    return type;
}

std::vector<std::string> devices() {
    std::vector<std::string> names;
    for (const Device device : Device::all()) names.push_back(device.name());
    return names;
}

std::string description(Where device) { return read_device(device).description(); }

void synchronize(Where device) {
    const Device target = read_device(device);
    const Unlocked unlocked;
    const Calling calling;
    target.synchronize();
}

std::vector<std::string> cpu_features() {
    __builtin_cpu_init();
    std::vector<std::string> found;
    const auto note = [&](const char *name, int there) {
        if (there) found.emplace_back(name);
    };
    note("sse4.1", __builtin_cpu_supports("sse4.1"));
    note("avx", __builtin_cpu_supports("avx"));
    note("avx2", __builtin_cpu_supports("avx2"));
    note("fma", __builtin_cpu_supports("fma"));
    note("avx512f", __builtin_cpu_supports("avx512f"));
    note("avx512bw", __builtin_cpu_supports("avx512bw"));
    note("avx512vl", __builtin_cpu_supports("avx512vl"));
    note("avx512vnni", __builtin_cpu_supports("avx512vnni"));
    note("avx512bf16", __builtin_cpu_supports("avx512bf16"));
    return found;
}

void set_threads(int64_t threads) {
    constexpr int64_t kMost = 256;  // of Halide's pool
    if (threads < 0 || threads > kMost) {
        throw InvalidArgument("set_threads: threads is " + std::to_string(threads) +
                              ", it must be 0 to " + std::to_string(kMost));
    }
    halide_set_num_threads(static_cast<int>(threads));
}

MemoryPool pool_of(Where device) { return MemoryPool::of(read_device(device)); }

int64_t not_negative(const char *operation, std::optional<int64_t> bytes) {
    if (bytes && *bytes < 0) {
        throw InvalidArgument(std::string(operation) + ": bytes is " + std::to_string(*bytes) +
                              ", it must be 0 or more, or None");
    }
    return bytes.value_or(INT64_MAX);
}

// A field that is INT64_MAX where there is no limit.
std::optional<int64_t> bounded(int64_t value) {
    return value == INT64_MAX ? std::nullopt : std::optional(value);
}

void add_statistics(nb::module_ &module) {
    using Statistics = MemoryStatistics;
    nb::class_<Statistics>(module, "MemoryStatistics", "What a device's pool holds, in bytes.")
        .def_ro("requested", &Statistics::requested, "Asked for, of the blocks in use.")
        .def_ro("in_use", &Statistics::in_use, "The same, rounded up to blocks.")
        .def_ro("cached", &Statistics::cached, "Free, kept for the next.")
        .def_ro("reserved", &Statistics::reserved, "Taken from the system or driver.")
        .def_ro("largest_free", &Statistics::largest_free)
        .def_ro("peak_requested", &Statistics::peak_requested)
        .def_ro("peak_in_use", &Statistics::peak_in_use)
        .def_ro("peak_reserved", &Statistics::peak_reserved)
        .def_prop_ro(
            "limit", [](const Statistics &self) { return bounded(self.limit); },
            "The most that may be reserved; None: no limit.")
        .def_prop_ro(
            "threshold", [](const Statistics &self) { return bounded(self.threshold); },
            "The most that is kept free; None: all.")
        .def_ro("blocks", &Statistics::blocks, "Number of blocks in use.")
        .def_ro("allocations", &Statistics::allocations, "Number, in all.")
        .def_ro("hits", &Statistics::hits, "Number that cached memory served.")
        .def_ro("failures", &Statistics::failures, "Number that got nothing.")
        .def("__repr__", [](const Statistics &self) {
            return "MemoryStatistics(in_use=" + std::to_string(self.in_use) +
                   ", cached=" + std::to_string(self.cached) +
                   ", peak_in_use=" + std::to_string(self.peak_in_use) + ")";
        });
}

void add_memory(nb::module_ &module) {
    add_statistics(module);
    module.def(
        "memory_statistics", [](Where device) { return pool_of(device).statistics(); },
        "device"_a = "cpu", "What the device's pool holds now, and at most.");
    module.def(
        "trim_memory",
        [](Where device, int64_t keep) { pool_of(device).trim(not_negative("trim_memory", keep)); },
        "device"_a = "cpu", "keep"_a = 0,
        "Gives cached memory back until at most `keep` bytes are left.");
    module.def(
        "set_memory_limit",
        [](std::optional<int64_t> bytes, Where device) {
            pool_of(device).set_limit(not_negative("set_memory_limit", bytes));
        },
        "bytes"_a.none(), "device"_a = "cpu",
        "The most bytes that the pool may reserve; past it calls raise MemoryError.");
    module.def(
        "set_memory_threshold",
        [](std::optional<int64_t> bytes, Where device) {
            pool_of(device).set_threshold(not_negative("set_memory_threshold", bytes));
        },
        "bytes"_a.none(), "device"_a = "cpu",
        "The most bytes that are kept free; what is freed beyond goes back.");
    module.def(
        "reset_memory_peaks", [](Where device) { pool_of(device).reset_peaks(); },
        "device"_a = "cpu", "Peaks become what is now.");
}

}  // namespace

void add_library(nb::module_ &module) {
    error_types() = {new_error(module, "DeviceError",
                               "The device is missing, its driver failed, or has no code here."),
                     new_error(module, "KernelFailure",
                               "A kernel reported an error; what it wrote is undefined.")};
    nb::register_exception_translator(translate);
    module.def("devices", devices, "Names of the devices that work here, \"cpu\" first.");
    module.def("device_description", description, "device"_a, "The vendor's name of a device.");
    module.def("synchronize", synchronize, "device"_a,
               "Waits for all work on the library's queue of a device.");
    module.def("cpu_features", cpu_features, "Instruction sets of this CPU that kernels may use.");
    module.def("set_threads", set_threads, "threads"_a,
               "How many threads kernels on the CPU use, of all calls; 0: one a core.");
    module.def("get_threads", halide_get_num_threads, "What set_threads() has set.");
    add_memory(module);
}

}  // namespace hk::python
