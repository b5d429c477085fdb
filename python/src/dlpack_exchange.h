#pragma once
// DLPack 1.2's managed tensor and table of functions, which Debian 12's dlpack.h (0.6) lacks: a
// type's attribute __dlpack_c_exchange_api__ is a capsule "dlpack_exchange_api" of the latter.
// (dmlc.github.io/dlpack/latest/python_spec.html)

#include <dlpack/dlpack.h>

#include <cstdint>

namespace hk::python {

struct DlpackVersion {
    uint32_t major, minor;
};

struct VersionedTensor {
    DlpackVersion version;
    void *manager_ctx;
    void (*deleter)(VersionedTensor *);
    uint64_t flags;
    DLTensor dl_tensor;
};

constexpr DlpackVersion kDlpackVersion{1, 1};
constexpr uint64_t kReadOnly = 1;  // of VersionedTensor::flags

// Functions return 0, or set Python's error; SetError has the error's type and message instead.
struct ExchangeApi {
    DlpackVersion version;
    ExchangeApi *previous;
    int (*allocate)(DLTensor *prototype, VersionedTensor **made, void *context,
                    void (*set_error)(void *context, const char *type, const char *message));
    int (*from_object)(void *object, VersionedTensor **made);
    int (*to_object)(VersionedTensor *tensor, void **made);
    int (*borrow_object)(void *object, DLTensor *filled);  // may be null
    int (*current_stream)(DLDeviceType type, int32_t index, void **stream);
};

}  // namespace hk::python
