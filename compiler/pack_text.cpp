#include "compiler/pack_text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/src/packed_text.h"

namespace hk::compiler {

namespace {

constexpr size_t kShortest = 4, kWindow = 65535, kHashBits = 16;
constexpr size_t kLastLiterals = 12;  // of the format: a block ends in literals
constexpr int kTries = 256;           // earlier places that are compared; 1024 gain 1 %

struct Match {
    size_t place = 0, length = 0;
};

// Earlier places of each group of four bytes, newest first.
class Places {
public:
    explicit Places(const std::string &text)
        : text_(text), newest_(size_t{1} << kHashBits, -1), older_(text.size(), -1) {}

    void add(size_t at) {
        int64_t &newest = newest_[hash(at)];
        older_[at] = newest;
        newest = static_cast<int64_t>(at);
    }

    Match longest(size_t at, size_t end) const {
        Match best;
        int64_t place = newest_[hash(at)];
        for (int i = 0; i < kTries && place >= 0; i++, place = older_[static_cast<size_t>(place)]) {
            const size_t start = static_cast<size_t>(place);
            if (at - start > kWindow) break;
            size_t length = 0;
            while (at + length < end && text_[start + length] == text_[at + length]) length++;
            if (length > best.length) best = {start, length};
        }
        return best.length >= kShortest ? best : Match();
    }

private:
    size_t hash(size_t at) const {
        uint32_t four;
        std::memcpy(&four, text_.data() + at, sizeof four);
        return four * 2654435761u >> (32 - kHashBits);  // Knuth's multiplicative hash
    }

    const std::string &text_;
    std::vector<int64_t> newest_, older_;
};

void put_length(std::string &out, size_t length) {
    if (length < 15) return;
    for (length -= 15; length >= 255; length -= 255) out += '\xff';
    out += static_cast<char>(length);
}

// Literals, and the match after them where there is one.
void put(std::string &out, const std::string &text, size_t start, size_t at, const Match &match) {
    const size_t literals = at - start, repeats = match.length ? match.length - kShortest : 0;
    out += static_cast<char>(std::min<size_t>(literals, 15) << 4 | std::min<size_t>(repeats, 15));
    put_length(out, literals);
    out.append(text, start, literals);
    if (!match.length) return;
    const size_t distance = at - match.place;
    out += static_cast<char>(distance & 255);
    out += static_cast<char>(distance >> 8);
    put_length(out, repeats);
}

void put_number(std::string &out, size_t number) {
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(number >> shift & 255);
}

}  // namespace

std::string pack_text(const std::string &text) {
    std::string block;
    Places places(text);
    size_t start = 0, at = 0;
    const size_t end = text.size() - std::min(text.size(), kLastLiterals);
    while (at < end) {
        Match match = places.longest(at, end);
        places.add(at);
        // A longer match one byte later is worth a literal.
        if (match.length && at + 1 < end && places.longest(at + 1, end).length > match.length) {
            match = {};
        }
        if (!match.length) {
            at++;
            continue;
        }
        put(block, text, start, at, match);
        for (size_t i = 1; i < match.length; i++) places.add(at + i);
        start = at += match.length;
    }
    put(block, text, start, text.size(), {});
    std::string result(detail::kPackedMark, sizeof detail::kPackedMark);
    put_number(result, text.size());
    put_number(result, block.size());
    return result + block;
}

}  // namespace hk::compiler
