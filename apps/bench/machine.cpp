#include "machine.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "measure.h"

namespace hk::bench {

namespace {

std::string word_in(const std::filesystem::path &path) {
    std::ifstream file(path);
    std::string word;
    file >> word;
    return word;
}

// "1024K"; 0 where it is no size.
int64_t bytes_of_size(const std::string &text) {
    int64_t value = 0;
    char unit = ' ';
    if (std::sscanf(text.c_str(), "%ld%c", &value, &unit) < 1) return 0;
    return value << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
}

std::string in_units(int64_t bytes) {
    const bool large = bytes >= 1 << 20;
    char text[32];
    std::snprintf(text, sizeof text, "%g %s",
                  static_cast<double>(bytes) / (large ? 1 << 20 : 1 << 10), large ? "MiB" : "KiB");
    return text;
}

}  // namespace

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    std::map<std::string, std::string> fields;
    for (std::string line; std::getline(file, line) && !line.empty();) {
        const size_t colon = line.find(':');
        if (colon == std::string::npos || colon + 2 > line.size()) continue;
        fields[line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1)] =
            line.substr(colon + 2);
    }
    if (fields["model name"].empty()) return "unknown";
    return fields["model name"] + " (" + fields["vendor_id"] + ", family " + fields["cpu family"] +
           ", model " + fields["model"] + ")";
}

// Not sysconf(): glibc's size of the third level is that of a whole package.
std::array<int64_t, 3> caches_in(const std::string &folder) {
    std::array<int64_t, 3> sizes{};
    std::error_code none;
    for (const auto &entry : std::filesystem::directory_iterator(folder, none)) {
        const int64_t level = bytes_of_size(word_in(entry.path() / "level"));
        if (level < 1 || level > 3 || word_in(entry.path() / "type") == "Instruction") continue;
        sizes[static_cast<size_t>(level - 1)] = bytes_of_size(word_in(entry.path() / "size"));
    }
    return sizes;
}

Abilities measure_abilities() {
    const Throughput best = measure_throughput(0.05);
    return {peak_instructions(DataType::f32), best.fmas / best.cycles, best.cycles,
            caches_in("/sys/devices/system/cpu/cpu0/cache")};
}

std::string Abilities::text() const {
    char text[96];
    std::snprintf(text, sizeof text, "%s, %.1f FMA a cycle at %.1f GHz", vectors.c_str(), fmas,
                  gigahertz);
    std::string all(text), known;
    for (const int64_t bytes : caches) {
        if (bytes > 0) known += (known.empty() ? "; caches " : ", ") + in_units(bytes);
    }
    return all + known;
}

}  // namespace hk::bench
