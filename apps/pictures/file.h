#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "image.h"

namespace hk::pictures {

struct CloseFile {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

inline File open_file(const std::string &path) {
    File file(std::fopen(path.c_str(), "rb"));
    if (!file) {
        throw ImageError(path + ": " + std::strerror(errno));
    }
    return file;
}

}  // namespace hk::pictures
