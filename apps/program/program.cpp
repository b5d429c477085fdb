#include "program.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>

#include "hk/error.h"

namespace hk::program {
namespace {

int fail(const std::string &name, const char *what, int status) {
    std::cerr << name << ": " << what << '\n';
    return status;
}

int parsed_and_done(const std::string &name, Flags &flags, int argc, char **argv,
                    const std::function<int()> &work) try {
    if (const std::optional<int> status = flags.parse(argc, argv)) return *status;
    return work();
} catch (const InvalidArgument &error) {
    return fail(name, error.what(), 2);
} catch (const std::bad_alloc &) {
    return fail(name, "the memory is not enough", 1);
} catch (const std::exception &error) {
    return fail(name, error.what(), 1);
}

}  // namespace

int run(const std::string &name, Flags &flags, int argc, char **argv,
        const std::function<int()> &work) {
    const int status = parsed_and_done(name, flags, argc, argv, work);
    errno = 0;
    std::cout.flush();
    if (std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout) return status;
    fail(name, ("standard output: " + std::string(std::strerror(errno ? errno : EIO))).c_str(), 1);
    return status == 0 ? 1 : status;
}

}  // namespace hk::program
