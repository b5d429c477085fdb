#include <unordered_map>

#include "imported.h"

namespace hk::python {

namespace {

// The table of C functions of a type that has one of our major version.
const ExchangeApi *exchange_api(nb::handle type) {
    const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
    if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return nullptr;
    const auto *api =
        static_cast<ExchangeApi *>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    while (api && api->version.major > kDlpackVersion.major) api = api->previous;
    if (!api || api->version.major != kDlpackVersion.major || !api->allocate || !api->from_object ||
        !api->to_object || !api->current_stream)
        return nullptr;
    return api;
}

bool is_numpy_array(nb::handle type) {
    // NumPy is not imported for this: who has an array has imported it.
    PyObject *numpy = PyImport_GetModule(nb::str("numpy").ptr());
    if (!numpy) {
        PyErr_Clear();
        return false;
    }
    const nb::object array = nb::steal(numpy).attr("ndarray");
    return PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(type.ptr()),
                            reinterpret_cast<PyTypeObject *>(array.ptr()));
}

Kind find_kind(nb::handle type) {
    using Way = Kind::Way;
    Kind kind;
    kind.type = type;
    if (nb::type_check(type) && nb::type_info(type) == typeid(Tensor)) {
        kind.way = Way::tensor;
    } else if (is_numpy_array(type)) {
        kind.way = Way::numpy;
    } else if ((kind.api = exchange_api(type))) {
        kind.way = Way::exchange;
    } else if (nb::hasattr(type, "__dlpack__")) {
        kind.way = Way::dlpack;
    } else if (const auto *procs = reinterpret_cast<PyTypeObject *>(type.ptr())->tp_as_buffer;
               procs && procs->bf_getbuffer) {
        kind.way = Way::buffer;
    }
    return kind;
}

}  // namespace

std::string library_of(nb::handle type) {
    const std::string module = nb::str(type.attr("__module__")).c_str();
    return module.substr(0, module.find('.'));
}

Kind kind_of(nb::handle array) {
    // Types that are made as a program runs are not all kept.
    constexpr size_t kMost = 256;
    static auto &kinds = *new std::unordered_map<PyObject *, Kind>;
    const nb::handle type = array.type();
    if (const auto found = kinds.find(type.ptr()); found != kinds.end()) return found->second;
    const Kind kind = find_kind(type);
    if (kinds.size() >= kMost) return kind;
    type.inc_ref();  // so that its address stays its own
    return kinds.emplace(type.ptr(), kind).first->second;
}

}  // namespace hk::python
