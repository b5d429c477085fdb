#pragma once
// Arrays of Python, in and out, without a copy.
//
// In: NumPy's by the buffer protocol, which is faster; others by DLPack, where the type has it by
// its table of C functions; then any buffer. Out: what the type's own library makes of the memory.
// All of this needs the interpreter's lock.

#include <nanobind/nanobind.h>

#include <string>

#include "dlpack_exchange.h"
#include "hk/tensor.h"

namespace hk::python {

namespace nb = nanobind;

// How arrays of one Python type come in, and what results are made by.
struct Kind {
    enum class Way : uint8_t { numpy, tensor, exchange, dlpack, buffer, none };
    Way way = Way::none;
    const ExchangeApi *api = nullptr;  // of exchange
    nb::handle type;                   // of the array
};

// Looked up once a type, of the first few hundred.
Kind kind_of(nb::handle array);

std::string library_of(nb::handle type);  // "torch", "jaxlib"

// What the memory of an imported array belongs to, until it is released.
class Hold {
public:
    Hold() = default;
    Hold(Hold &&other) noexcept { *this = std::move(other); }
    Hold &operator=(Hold &&other) noexcept;
    ~Hold() { release(); }

    void release() noexcept;

    Py_buffer buffer{};                    // where buffer.obj is set
    VersionedTensor *versioned = nullptr;  // from DLPack
    DLManagedTensor *plain = nullptr;      // from a DLPack before 1.0
};

struct Imported {
    Tensor tensor;  // over the memory that `hold` has
    Hold hold;
    bool read_only = false;
};

// An argument, which begins messages: "conv2d: input".
struct Place {
    const char *operation, *name;
};
std::string operator+(const Place &place, const std::string &text);

// `where` begins messages. Throws TypeError for what is no array or has elements
// of a type that the library lacks, InvalidArgument for memory that it can't read.
Imported import_array(nb::handle array, const Kind &kind, const Place &where);

// A tensor that keeps the array's memory for as long as it lives.
Tensor keep(nb::handle array, const Place &where);

// The tensor as an array of the kind, over the same memory.
nb::object export_tensor(const Tensor &tensor, const Kind &kind);

// A capsule of DLPack, of version 1 or of the one before it.
nb::object dlpack_capsule(const Tensor &tensor, bool versioned);

nb::object numpy_array(const Tensor &tensor);  // a packed one on the CPU

// What NumPy reads a tensor on the CPU by.
int fill_buffer(PyObject *self, Py_buffer *view, int flags);
void free_buffer(PyObject *self, Py_buffer *view);

}  // namespace hk::python
