#pragma once
// Files of programs: read whole, and written whole or not at all.

#include <stdexcept>
#include <string>
#include <string_view>

namespace hk::program {

// "PATH: what is wrong".
struct FileError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The content of a file. Throws FileError, for a folder too.
std::string read_file(const std::string &path);

// Writes beside the file's place and moves it there once all of it is on the disk. Throws
// FileError, and then what was there before is there still. What is no regular file (a pipe,
// /dev/stdout) has no such place and is written to directly.
void write_file(const std::string &path, std::string_view content);

}  // namespace hk::program
