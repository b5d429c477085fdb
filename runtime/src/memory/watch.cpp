#include "memory/watch.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <vector>

#include "immortal.h"
#include "log.h"
#include "memory/recorder.h"
#include "memory/usage.h"
#include "rethrow.h"

namespace hk {

namespace detail {

namespace {

using Recorder = MemoryTrace::Recorder;
using Kind = MemoryEvent::Kind;

// "hk memory: cpu: took 65536 bytes, 131072 reserved"; empty for what is not told.
std::string line_of(const MemoryEvent &event) {
    const auto line = [&](const std::string &what) {
        return "hk memory: " + static_cast<const MemoryPool::Impl *>(event.pool)->name() + ": " +
               what + ", " + std::to_string(event.reserved) + " reserved\n";
    };
    switch (event.kind) {
        case Kind::reserve:
            return line("took " + std::to_string(event.given) + " bytes");
        case Kind::release:
            return line("gave " + std::to_string(event.given) + " bytes back");
        case Kind::retry:
            return line("no memory for " + std::to_string(event.asked) +
                        " bytes, giving back what is cached");
        case Kind::failure:
            return line("no memory for " + std::to_string(event.asked) + " bytes");
        default:
            return "";
    }
}

class Watch final : public MemoryObserver {
public:
    void on(const MemoryEvent &event) noexcept override {
        const std::lock_guard lock(mutex_);
        for (Recorder *recorder : recorders_) recorder->add(event);
        if (!logs_) return;
        try {
            log_line(line_of(event));
        } catch (const std::bad_alloc &) {
        }
    }

    void mark(std::string_view text) noexcept {
        if (!recording_.load(std::memory_order_relaxed)) return;
        const std::lock_guard lock(mutex_);
        for (Recorder *recorder : recorders_) recorder->mark(text);
    }

    void add(Recorder &recorder) {
        const std::lock_guard lock(mutex_);
        recorders_.push_back(&recorder);
        update();
    }

    void remove(Recorder &recorder) noexcept {
        const std::lock_guard lock(mutex_);
        std::erase(recorders_, &recorder);
        update();
    }

    void log() noexcept {
        const std::lock_guard lock(mutex_);
        logs_ = true;
        update();
    }

    template<typename F>
    auto locked(F &&f) {
        const std::lock_guard lock(mutex_);
        return f();
    }

private:
    // A call that is under way finds no recorder, but the watch itself.
    void update() noexcept {
        recording_ = !recorders_.empty();
        set_memory_observer(recording_ || logs_ ? this : nullptr);
    }

    std::mutex mutex_;
    std::vector<Recorder *> recorders_;
    bool logs_ = false;
    std::atomic<bool> recording_ = false;
};

Watch &watch() {
    static Immortal<Watch> watch;
    return *watch;
}

Recorder *of_process = nullptr;  // HK_MEMORY_TRACE

// Beside the file and then in its place: what was there before stays where not all can be written.
// What is no regular file, as /dev/stderr, is written to directly.
bool write_whole(const std::string &path, const std::string &text) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::file_status there = fs::status(path, error);
    const bool direct = fs::exists(there) && !fs::is_regular_file(there);
    const std::string beside = direct ? path : path + "." + std::to_string(getpid()) + ".part";
    std::ofstream file(beside);
    file << text << std::flush;
    file.close();
    if (direct) return !file.fail();
    if (!file.fail()) fs::rename(beside, path, error);
    if (!file.fail() && !error) return true;
    fs::remove(beside, error);
    return false;
}

void write_trace() noexcept try {
    const char *name = std::getenv("HK_MEMORY_TRACE");
    std::string path = name ? name : "";
    const size_t number = path.find("%p");
    if (number != path.npos) path.replace(number, 2, std::to_string(getpid()));
    if (!write_whole(path, recorded(*of_process)) && warnings_enabled()) {
        log_line("hk warn: HK_MEMORY_TRACE: can't write \"" + path + "\"\n");
    }
} catch (const std::exception &) {
    if (warnings_enabled()) log_line("hk warn: HK_MEMORY_TRACE: no memory left to write it\n");
}

void report() noexcept try { log_line(memory_report()); } catch (const std::exception &) {
    log_line("hk memory: no memory left for the report\n");
}

// What is to run at the end of the process does so in the order opposite to that in which it was
// registered: this is before the constructors of static objects, so that what they hold is freed.
// No pool is there yet.
__attribute__((constructor(101))) void watch_as_environment_says() noexcept try {
    if (log_enabled("memory")) {
        watch().log();
        std::atexit(report);
    }
    const char *path = std::getenv("HK_MEMORY_TRACE");
    if (path && *path) {
        of_process = new Recorder(MemoryTrace::kMostEvents);
        watch().add(*of_process);
        std::atexit(write_trace);
    }
} catch (const std::exception &) {
    if (warnings_enabled()) log_line("hk warn: HK_MEMORY_TRACE: no memory left to record\n");
}

}  // namespace

void begin_recording(Recorder &recorder) try {
    watch().add(recorder);
    for (const MemoryPool::Impl *pool : memory_pools()) {
        pool->each_in_use([&](const Block &block) {
            watch().locked([&] { recorder.add_in_use(*pool, block); });
        });
        const auto reserved = static_cast<size_t>(pool->statistics().reserved);
        watch().locked([&] { recorder.add_reserved(*pool, reserved); });
    }
} catch (...) {
    watch().remove(recorder);
    throw;
}

void end_recording(Recorder &recorder) noexcept { watch().remove(recorder); }

std::string recorded(const Recorder &recorder) {
    return watch().locked([&] { return recorder.json(); });
}

void force_link_watch() noexcept {}

}  // namespace detail

void memory_mark(std::string_view text) { detail::watch().mark(text); }

MemoryTrace::MemoryTrace(size_t most_events) try : recorder_(new Recorder(most_events)) {
    detail::begin_recording(*recorder_);
} catch (...) {
    detail::rethrow_as_error("MemoryTrace");
}

MemoryTrace::~MemoryTrace() { detail::end_recording(*recorder_); }

std::string MemoryTrace::json() const try { return detail::recorded(*recorder_); } catch (...) {
    detail::rethrow_as_error("MemoryTrace");
}

}  // namespace hk
