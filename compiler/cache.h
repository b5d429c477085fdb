#pragma once
// The compile cache: what compilations left, by everything that decides it.
//
// HK_CACHE_DIR is its folder, by default halide-kernels in the user's cache directory; HK_CACHE=off
// does without; HK_CACHE_SIZE, such as 500M or 4G, is the most it takes (2G), and what has not been
// used for longest goes first. Processes share it: an entry is a file that appears at once. It
// begins with the hash of what follows; one that does not match is thrown away. Where the folder
// can't be written, that is one warning, and nothing is kept.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace hk::compiler {

// 128 bits of XXH3 of parts, each with its name and length: in another order, or divided otherwise,
// they give another key.
class CacheKey {
public:
    void add(std::string_view name, std::string_view value);

    std::string text() const;  // 32 digits

private:
    std::string parts_;
};

// Of a file's content; of none where it can't be read.
std::string hash_of_file(const std::filesystem::path &file);

class Cache {
public:
    static Cache from_environment();  // throws where HK_CACHE_SIZE is no size

    bool is_on() const { return !folder_.empty(); }

    // Writes the files of the entry into `folder`. False: there is none.
    bool take(const std::string &key, const std::filesystem::path &folder) const;

    // Keeps the files of `folder`.
    void keep(const std::string &key, const std::filesystem::path &folder) const;

    // Hits, misses, entries and bytes, in lines.
    std::string statistics() const;

private:
    std::filesystem::path folder_;  // empty: off
    uint64_t limit_ = 0;

    std::filesystem::path entry(const std::string &key) const;
    void count(char event) const;
    void evict() const;
};

}  // namespace hk::compiler
