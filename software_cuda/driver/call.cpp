#include "software_cuda/driver/call.h"

namespace software_cuda {

CUresult refuse(const char *function, const Failure &failure) noexcept {
    try {
        if (*failure.what()) {
            driver().log.add(std::string(function) + ": " + status_name(failure.status()) + ": " +
                             failure.what());
        }
    } catch (const std::bad_alloc &) {  // the status is enough
    }
    return failure.status();
}

}  // namespace software_cuda
