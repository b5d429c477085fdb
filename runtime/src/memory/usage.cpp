#include "memory/usage.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "hk/memory_trace.h"
#include "memory/json_text.h"
#include "memory/watch.h"
#include "rethrow.h"

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

void append(std::string &text, const MemoryStatistics &s) {
    const std::pair<const char *, int64_t> numbers[] = {
        {"requested", s.requested},
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
        {"upstream_releases", s.upstream_releases}};
    for (const auto &[name, number] : numbers) {
        append_quoted(text += name == numbers[0].first ? '{' : ',', name);
        text += ':' + std::to_string(number);
    }
    char fragmentation[32];
    const auto end =
        std::to_chars(fragmentation, fragmentation + sizeof fragmentation, s.fragmentation()).ptr;
    (text += ",\"fragmentation\":").append(fragmentation, end) += '}';
}

void append(std::string &text, const LabelUsage &usage) {
    append_quoted(text += "{\"label\":", usage.label);
    text += ",\"blocks\":" + std::to_string(usage.blocks) +
            ",\"requested\":" + std::to_string(usage.requested) +
            ",\"bytes\":" + std::to_string(usage.bytes) + '}';
}

void append(std::string &text, const MemoryPool::Impl &pool) {
    append_quoted(text += "{\"name\":", pool.name());
    append(text += ",\"statistics\":", pool.statistics());
    append_list(text += ",\"in_use\":", usage_by_label(pool),
                [](std::string &to, const LabelUsage &usage) { append(to, usage); });
    text += '}';
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

std::string memory_snapshot() try {
    std::string text = "{\"pools\":";
    detail::append_list(text, detail::memory_pools(),
                        [](std::string &to, const auto *pool) { detail::append(to, *pool); });
    return text + '}';
} catch (...) {
    detail::rethrow_as_error("memory_snapshot");
}

}  // namespace hk
