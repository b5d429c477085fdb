#pragma once
// What takes bytes from outside: readers of files and of PTX, and the import of tensors by DLPack.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hk::fuzz {

using Bytes = std::vector<uint8_t>;

struct Reader {
    std::string_view name;  // of its folder in corpus/

    // True where the bytes are taken, false where they are refused by the error that the reader's
    // header promises. Any other exception leaves; so does Fault, where what was read can't be.
    bool (*takes)(std::span<const uint8_t> bytes);

    // Whether each file that is taken is refused without its last bytes.
    bool has_an_end = false;

    // Mends checksums of bytes that were changed, without which nothing behind them is looked at.
    void (*mend)(Bytes &bytes) = nullptr;
};

std::span<const Reader> readers();

// Throws std::invalid_argument, listing the names.
const Reader &reader_of(std::string_view name);

struct Fault : std::exception {
    explicit Fault(std::string what) : message(std::move(what)) {}
    const char *what() const noexcept override { return message.c_str(); }

    std::string message;
};

bool takes_dlpack(std::span<const uint8_t> bytes);

}  // namespace hk::fuzz
