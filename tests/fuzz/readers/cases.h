#pragma once
// Inputs for a reader, numbered: the files of its corpus, the beginnings of those that are taken,
// and files with some bytes changed. An input depends on the corpus, the seed and its number alone.

#include <filesystem>

#include "readers.h"

namespace hk::fuzz {

enum class Verdict { taken, refused, either };

struct Input {
    std::string of;  // "good_rgb.png", "good_rgb.png cut to 7 bytes", …
    Bytes bytes;
    Verdict verdict = Verdict::either;
};

class Cases {
public:
    // The files in `corpus`/READER, whose names begin with what is expected: good_ or bad_. Throws
    // std::runtime_error where there are none.
    Cases(const Reader &reader, const std::filesystem::path &corpus, uint64_t seed,
          size_t mutations);

    size_t size() const { return files_.size() + cuts_.size() + mutations_; }
    Input operator[](size_t number) const;

private:
    struct Cut {
        size_t file, length;
    };

    Input mutated(uint64_t number) const;

    const Reader *reader_;
    std::vector<Input> files_;
    std::vector<Cut> cuts_;
    uint64_t seed_;
    size_t mutations_;
};

}  // namespace hk::fuzz
