#include "memory/usage.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "hk/memory_trace.h"
#include "memory/watch.h"

namespace hk {

namespace detail {

std::vector<LabelUsage> usage_by_label(const MemoryPool::Impl &pool) {
    std::vector<LabelUsage> all;
    pool.each_in_use([&](const Block &block) {
        const char *const label = block.label ? block.label : "";
        auto entry = std::ranges::find(all, label, &LabelUsage::label);
        if (entry == all.end()) entry = all.insert(all.end(), {label});
        entry->blocks++;
        entry->requested += static_cast<int64_t>(block.requested);
        entry->bytes += static_cast<int64_t>(block.bytes);
    });
    std::ranges::stable_sort(all, std::ranges::greater(), &LabelUsage::bytes);
    return all;
}

namespace {

nlohmann::json as_json(const MemoryStatistics &s) {
    return {{"requested", s.requested},
            {"in_use", s.in_use},
            {"cached", s.cached},
            {"reserved", s.reserved},
            {"largest_free", s.largest_free},
            {"peak_requested", s.peak_requested},
            {"peak_in_use", s.peak_in_use},
            {"peak_reserved", s.peak_reserved},
            {"limit", s.limit},
            {"threshold", s.threshold},
            {"blocks", s.blocks},
            {"allocations", s.allocations},
            {"hits", s.hits},
            {"failures", s.failures},
            {"upstream_allocations", s.upstream_allocations},
            {"upstream_releases", s.upstream_releases},
            {"fragmentation", s.fragmentation()}};
}

}  // namespace

std::string memory_report() {
    std::string text;
    for (const MemoryPool::Impl *pool : memory_pools()) {
        const MemoryStatistics s = pool->statistics();
        if (s.allocations == 0) continue;
        const std::string start = "hk memory: " + pool->name() + ": ";
        char fragmentation[16];
        std::snprintf(fragmentation, sizeof fragmentation, "%.2f", s.fragmentation());
        const auto number = [](int64_t value) { return std::to_string(value); };
        text += start + number(s.allocations) + " allocations, " + number(s.hits) +
                " from cached memory, " + number(s.failures) + " failed; peak " +
                number(s.peak_requested) + " bytes asked for, " + number(s.peak_in_use) +
                " in use, " + number(s.peak_reserved) + " reserved; now " + number(s.reserved) +
                " reserved, fragmentation " + fragmentation + "\n";
        for (const LabelUsage &usage : usage_by_label(*pool)) {
            text += start + "never freed: " + number(usage.blocks) +
                    (usage.blocks == 1 ? " block" : " blocks") + " of " + number(usage.requested) +
                    " bytes " +
                    (usage.label.empty() ? "without a label" : "labelled \"" + usage.label + "\"") +
                    "\n";
        }
    }
    return text;
}

}  // namespace detail

std::string memory_snapshot() {
    nlohmann::json pools = nlohmann::json::array();
    for (const MemoryPool::Impl *pool : detail::memory_pools()) {
        nlohmann::json in_use = nlohmann::json::array();
        for (const detail::LabelUsage &usage : detail::usage_by_label(*pool)) {
            in_use.push_back({{"label", usage.label},
                              {"blocks", usage.blocks},
                              {"requested", usage.requested},
                              {"bytes", usage.bytes}});
        }
        pools.push_back({{"name", pool->name()},
                         {"statistics", detail::as_json(pool->statistics())},
                         {"in_use", in_use}});
    }
    return nlohmann::json{{"pools", pools}}.dump();
}

}  // namespace hk
