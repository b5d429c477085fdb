// All that the driver's functions work on.
#pragma once

#include <chrono>
#include <cstdio>
#include <map>
#include <string>

#include "software_cuda/driver/context.h"
#include "software_cuda/driver/handles.h"
#include "software_cuda/driver/journal.h"
#include "software_cuda/driver/log.h"
#include "software_cuda/driver/settings.h"
#include "software_cuda/ptx/module.h"

namespace software_cuda {

// A place on a stream that others wait for.
class Event {
public:
    using Clock = std::chrono::steady_clock;

    Event(Context &context, unsigned flags) : context(context), flags(flags) {}

    static constexpr unsigned kDisableTiming = 2;
    Context &context;
    const unsigned flags;

    void record(const Point &point, std::shared_ptr<Clock::time_point> time);
    Point point() const;  // stream null: never recorded
    std::shared_ptr<Clock::time_point> time() const;

private:
    mutable std::mutex mutex_;
    Point point_;
    std::shared_ptr<Clock::time_point> time_;
};

class Function;

class LoadedModule {
public:
    LoadedModule(Context &context, Module module, std::string key)
        : context(context), module(std::move(module)), key(std::move(key)) {}

    Context &context;
    const Module module;
    const std::string key;  // of its text, the same in each process
    // Of those that were asked for, by their entries.
    std::map<const Entry *, std::shared_ptr<Function>> functions;
    std::mutex mutex;
};

class Function {
public:
    Function(std::shared_ptr<LoadedModule> module, const Entry &entry)
        : module(std::move(module)), entry(entry) {}

    const std::shared_ptr<LoadedModule> module;
    const Entry &entry;
    std::atomic<int> most_dynamic_shared = Chip::kSharedBytesPerBlock;
    std::atomic<int> carveout = -1;
};

class Driver {
public:
    // Reads the settings and makes the devices, once. Throws Failure.
    void initialise();
    bool initialised() const { return initialised_; }

    DriverSettings settings() const;
    // Throws std::invalid_argument. What devices there are can't be set after cuInit.
    void set(std::string_view name, std::string_view value);

    Device &device(CUdevice ordinal);  // throws Failure
    int device_count() const { return static_cast<int>(devices_.size()); }
    // The device that an address is of, allocated or not; null where it is of none.
    Device *device_of(CUdeviceptr address);

    Context &make_context(Device &device, unsigned flags, bool primary);
    Context &context(CUcontext handle);       // throws Failure
    std::vector<Context *> contexts() const;  // not destroyed
    size_t allocation_count() const;
    // The stream of a handle in the current context. Throws Failure.
    std::shared_ptr<Stream> stream(CUstream handle);

    Log log;
    Scheduler scheduler;
    Journal journal;
    Handles<Stream> streams;
    Handles<Event> events;
    Handles<LoadedModule> modules;
    Handles<Function> functions;

private:
    mutable std::mutex mutex_;
    std::atomic<bool> initialised_ = false;
    bool environment_read_ = false;
    DriverSettings settings_;
    std::vector<std::unique_ptr<Device>> devices_;
    std::map<CUcontext, std::unique_ptr<Context>> contexts_;

    void read_environment();
    void apply();
};

// Never destroyed: programs call the driver while they end.
Driver &driver();

}  // namespace software_cuda
