// The driver's functions: streams and events.

#include "software_cuda/driver/call.h"
#include "software_cuda/driver/functions.h"

namespace software_cuda {

namespace {

constexpr unsigned kNonBlocking = 1;

void note(const char *function, CUstream stream, CUevent event, Context &context) {
    SoftwareCudaOperation operation{};
    operation.function = function;
    operation.context = &context;
    operation.stream = stream;
    operation.event = event;
    driver().journal.note(operation);
}

CUstream make_stream(unsigned flags, int priority) {
    require(flags <= kNonBlocking, CUDA_ERROR_INVALID_VALUE, "unknown flags");
    const auto kind = flags & kNonBlocking ? Stream::Kind::kNonBlocking : Stream::Kind::kBlocking;
    auto stream = std::make_shared<Stream>(current_context(), kind, priority);
    driver().scheduler.add(stream);
    return driver().streams.add(stream);
}

// A task that does nothing but the host's function, on the thread of the device.
void submit(CUstream handle, std::function<void()> function) {
    driver().scheduler.submit(driver().stream(handle), [function = std::move(function)] {
        function();
        return CUDA_SUCCESS;
    });
}

void record(CUevent handle, CUstream stream_handle) {
    const std::shared_ptr<Event> event = driver().events.find(handle);
    const std::shared_ptr<Stream> stream = driver().stream(stream_handle);
    require(&event->context == &stream->context, CUDA_ERROR_INVALID_HANDLE,
            "the event is of another context than the stream");
    auto time = std::make_shared<Event::Clock::time_point>();
    const Point point = driver().scheduler.submit(stream, [time] {
        *time = Event::Clock::now();
        return CUDA_SUCCESS;
    });
    event->record(point, time);
    note("cuEventRecord", stream_handle, handle, stream->context);
}

// Fails unless the event has passed, and work before it has not failed.
void require_passed(const Event &event) {
    const Point point = event.point();
    if (!point.stream) return;
    if (const Status status = event.context.error()) throw Failure(status, "");
    if (!driver().scheduler.passed(point)) throw Failure(CUDA_ERROR_NOT_READY, "");
}

Event::Clock::time_point time_of(const Event &event) {
    require(event.point().stream && !(event.flags & Event::kDisableTiming),
            CUDA_ERROR_INVALID_HANDLE, "an event was not recorded, or has no time");
    require_passed(event);
    return *event.time();
}

}  // namespace

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    return call("cuStreamCreate", [&] {
        require_pointer(stream, "stream");
        *stream = make_stream(flags, 0);
    });
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
    return call("cuStreamCreateWithPriority", [&] {
        require_pointer(stream, "stream");
        *stream = make_stream(flags, std::min(std::max(priority, -1), 0));
    });
}

CUresult cuStreamDestroy_v2(CUstream handle) {
    return call("cuStreamDestroy", [&] {
        const std::shared_ptr<Stream> stream = driver().streams.remove(handle);
        driver().scheduler.release(stream);
    });
}

CUresult cuStreamQuery(CUstream handle) {
    return call("cuStreamQuery", [&] {
        const std::shared_ptr<Stream> stream = driver().stream(handle);
        if (!driver().scheduler.passed(driver().scheduler.end(stream)))
            throw Failure(CUDA_ERROR_NOT_READY, "");
        if (const Status status = stream->context.error()) throw Failure(status, "");
    });
}

CUresult cuStreamSynchronize(CUstream handle) {
    return call("cuStreamSynchronize", [&] {
        const std::shared_ptr<Stream> stream = driver().stream(handle);
        note("cuStreamSynchronize", handle, nullptr, stream->context);
        wait_for(driver().scheduler.end(stream));
    });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
    return call("cuStreamWaitEvent", [&] {
        require(flags <= 1, CUDA_ERROR_INVALID_VALUE, "unknown flags");
        const std::shared_ptr<Stream> stream = driver().stream(handle);
        const Point point = driver().events.find(event)->point();
        note("cuStreamWaitEvent", handle, event, stream->context);
        if (point.stream) driver().scheduler.submit(stream, nullptr, {point});
    });
}

CUresult cuStreamGetFlags(CUstream handle, unsigned *flags) {
    return call("cuStreamGetFlags", [&] {
        require_pointer(flags, "flags");
        *flags = driver().stream(handle)->kind == Stream::Kind::kNonBlocking ? kNonBlocking : 0;
    });
}

CUresult cuStreamGetPriority(CUstream handle, int *priority) {
    return call("cuStreamGetPriority", [&] {
        require_pointer(priority, "priority");
        *priority = driver().stream(handle)->priority;
    });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *context) {
    return call("cuStreamGetCtx", [&] {
        require_pointer(context, "context");
        *context = &driver().stream(handle)->context;
    });
}

// The function must not call the driver.
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
    return call("cuLaunchHostFunc", [&] {
        if (!function) throw Failure(CUDA_ERROR_INVALID_VALUE, "the function is null");
        submit(stream, [=] { function(data); });
    });
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data,
                             unsigned flags) {
    return call("cuStreamAddCallback", [&] {
        if (!callback || flags) {
            throw Failure(CUDA_ERROR_INVALID_VALUE, "the function is null, or flags are not 0");
        }
        submit(stream, [=] { callback(stream, CUDA_SUCCESS, data); });
    });
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    return call("cuEventCreate", [&] {
        require_pointer(event, "event");
        require(flags <= 3, CUDA_ERROR_INVALID_VALUE, "unknown or unsupported flags");
        *event = driver().events.add(std::make_shared<Event>(current_context(), flags));
    });
}

CUresult cuEventDestroy_v2(CUevent event) {
    return call("cuEventDestroy", [&] { driver().events.remove(event); });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    return call("cuEventRecord", [&] { record(event, stream); });
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    return call("cuEventRecordWithFlags", [&] {
        require(flags <= 1, CUDA_ERROR_INVALID_VALUE, "unknown flags");
        record(event, stream);
    });
}

CUresult cuEventQuery(CUevent event) {
    return call("cuEventQuery", [&] { require_passed(*driver().events.find(event)); });
}

CUresult cuEventSynchronize(CUevent handle) {
    return call("cuEventSynchronize", [&] {
        const std::shared_ptr<Event> event = driver().events.find(handle);
        const Point point = event->point();
        if (point.stream) wait_for(point);
    });
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    return call("cuEventElapsedTime", [&] {
        require_pointer(milliseconds, "milliseconds");
        const auto from = time_of(*driver().events.find(start));
        const auto to = time_of(*driver().events.find(end));
        *milliseconds = std::chrono::duration<float, std::milli>(to - from).count();
    });
}

}  // namespace software_cuda
