// The vector on large pages.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "core/vector.hpp"

using namespace meshpart;

TEST_CASE("a vector has the value that it is filled with and the elements that it is given, short or long") {
    for (const std::size_t size : {0, 1, 1000, 1000000}) {  // the last is on large pages
        Vector<std::int64_t> values(size, 7);
        CHECK(std::ranges::all_of(values, [](std::int64_t value) { return value == 7; }));
        std::iota(values.begin(), values.end(), 0);
        const Vector<std::int64_t> copy = values;
        values.resize(2 * size, -1);
        CHECK(std::equal(copy.begin(), copy.end(), values.begin()));
        CHECK(std::all_of(values.begin() + size, values.end(), [](std::int64_t value) { return value == -1; }));
        for (int i = 0; i < 100; ++i) values.push_back(i);
        CHECK(values.size() == 2 * size + 100);
        CHECK(values.back() == 99);
    }
}

TEST_CASE("a vector longer than the memory has addresses is refused") {
    LargePageAllocator<std::int64_t> allocator;
    for (const std::size_t count : {SIZE_MAX, SIZE_MAX / 8, SIZE_MAX / 8 - 1000}) {
        CHECK_THROWS_AS(static_cast<void>(allocator.allocate(count)), std::bad_alloc);
    }
}
