// Streams, and the threads that do their work: one a device.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <vector>

#include "software_cuda/driver/status.h"
#include "software_cuda/machine/machine.h"

namespace software_cuda {

class Context;
class Stream;

// A place in the work of a stream: after its first `number` tasks.
struct Point {
    std::shared_ptr<Stream> stream;
    uint64_t number = 0;
};

// A queue of tasks, which run in order.
class Stream {
public:
    enum class Kind {
        kDefault,      // ordered with all streams of its context but non-blocking ones
        kBlocking,     // ordered with the default stream
        kNonBlocking,  // ordered with nothing
    };

    Stream(Context &context, Kind kind, int priority)
        : context(context), kind(kind), priority(priority) {}

    Context &context;
    const Kind kind;
    const int priority;

private:
    friend class Scheduler;

    struct Task {
        uint64_t ticket;  // in the order of submission to all streams
        std::vector<Point> after;
        std::function<Status()> work;
    };
    std::deque<Task> tasks_;
    uint64_t submitted_ = 0, done_ = 0;
    bool released_ = false;
};

// Tasks of several streams that may run run in an order that can be chosen, so that a missing
// dependency shows.
class Scheduler {
public:
    void add(const std::shared_ptr<Stream> &stream);
    // What is queued is still done.
    void release(const std::shared_ptr<Stream> &stream);

    // A task that begins after these points. Where its context has failed it is dropped.
    Point submit(const std::shared_ptr<Stream> &stream, std::function<Status()> work,
                 std::vector<Point> after = {});
    Point end(const std::shared_ptr<Stream> &stream) const;

    bool passed(const Point &point) const;
    void wait(const Point &point);
    // For all work of a context that was queued before.
    void wait(const Context &context);

    // While a device is held it begins no task.
    void hold(int device, bool held);
    // How tasks of several streams that may run are chosen: the first queued, the last, or any.
    void set_order(Order order, uint64_t seed);

private:
    static bool has_passed(const Point &p) { return p.stream->done_ >= p.number; }
    std::vector<Point> implied(const Stream &stream) const;
    std::shared_ptr<Stream> choose(int device);
    void work_for(int device);
    void start(int device);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::shared_ptr<Stream>> streams_;
    std::set<int> started_, held_;
    uint64_t tickets_ = 0;
    Order order_ = Order::kAscending;
    std::mt19937_64 random_;
};

}  // namespace software_cuda
