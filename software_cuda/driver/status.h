// Results of the driver's functions.
#pragma once

#include <stdexcept>
#include <string>

namespace software_cuda {

enum Status : int {
#define STATUS(name, value, text) CUDA_##name = value,
#include "software_cuda/driver/errors.def"
#undef STATUS
};

// Null for a value that is none.
const char *status_name(int status);
const char *status_text(int status);

// Ends a call of the driver with a status; the message says why.
class Failure : public std::runtime_error {
public:
    Failure(Status status, const std::string &message)
        : std::runtime_error(message), status_(status) {}
    Status status() const { return status_; }

private:
    Status status_;
};

inline void require(bool condition, Status status, const std::string &otherwise) {
    if (!condition) throw Failure(status, otherwise);
}

}  // namespace software_cuda
