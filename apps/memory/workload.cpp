#include "workload.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "hk/error.h"
#include "program/quote.h"

namespace hk::replay {

namespace {

// Names the slots of blocks: the lowest that is empty.
class Builder {
public:
    explicit Builder(std::string name) { workload_.name = std::move(name); }

    void allocate(uint64_t block, size_t bytes) {
        uint32_t slot = workload_.slots;
        if (empty_.empty()) {
            workload_.slots++;
        } else {
            slot = empty_.back();
            empty_.pop_back();
        }
        if (!live_.insert({block, {slot, bytes}}).second) {
            throw std::runtime_error("block " + std::to_string(block) + " is handed out twice");
        }
        workload_.operations.push_back({slot, true, bytes});
        if (__builtin_add_overflow(in_use_, bytes, &in_use_)) {
            throw std::runtime_error("more bytes are in use than 64 bits count");
        }
        workload_.live_peak = std::max(workload_.live_peak, in_use_);
    }

    void free(uint64_t block) {
        const auto entry = live_.find(block);
        if (entry == live_.end()) {
            throw std::runtime_error("block " + std::to_string(block) + " is freed and not there");
        }
        const auto [slot, bytes] = entry->second;
        workload_.operations.push_back({slot, false, bytes});
        empty_.push_back(slot);
        in_use_ -= bytes;
        live_.erase(entry);
    }

    // What is left is freed, so that the workload can run again.
    Workload finish() {
        while (!live_.empty()) free(live_.begin()->first);
        return std::move(workload_);
    }

private:
    Workload workload_;
    size_t in_use_ = 0;
    std::vector<uint32_t> empty_;
    std::map<uint64_t, std::pair<uint32_t, size_t>> live_;
};

std::string contents(const std::string &path) {
    const gzFile file = gzopen(path.c_str(), "rb");
    if (!file) throw std::runtime_error("it can't be opened");
    std::string text;
    char block[1 << 16];
    int size;
    while ((size = gzread(file, block, sizeof block)) > 0) {
        text.append(block, static_cast<size_t>(size));
    }
    const bool whole = size == 0;
    gzclose(file);
    if (!whole) throw std::runtime_error("it can't be read");
    return text;
}

// nlohmann's own conversion takes fractions, negative numbers and those out of range too.
uint64_t number_of(const nlohmann::json &event, size_t place) {
    const nlohmann::json &value = event.at(place);
    if (value.is_number_unsigned()) return value.get<uint64_t>();
    throw std::runtime_error("an event has " + value.dump() + " where a whole number should be");
}

std::vector<Workload> workloads_of(const nlohmann::json &trace, const std::string &name) {
    if (trace.at("format") != "hk memory trace 1") {
        throw std::runtime_error("it is no memory trace");
    }
    std::vector<Builder> builders;
    for (const auto &pool : trace.at("pools")) {
        builders.emplace_back(name + ", " + pool.get<std::string>());
    }
    for (const auto &event : trace.at("events")) {
        const uint64_t kind = number_of(event, 1);
        if (kind > 1) continue;
        const uint64_t pool = number_of(event, 2), block = number_of(event, 3);
        if (pool >= builders.size()) {
            throw std::runtime_error("an event is of pool " + std::to_string(pool) +
                                     ", there are " + std::to_string(builders.size()));
        }
        Builder &builder = builders[pool];
        kind == 0 ? builder.allocate(block, number_of(event, 4)) : builder.free(block);
    }
    std::vector<Workload> workloads;
    for (Builder &builder : builders) {
        Workload workload = builder.finish();
        if (!workload.operations.empty()) workloads.push_back(std::move(workload));
    }
    return workloads;
}

}  // namespace

int64_t Workload::allocations() const { return static_cast<int64_t>(operations.size()) / 2; }

std::vector<Workload> read_trace(const std::string &path) try {
    const size_t slash = path.rfind('/');
    const std::string name = path.substr(slash == path.npos ? 0 : slash + 1);
    return workloads_of(nlohmann::json::parse(contents(path)), name);
} catch (const std::exception &error) {
    throw InvalidArgument(path + ": " + program::shortened(error.what()));
}

Workload random_mix(uint64_t seed, int allocations, int live) {
    std::mt19937_64 random(seed);
    // Not std::uniform_…_distribution, which differs between libraries.
    const auto below = [&](uint64_t bound) { return random() % bound; };
    Builder builder("random sizes, seed " + std::to_string(seed));
    std::vector<uint64_t> blocks;
    const auto free_at = [&](size_t place) {
        builder.free(blocks[place]);
        blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(place));
    };
    for (uint64_t block = 0; block < static_cast<uint64_t>(allocations); block++) {
        const double power = 6 + static_cast<double>(below(16 << 10)) / (1 << 10);
        builder.allocate(block, static_cast<size_t>(std::exp2(power)));
        blocks.push_back(block);
        while (blocks.size() > static_cast<size_t>(live) / 2 + below(static_cast<size_t>(live))) {
            // The newest, any, or the oldest.
            const uint64_t which = below(4);
            free_at(which <= 1 ? blocks.size() - 1 : which == 2 ? below(blocks.size()) : 0);
        }
    }
    return builder.finish();
}

}  // namespace hk::replay
