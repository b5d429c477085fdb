#include "software_cuda/driver/scheduler.h"

#include <algorithm>
#include <thread>

#include "software_cuda/driver/driver.h"

namespace software_cuda {

namespace {

Status status_of(const std::function<Status()> &work) {
    try {
        return work();
    } catch (const std::bad_alloc &) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    } catch (const std::exception &error) {
        driver().log.add(error.what());
        return CUDA_ERROR_UNKNOWN;
    }
}

}  // namespace

void Scheduler::add(const std::shared_ptr<Stream> &stream) {
    const std::lock_guard lock(mutex_);
    streams_.push_back(stream);
}

void Scheduler::release(const std::shared_ptr<Stream> &stream) {
    const std::lock_guard lock(mutex_);
    stream->released_ = true;
    if (stream->tasks_.empty()) std::erase(streams_, stream);
}

// A task of the default stream waits for what all streams of the context have, but non-blocking
// ones, and they for what it has.
std::vector<Point> Scheduler::implied(const Stream &stream) const {
    std::vector<Point> result;
    if (stream.kind == Stream::Kind::kNonBlocking) return result;
    const Stream::Kind other =
        stream.kind == Stream::Kind::kDefault ? Stream::Kind::kBlocking : Stream::Kind::kDefault;
    for (const auto &s : streams_) {
        if (&s->context == &stream.context && s->kind == other && !s->tasks_.empty())
            result.push_back({s, s->submitted_});
    }
    return result;
}

Point Scheduler::submit(const std::shared_ptr<Stream> &stream, std::function<Status()> work,
                        std::vector<Point> after) {
    const std::lock_guard lock(mutex_);
    std::vector<Point> implied_points = implied(*stream);
    after.insert(after.end(), implied_points.begin(), implied_points.end());
    start(stream->context.device.ordinal);
    stream->tasks_.push_back({++tickets_, std::move(after), std::move(work)});
    stream->submitted_++;
    changed_.notify_all();
    return {stream, stream->submitted_};
}

Point Scheduler::end(const std::shared_ptr<Stream> &stream) const {
    const std::lock_guard lock(mutex_);
    return {stream, stream->submitted_};
}

bool Scheduler::passed(const Point &point) const {
    const std::lock_guard lock(mutex_);
    return has_passed(point);
}

void Scheduler::wait(const Point &point) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return has_passed(point); });
}

void Scheduler::wait(const Context &context) {
    std::unique_lock lock(mutex_);
    std::vector<Point> ends;
    for (const auto &s : streams_) {
        if (&s->context == &context) ends.push_back({s, s->submitted_});
    }
    changed_.wait(lock, [&] { return std::all_of(ends.begin(), ends.end(), has_passed); });
}

void Scheduler::hold(int device, bool held) {
    const std::lock_guard lock(mutex_);
    if (held) {
        held_.insert(device);
    } else {
        held_.erase(device);
    }
    changed_.notify_all();
}

void Scheduler::set_order(Order order, uint64_t seed) {
    const std::lock_guard lock(mutex_);
    order_ = order;
    random_.seed(seed);
}

// Null where there is nothing to do.
std::shared_ptr<Stream> Scheduler::choose(int device) {
    if (held_.contains(device)) return nullptr;
    std::vector<std::shared_ptr<Stream>> ready;
    for (const auto &s : streams_) {
        if (s->context.device.ordinal != device || s->tasks_.empty()) continue;
        const std::vector<Point> &after = s->tasks_.front().after;
        if (std::all_of(after.begin(), after.end(), has_passed)) ready.push_back(s);
    }
    if (ready.empty()) return nullptr;
    if (order_ == Order::kRandom) return ready[random_() % ready.size()];
    const auto [first, last] =
        std::minmax_element(ready.begin(), ready.end(), [](const auto &a, const auto &b) {
            return a->tasks_.front().ticket < b->tasks_.front().ticket;
        });
    return order_ == Order::kAscending ? *first : *last;
}

void Scheduler::work_for(int device) {
    std::unique_lock lock(mutex_);
    while (true) {
        std::shared_ptr<Stream> stream;
        changed_.wait(lock, [&] { return (stream = choose(device)) != nullptr; });
        const std::function<Status()> work = std::move(stream->tasks_.front().work);
        lock.unlock();
        Context &context = stream->context;
        if (work && context.error() == CUDA_SUCCESS) context.fail(status_of(work));
        lock.lock();
        stream->tasks_.pop_front();
        stream->done_++;
        if (stream->released_ && stream->tasks_.empty()) std::erase(streams_, stream);
        changed_.notify_all();
    }
}

// The thread is never joined: a process may end while work is queued, as with a GPU.
void Scheduler::start(int device) {
    const auto [place, first] = started_.insert(device);
    if (!first) return;
    try {
        std::thread([this, device] { work_for(device); }).detach();
    } catch (const std::exception &) {
        started_.erase(place);
        throw Failure(CUDA_ERROR_OPERATING_SYSTEM, "no thread for the device");
    }
}

}  // namespace software_cuda
