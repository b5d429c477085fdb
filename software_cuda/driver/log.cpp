#include "software_cuda/driver/log.h"

#include <cstdio>

namespace software_cuda {

void Log::set_destination(const std::string &destination) {
    const std::lock_guard lock(mutex_);
    destination_ = destination;
}

void Log::add(const std::string &text) {
    const std::lock_guard lock(mutex_);
    last_ = text;
    if (destination_ == "off") return;
    std::FILE *file = destination_.empty() ? stderr : std::fopen(destination_.c_str(), "a");
    if (!file) file = stderr;
    std::fprintf(file, "software_cuda: %s\n", text.c_str());
    if (file != stderr) std::fclose(file);
}

std::string Log::last() const {
    const std::lock_guard lock(mutex_);
    return last_;
}

}  // namespace software_cuda
