#include "tests/support/guarded.h"

#include <sys/mman.h>
#include <unistd.h>

#include <system_error>

namespace hk::test {
namespace {

[[noreturn]] void fail(const char *call) {
    throw std::system_error(errno, std::generic_category(), call);
}

}  // namespace

Guarded::Guarded(const Tensor &values, bool at_end) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const auto bytes = static_cast<size_t>(values.elements() * size_of(values.type()));
    const size_t inside = (bytes + page - 1) / page * page, all = inside + 2 * page;
    void *pages = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) fail("mmap");
    pages_ = {pages, [all](void *pages) { munmap(pages, all); }};
    std::byte *const first = static_cast<std::byte *>(pages) + page;
    if (inside > 0 && mprotect(first, inside, PROT_READ | PROT_WRITE) != 0) fail("mprotect");
    tensor_ =
        Tensor::borrow(at_end ? first + inside - bytes : first, values.type(), values.shape());
    tensor_.copy_from(values);
}

}  // namespace hk::test
