// A reader under libFuzzer: fuzz_readers --reader=NAME [libFuzzer's flags] NEW_FOLDER [FOLDER…]

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "readers.h"

namespace {

const hk::fuzz::Reader *reader = nullptr;

}  // namespace

extern "C" {

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
int LLVMFuzzerInitialize(int *count, char ***arguments);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    constexpr std::string_view kFlag = "--reader=";
    for (int i = 1; i < *count; i++) {
        const std::string_view argument = (*arguments)[i];
        if (argument.starts_with(kFlag))
            reader = &hk::fuzz::reader_of(argument.substr(kFlag.size()));
    }
    if (!reader) {
        std::fputs("fuzz_readers: --reader=NAME is missing\n", stderr);
        std::exit(2);
    }
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned) {
    size = LLVMFuzzerMutate(data, size, most);
    if (!reader->mend) return size;
    hk::fuzz::Bytes bytes(data, data + size);
    reader->mend(bytes);
    std::copy(bytes.begin(), bytes.end(), data);
    return size;
}

// What the reader does not refuse as it promises ends the process.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    reader->takes({data, size});
    return 0;
}
}
