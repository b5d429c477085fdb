#include "software_cuda/driver/status.h"

namespace software_cuda {

const char *status_name(int status) {
    switch (status) {
#define STATUS(name, value, text) \
    case value:                   \
        return "CUDA_" #name;
#include "software_cuda/driver/errors.def"
#undef STATUS
    }
    return nullptr;
}

const char *status_text(int status) {
    switch (status) {
#define STATUS(name, value, text) \
    case value:                   \
        return text;
#include "software_cuda/driver/errors.def"
#undef STATUS
    }
    return nullptr;
}

}  // namespace software_cuda
