#include "cases.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <random>
#include <stdexcept>

namespace hk::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCuts = 40;  // of a file
// What may follow the last byte that matters: PNG's IEND and a checksum, JPEG's end marker.
constexpr size_t kTail = 24;

Bytes content_of(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class Random {
public:
    Random(uint64_t seed, uint64_t number) : engine_(seed * 0x9e3779b97f4a7c15u + number) {}

    // Not std::uniform_int_distribution, which differs between libraries.
    uint64_t below(uint64_t bound) { return bound == 0 ? 0 : engine_() % bound; }

private:
    std::mt19937_64 engine_;
};

// Numbers at which something may overflow, and words that formats know.
constexpr uint64_t kNumbers[] = {0,        1,          0x7f,       0x80,       0xff,
                                 0x7fff,   0x8000,     0xffff,     0x10000,    0x7fffffff,
                                 1u << 31, 0xffffffff, 1ull << 32, ~0ull >> 1, ~0ull};
constexpr std::string_view kWords[] = {"nan", "inf",  "-1", "1e308", "2.5", "99999999999999999999",
                                       "\n",  "\r\n", ",",  "\"",    "{",   "[[[[[[[[[[[[[[[[",
                                       "}",   "]",    "-0", "0x10",  " ",   "1e-400"};

size_t place_in(const Bytes &bytes, Random &random) {
    // Headers are short, and say the most.
    const size_t most = random.below(2) == 0 ? std::min<size_t>(bytes.size(), 64) : bytes.size();
    return random.below(most);
}

void write_number(Bytes &bytes, Random &random) {
    const uint64_t value = kNumbers[random.below(std::size(kNumbers))];
    const size_t width = size_t{1} << random.below(4), at = place_in(bytes, random);
    const bool big = random.below(2) == 0;
    for (size_t i = 0; i < width && at + i < bytes.size(); i++) {
        bytes[at + i] = static_cast<uint8_t>(value >> 8 * (big ? width - 1 - i : i));
    }
}

void write_word(Bytes &bytes, Random &random) {
    const std::string_view word = kWords[random.below(std::size(kWords))];
    const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(place_in(bytes, random));
    const auto left = static_cast<size_t>(bytes.end() - at);
    const auto behind =
        bytes.erase(at, at + static_cast<std::ptrdiff_t>(std::min<size_t>(random.below(4), left)));
    bytes.insert(behind, word.begin(), word.end());
}

void change(Bytes &bytes, const Bytes &other, Random &random) {
    const size_t at = place_in(bytes, random);
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const size_t length = std::min<size_t>(1 + random.below(16), bytes.size() - at);
    const auto to = from + static_cast<std::ptrdiff_t>(length);
    switch (random.below(7)) {
        case 0:
            if (length > 0) bytes[at] ^= static_cast<uint8_t>(1u << random.below(8));
            break;
        case 1:
            if (length > 0) bytes[at] = static_cast<uint8_t>(random.below(256));
            break;
        case 2:
            write_number(bytes, random);
            break;
        case 3:
            write_word(bytes, random);
            break;
        case 4:
            bytes.erase(from, to);
            break;
        case 5: {
            const Bytes again(from, to);
            bytes.insert(from, again.begin(), again.end());
            break;
        }
        default: {  // the end of another file
            const size_t start = random.below(other.size());
            bytes.resize(at);
            bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(start),
                         other.end());
        }
    }
}

}  // namespace

Cases::Cases(const Reader &reader, const fs::path &corpus, uint64_t seed, size_t mutations)
    : reader_(&reader), seed_(seed), mutations_(mutations) {
    std::vector<fs::path> paths;
    for (const auto &entry : fs::directory_iterator(corpus / reader.name)) {
        paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    for (const fs::path &path : paths) {
        const std::string name = path.filename().string();
        const bool good = name.starts_with("good_");
        if (!good && !name.starts_with("bad_")) {
            throw std::runtime_error(path.string() +
                                     ": its name begins with neither good_ nor bad_");
        }
        files_.push_back({name, content_of(path), good ? Verdict::taken : Verdict::refused});
        const size_t size = files_.back().bytes.size();
        for (size_t cut = 0; good && cut < kCuts; cut++) {
            cuts_.push_back({files_.size() - 1, size * cut / kCuts});
        }
    }
    if (files_.empty()) throw std::runtime_error((corpus / reader.name).string() + " is empty");
}

Input Cases::operator[](size_t number) const {
    if (number < files_.size()) return files_[number];
    number -= files_.size();
    if (number >= cuts_.size()) return mutated(number - cuts_.size());
    const auto [file, length] = cuts_[number];
    const Input &whole = files_[file];
    const bool ended = reader_->has_an_end && length + kTail < whole.bytes.size();
    return {whole.of + " cut to " + std::to_string(length) + " bytes",
            Bytes(whole.bytes.begin(), whole.bytes.begin() + static_cast<std::ptrdiff_t>(length)),
            ended ? Verdict::refused : Verdict::either};
}

Input Cases::mutated(uint64_t number) const {
    Random random(seed_, number);
    const Input &file = files_[random.below(files_.size())];
    const Input &other = files_[random.below(files_.size())];
    Input input{file.of + " changed, number " + std::to_string(number), file.bytes};
    for (uint64_t count = 1 + random.below(4); count > 0; count--) {
        change(input.bytes, other.bytes, random);
    }
    if (reader_->mend && random.below(4) != 0) reader_->mend(input.bytes);
    return input;
}

}  // namespace hk::fuzz
