#include "file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace hk::program {
namespace {

[[noreturn]] void fail(const std::string &path, int code = errno) {
    throw FileError(path + ": " + std::strerror(code));
}

class Descriptor {
public:
    Descriptor(const std::string &path, int flags) : number_(open(path.c_str(), flags, 0666)) {}
    ~Descriptor() {
        if (number_ >= 0) close(number_);
    }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;

    explicit operator bool() const { return number_ >= 0; }
    int get() const { return number_; }
    bool closed() { return close(std::exchange(number_, -1)) == 0; }

private:
    int number_;
};

bool written(const Descriptor &file, std::string_view content) {
    while (!content.empty()) {
        const ssize_t count = write(file.get(), content.data(), content.size());
        if (count < 0 && errno != EINTR) return false;
        if (count > 0) content.remove_prefix(static_cast<size_t>(count));
    }
    return true;
}

// A new file in the folder of `place`; its name is short, as the place's own may be as long as
// names can be.
std::string name_beside(const std::string &place, int number) {
    const auto folder = std::filesystem::path(place).parent_path();
    const std::string process = std::to_string(getpid());
    return (folder / ('.' + process + '-' + std::to_string(number) + ".part")).string();
}

void replace(const std::string &path, const std::string &place, const struct stat *before,
             std::string_view content) {
    std::string beside;
    for (int number = 0;; number++) {
        beside = name_beside(place, number);
        Descriptor file(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
        if (!file && errno == EEXIST) continue;
        if (!file) fail(path);
        if (written(file, content) && (!before || fchmod(file.get(), before->st_mode) == 0) &&
            fsync(file.get()) == 0 && file.closed() &&
            std::rename(beside.c_str(), place.c_str()) == 0) {
            return;
        }
        const int code = errno;
        unlink(beside.c_str());
        fail(path, code);
    }
}

}  // namespace

std::string read_file(const std::string &path) {
    const Descriptor file(path, O_RDONLY | O_CLOEXEC);
    if (!file) fail(path);
    std::string content;
    char block[1 << 16];
    for (ssize_t count; (count = read(file.get(), block, sizeof block)) != 0;) {
        if (count > 0) {
            content.append(block, static_cast<size_t>(count));
        } else if (errno != EINTR) {
            fail(path);  // of a folder too
        }
    }
    return content;
}

void write_file(const std::string &path, std::string_view content) {
    struct stat before {};
    if (stat(path.c_str(), &before) != 0) {
        if (errno != ENOENT) fail(path);
        return replace(path, path, nullptr, content);
    }
    if (!S_ISREG(before.st_mode)) {
        Descriptor file(path, O_WRONLY | O_CLOEXEC);
        if (!file || !written(file, content) || !file.closed()) fail(path);
        return;
    }
    if (access(path.c_str(), W_OK) != 0) fail(path);
    // Where a link leads to: the link stays.
    replace(path, std::filesystem::canonical(path).string(), &before, content);
}

}  // namespace hk::program
