// The tests' main function.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

// Fills all fresh memory, so that a kernel which reads what it has not written gives wrong results.
extern "C" const char* __asan_default_options() {
    return "max_malloc_fill_size=1000000000:malloc_fill_byte=190";
}
