#include "software_cuda/driver/driver.h"

#include <cstdlib>

namespace software_cuda {

namespace {

// Handles of streams with a meaning of their own, as in cuda.h.
const CUstream kLegacyStream = reinterpret_cast<CUstream>(1);
const CUstream kStreamOfThread = reinterpret_cast<CUstream>(2);

}  // namespace

void Event::record(const Point &point, std::shared_ptr<Clock::time_point> time) {
    const std::lock_guard lock(mutex_);
    point_ = point;
    time_ = std::move(time);
}

Point Event::point() const {
    const std::lock_guard lock(mutex_);
    return point_;
}

std::shared_ptr<Event::Clock::time_point> Event::time() const {
    const std::lock_guard lock(mutex_);
    return time_;
}

// Under the lock.
void Driver::read_environment() {
    if (environment_read_) return;
    DriverSettings settings = settings_;
    settings.read_environment();
    settings_ = settings;
    environment_read_ = true;
    apply();
}

void Driver::apply() {
    log.set_destination(settings_.report);
    scheduler.set_order(settings_.machine.order, settings_.machine.seed);
}

void Driver::initialise() {
    const std::lock_guard lock(mutex_);
    if (initialised_) return;
    try {
        read_environment();
    } catch (const std::invalid_argument &error) {
        throw Failure(CUDA_ERROR_INVALID_VALUE, error.what());
    }
    require(settings_.devices > 0, CUDA_ERROR_NO_DEVICE, "SOFTWARE_CUDA_DEVICES=0");
    for (int i = 0; i < settings_.devices; i++) {
        const Chip &chip = settings_.chip(static_cast<size_t>(i));
        const uint64_t bytes = settings_.memory ? settings_.memory : chip.memory_bytes;
        devices_.push_back(std::make_unique<Device>(i, chip, bytes));
    }
    initialised_ = true;
}

DriverSettings Driver::settings() const {
    const std::lock_guard lock(mutex_);
    return settings_;
}

void Driver::set(std::string_view name, std::string_view value) {
    const std::lock_guard lock(mutex_);
    read_environment();
    if (initialised_ && (name == "CHIP" || name == "DEVICES" || name == "MEMORY"))
        throw std::invalid_argument(std::string(name) + " can't be set after cuInit");
    settings_.set(name, value);
    apply();
}

Device &Driver::device(CUdevice ordinal) {
    require(ordinal >= 0 && ordinal < device_count(), CUDA_ERROR_INVALID_DEVICE,
            "device " + std::to_string(ordinal) + " of " + std::to_string(device_count()));
    return *devices_[static_cast<size_t>(ordinal)];
}

Device *Driver::device_of(CUdeviceptr address) {
    for (const auto &device : devices_) {
        if (device->memory.reserves(address)) return device.get();
    }
    return nullptr;
}

Context &Driver::make_context(Device &device, unsigned flags, bool primary) {
    auto context = std::make_unique<Context>(device, flags, primary);
    Context &made = *context;
    {
        const std::lock_guard lock(mutex_);
        contexts_[&made] = std::move(context);
    }
    scheduler.add(made.default_stream);
    return made;
}

Context &Driver::context(CUcontext handle) {
    const std::lock_guard lock(mutex_);
    const auto entry = contexts_.find(handle);
    require(entry != contexts_.end(), CUDA_ERROR_INVALID_CONTEXT, "unknown context");
    require(!entry->second->destroyed(), CUDA_ERROR_CONTEXT_IS_DESTROYED,
            "the context was destroyed");
    return *entry->second;
}

std::vector<Context *> Driver::contexts() const {
    const std::lock_guard lock(mutex_);
    std::vector<Context *> alive;
    for (const auto &[handle, context] : contexts_) {
        if (!context->destroyed()) alive.push_back(context.get());
    }
    return alive;
}

size_t Driver::allocation_count() const {
    size_t count = 0;
    for (const auto &device : devices_) count += device->memory.allocations().size();
    return count;
}

std::shared_ptr<Stream> Driver::stream(CUstream handle) {
    if (!handle || handle == kLegacyStream) return current_context().default_stream;
    if (handle == kStreamOfThread) return current_context().stream_of_thread();
    std::shared_ptr<Stream> stream = streams.find(handle);
    if (const Status status = stream->context.error()) throw Failure(status, "");
    return stream;
}

Driver &driver() {
    static Driver *driver = new Driver;
    return *driver;
}

}  // namespace software_cuda
