// The vector for arrays as long as the mesh: std::vector on large pages where the system offers them, and without zeros
// in it unless they are asked for, so that the threads that fill it are the first to touch its pages.
//
// Filling fresh memory costs more than most kernels here: 8 MB in 4 KB pages took 7 ms on the machine that this was
// measured on, in 2 MB pages 3 ms, and sorting as many keys 18 ms.
#pragma once

#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace meshpart {

template <class T>
struct LargePageAllocator {
    using value_type = T;

    LargePageAllocator() = default;
    template <class U>
    LargePageAllocator(const LargePageAllocator<U>&) {}

    T* allocate(std::size_t count) {
        constexpr std::size_t page = std::size_t{1} << 21;
        if (count > static_cast<std::size_t>(-1) / sizeof(T) - page) throw std::bad_array_new_length();
        std::size_t bytes = count * sizeof(T);
        void* memory = nullptr;
        if (bytes < 2 * page) {
            memory = std::malloc(bytes);
        } else {
            bytes = (bytes + page - 1) / page * page;
            memory = std::aligned_alloc(page, bytes);
#ifdef __linux__
            if (memory) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without it the pages are small ones
#endif
        }
        if (!memory && bytes > 0) throw std::bad_alloc();
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t) { std::free(memory); }

    // Vector<T>(n) and resize(n) leave new elements as they are; Vector<T>(n, 0) and resize(n, 0) fill them.
    template <class U>
    void construct(U* place) {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class... Arguments>
    void construct(U* place, Arguments&&... arguments) {
        ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
    }

    friend bool operator==(const LargePageAllocator&, const LargePageAllocator&) { return true; }
};

template <class T>
using Vector = std::vector<T, LargePageAllocator<T>>;

}  // namespace meshpart
