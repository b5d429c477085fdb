#include "compiler/cache.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "compiler/tools.h"

namespace fs = std::filesystem;

namespace hk::compiler {

namespace {

constexpr char kHit = 'h', kMiss = 'm', kEvicted = 'e', kDamaged = 'd';

std::string digits_of(const XXH128_hash_t &hash) {
    char digits[33];
    std::snprintf(digits, sizeof digits, "%016llx%016llx",
                  static_cast<unsigned long long>(hash.high64),
                  static_cast<unsigned long long>(hash.low64));
    return digits;
}

std::string hash_of(std::string_view bytes) {
    return digits_of(XXH3_128bits(bytes.data(), bytes.size()));
}

// 500M, 4G or a number of bytes.
uint64_t size_of(const std::string &text) {
    uint64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    const std::string unit(end, text.data() + text.size());
    const std::string units = "KMG";
    const size_t power = unit.size() == 1 ? units.find(unit) : std::string::npos;
    if (error != std::errc() || (!unit.empty() && power == std::string::npos) || size >> 32 >> 2)
        throw std::runtime_error("HK_CACHE_SIZE is " + text + ", not a size such as 500M or 4G");
    return unit.empty() ? size : size << (10 * (power + 1));
}

fs::path default_folder() {
    const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
    if (cache && *cache) return fs::path(cache) / "halide-kernels";
    if (home && *home) return fs::path(home) / ".cache" / "halide-kernels";
    return fs::path();
}

bool is_entry(const fs::directory_entry &file) { return file.path().extension() == ".entry"; }

// Files one after the other, each after a line of its name and size.
std::string packed(const fs::path &folder) {
    std::string text;
    std::vector<fs::path> files;
    for (const auto &file : fs::directory_iterator(folder)) files.push_back(file.path());
    std::sort(files.begin(), files.end());
    for (const fs::path &file : files) {
        const std::string content = read_file(file);
        text += file.filename().string() + "\n" + std::to_string(content.size()) + "\n" + content;
    }
    return text;
}

void unpack(const std::string &text, const fs::path &folder) {
    std::istringstream in(text);
    std::string name, size;
    while (std::getline(in, name) && std::getline(in, size)) {
        std::string content(std::stoull(size), '\0');
        in.read(content.data(), static_cast<std::streamsize>(content.size()));
        write_file(folder / name, content);
    }
}

}  // namespace

void CacheKey::add(std::string_view name, std::string_view value) {
    for (const std::string_view part : {name, value})
        (parts_ += std::to_string(part.size()) + ":") += part;
}

std::string CacheKey::text() const { return hash_of(parts_); }

// By blocks: ptxas is 38 MB, and memory for all of it takes longer to get than to hash.
std::string hash_of_file(const fs::path &file) {
    std::ifstream in(file, std::ios::binary);
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    std::vector<char> block(1 << 16);
    while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0)
        XXH3_128bits_update(&state, block.data(), static_cast<size_t>(in.gcount()));
    return in.eof() ? digits_of(XXH3_128bits_digest(&state)) : "";
}

Cache Cache::from_environment() {
    const auto variable = [](const char *name) {
        const char *value = std::getenv(name);
        return std::string(value ? value : "");
    };
    Cache cache;
    const std::string folder = variable("HK_CACHE_DIR"), size = variable("HK_CACHE_SIZE");
    cache.limit_ = size_of(size.empty() ? "2G" : size);
    if (variable("HK_CACHE") == "off") return cache;
    cache.folder_ = folder.empty() ? default_folder() : fs::path(folder);
    std::error_code error;
    if (!cache.folder_.empty()) fs::create_directories(cache.folder_, error);
    if (!cache.folder_.empty() && !error && access(cache.folder_.c_str(), W_OK) == 0) return cache;
    std::cerr << "warning: the compile cache " << cache.folder_.string()
              << " can't be written; set HK_CACHE_DIR, or HK_CACHE=off\n";
    cache.folder_.clear();
    return cache;
}

fs::path Cache::entry(const std::string &key) const { return folder_ / (key + ".entry"); }

// Events are bytes of a file, which processes append to at once.
void Cache::count(char event) const {
    const int file =
        open((folder_ / "events").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) return;
    [[maybe_unused]] const ssize_t written = write(file, &event, 1);
    close(file);
}

bool Cache::take(const std::string &key, const fs::path &folder) const {
    if (folder_.empty()) return false;
    const fs::path file = entry(key);
    std::string text;
    try {
        text = read_file(file);
    } catch (const std::runtime_error &) {
        count(kMiss);
        return false;
    }
    std::error_code ignored;
    const size_t digits = hash_of("").size();
    if (text.size() < digits || hash_of(std::string_view(text).substr(digits)) !=
                                    std::string_view(text).substr(0, digits)) {
        fs::remove(file, ignored);
        count(kDamaged);
        return false;
    }
    unpack(text.substr(digits), folder);
    fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
    count(kHit);
    return true;
}

void Cache::keep(const std::string &key, const fs::path &folder) const {
    if (folder_.empty()) return;
    const std::string text = packed(folder);
    try {
        const TemporaryFolder scratch(folder_, key);
        const fs::path beside = scratch.path() / "entry";
        write_file(beside, hash_of(text) + text);
        fs::rename(beside, entry(key));
        evict();
    } catch (const std::exception &error) {
        std::cerr << "warning: the compile cache keeps nothing: " << error.what() << "\n";
    }
}

// Down to nine tenths of the limit, so that not every compilation evicts. Other processes may take
// the same ones.
void Cache::evict() const {
    struct Entry {
        fs::file_time_type used;
        uint64_t size;
        fs::path path;
    };
    std::vector<Entry> entries;
    uint64_t total = 0;
    std::error_code gone;
    for (const auto &file : fs::directory_iterator(folder_)) {
        if (!is_entry(file)) continue;
        const uint64_t size = file.file_size(gone);
        if (gone) continue;
        entries.push_back({{}, size, file.path()});
        total += size;
    }
    if (total <= limit_) return;
    for (Entry &entry : entries) entry.used = fs::last_write_time(entry.path, gone);
    std::sort(entries.begin(), entries.end(),
              [](const Entry &a, const Entry &b) { return a.used < b.used; });
    for (const Entry &entry : entries) {
        if (total <= limit_ / 10 * 9) return;
        total -= entry.size;
        if (fs::remove(entry.path, gone)) count(kEvicted);
    }
}

std::string Cache::statistics() const {
    if (folder_.empty()) return "the compile cache is off\n";
    std::string events;
    if (fs::exists(folder_ / "events")) events = read_file(folder_ / "events");
    uint64_t entries = 0, bytes = 0;
    std::error_code gone;
    for (const auto &file : fs::directory_iterator(folder_)) {
        if (!is_entry(file)) continue;
        const uint64_t size = file.file_size(gone);
        if (gone) continue;
        entries++;
        bytes += size;
    }
    const auto times = [&](char event) {
        return std::to_string(std::count(events.begin(), events.end(), event));
    };
    return "folder   " + folder_.string() + "\nhits     " + times(kHit) + "\nmisses   " +
           times(kMiss) + "\nevicted  " + times(kEvicted) + "\ndamaged  " + times(kDamaged) +
           "\nentries  " + std::to_string(entries) + "\nbytes    " + std::to_string(bytes) +
           " of " + std::to_string(limit_) + "\n";
}

}  // namespace hk::compiler
