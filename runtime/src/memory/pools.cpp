// The pools of this process.

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <tuple>

#include "hk/error.h"
#include "immortal.h"
#include "log.h"
#include "memory/pool.h"
#include "memory/watch.h"
#include "rethrow.h"

namespace hk {

namespace detail {

namespace {

using Pool = MemoryPool::Impl;

// What the environment asks for.
void configure(Pool &pool) {
    force_link_watch();
    const char *caching = std::getenv("HK_MEMORY_POOL");
    if (caching && std::strcmp(caching, "off") == 0) pool.set_caching(false);
    const char *limit = std::getenv("HK_MEMORY_LIMIT");
    if (!limit) return;
    const std::string_view text = limit;
    int64_t bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error == std::errc() && end == text.data() + text.size() && bytes >= 0) {
        pool.set_limit(bytes);
    } else if (warnings_enabled()) {
        log_line("hk warn: HK_MEMORY_LIMIT is \"" + std::string(text) +
                 "\", not a number of bytes; there is no limit\n");
    }
}

struct Registry {
    using Key = std::tuple<DeviceType, int, void *>;
    std::mutex mutex;
    std::map<Key, std::unique_ptr<Pool>> pools;
};

Registry &registry() {
    static Immortal<Registry> registry;
    return *registry;
}

std::string name_of(Device device, void *context) {
    if (!context) return device.name();
    char text[32];
    std::snprintf(text, sizeof text, " in context %p", context);
    return device.name() + text;
}

thread_local const char *label = nullptr;

}  // namespace

Pool &host_pool() {
    struct Host {
        Pool pool{Device::cpu(), "cpu", [](bool pieces) { return host_upstream(pieces); }};
        Host() { configure(pool); }
    };
    static Immortal<Host> host;
    return host->pool;
}

Pool &memory_pool(Device device, void *context) {
    if (device == Device::cpu()) return host_pool();
    Backend &backend = require(device);
    const int index = device.index();
    const Stream own = backend.own_stream(index);
    if (context == own.context) context = nullptr;
    Registry &all = registry();
    const std::lock_guard lock(all.mutex);
    std::unique_ptr<Pool> &pool = all.pools[{device.type(), index, context}];
    if (pool) return *pool;
    auto made = std::make_unique<Pool>(
        device, name_of(device, context),
        [&backend, index, context](bool pieces) {
            return backend.upstream(index, context, pieces);
        },
        context ? nullptr : &own);
    configure(*made);
    pool = std::move(made);
    return *pool;
}

std::vector<Pool *> memory_pools() {
    Registry &all = registry();
    const std::lock_guard lock(all.mutex);
    std::vector<Pool *> pools{&host_pool()};
    for (const auto &[key, pool] : all.pools) {
        if (pool) pools.push_back(pool.get());
    }
    return pools;
}

// The pool stays: what is still in use there may be freed later.
void forget_memory(Device device, void *context) { memory_pool(device, context).trim(0); }

const char *memory_label() noexcept { return label; }

}  // namespace detail

MemoryPool MemoryPool::of(Device device) try {
    return Impl::handle(detail::memory_pool(device));
} catch (...) {
    detail::rethrow_as_error("memory pool");
}

MemoryStatistics MemoryPool::statistics() const { return impl_->statistics(); }
void MemoryPool::set_limit(int64_t bytes) const { impl_->set_limit(bytes); }
void MemoryPool::set_threshold(int64_t bytes) const { impl_->set_threshold(bytes); }
void MemoryPool::set_caching(bool on) const try { impl_->set_caching(on); } catch (...) {
    detail::rethrow_as_error("memory pool");
}
void MemoryPool::reset_peaks() const { impl_->reset_peaks(); }

void MemoryPool::trim(int64_t keep) const {
    if (keep < 0) {
        throw InvalidArgument(impl_->name() + ": a trim to " + std::to_string(keep) + " bytes");
    }
    impl_->trim(static_cast<size_t>(keep));
}

void MemoryPool::set_upstream(std::unique_ptr<MemoryUpstream> upstream) const {
    impl_->set_upstream(std::move(upstream));
}

MemoryLabel::MemoryLabel(const char *text) noexcept : outer_(detail::label) {
    detail::label = text;
}

MemoryLabel::~MemoryLabel() { detail::label = outer_; }

}  // namespace hk
