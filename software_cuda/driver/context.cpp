#include "software_cuda/driver/context.h"

#include "software_cuda/driver/driver.h"

namespace software_cuda {

namespace {

// A stack of which nothing is destroyed when its thread ends: what runs then may still look at it.
struct Entered {
    Context *context;
    Entered *below;
};
thread_local Entered *entered = nullptr;

}  // namespace

Context::Context(Device &device, unsigned flags, bool primary)
    : device(device),
      flags(flags),
      primary(primary),
      default_stream(std::make_shared<Stream>(*this, Stream::Kind::kDefault, 0)) {}

std::shared_ptr<Stream> Context::stream_of_thread() {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Stream> &stream = of_threads_[std::this_thread::get_id()];
    if (!stream) {
        stream = std::make_shared<Stream>(*this, Stream::Kind::kBlocking, 0);
        driver().scheduler.add(stream);
    }
    return stream;
}

void Context::fail(Status status) {
    Status none = CUDA_SUCCESS;
    if (status != CUDA_SUCCESS) error_.compare_exchange_strong(none, status);
}

void Context::destroy() {
    driver().scheduler.wait(*this);
    destroyed_ = true;
    const auto is_mine = [this](const auto &object) { return &object.context == this; };
    for (const auto &stream : driver().streams.remove_if(is_mine))
        driver().scheduler.release(stream);
    driver().events.remove_if(is_mine);
    for (const auto &module : driver().modules.remove_if(is_mine)) {
        driver().functions.remove_if([&](const Function &f) { return f.module == module; });
        module->functions.clear();
    }
    driver().scheduler.release(default_stream);
    const std::lock_guard lock(mutex_);
    for (const auto &[thread, stream] : of_threads_) driver().scheduler.release(stream);
    of_threads_.clear();
    for (const auto &[address, bytes] : allocations_) {
        driver().log.add("leak: " + std::to_string(bytes) + " bytes at " + hexadecimal(address) +
                         " were not freed when their context was destroyed");
        device.memory.release(address);
    }
    allocations_.clear();
}

void Context::own(CUdeviceptr allocation, size_t bytes) {
    const std::lock_guard lock(mutex_);
    allocations_[allocation] = bytes;
}

bool Context::disown(CUdeviceptr allocation) {
    const std::lock_guard lock(mutex_);
    return allocations_.erase(allocation) != 0;
}

bool Context::owns(CUdeviceptr allocation) const {
    const std::lock_guard lock(mutex_);
    return allocations_.contains(allocation);
}

void push_context(Context *context) { entered = new Entered{context, entered}; }

Context *pop_context() {
    if (!entered) return nullptr;
    const std::unique_ptr<Entered> top(entered);
    entered = top->below;
    return top->context;
}

void set_context(Context *context) {
    pop_context();
    if (context) push_context(context);
}

Context *top_context() { return entered ? entered->context : nullptr; }

Context &current_context_even_failed() {
    Context *context = top_context();
    require(context, CUDA_ERROR_INVALID_CONTEXT, "the thread has no current context");
    require(!context->destroyed(), CUDA_ERROR_CONTEXT_IS_DESTROYED,
            "the current context was destroyed");
    return *context;
}

Context &current_context() {
    Context &context = current_context_even_failed();
    // Was told by the work itself.
    if (const Status status = context.error()) throw Failure(status, "");
    return context;
}

}  // namespace software_cuda
