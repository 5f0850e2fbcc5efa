// Moving records into buckets, in parallel and in order: a pass that counts, a pass that writes.
#pragma once

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

template <class Record>
struct Buckets {
    std::vector<index_t> offsets;  // (n_buckets + 1)
    Vector<Record> records;

    index_t count() const { return std::ssize(offsets) - 1; }
    std::span<const Record> operator[](index_t bucket) const {
        return std::span(records).subspan(offsets[bucket], offsets[bucket + 1] - offsets[bucket]);
    }
};

// How many bits tell buckets of about 8192 records apart, which fit a processor's cache.
inline int bucket_bits(index_t n_records) {
    int bits = 0;
    while (bits < 12 && (n_records >> bits) > 8192) ++bits;
    return bits;
}

// Puts the records that items 0..count-1 stand for into buckets. In a bucket they keep the order of the items, whatever
// the thread count.
//
//   grain    how many items are worth a thread's while
//   produce  produce(begin, end, put) calls put(bucket, record) for the records of a range of items. It is called twice
//            for each range; if what it puts differs, because an array has changed, std::out_of_range is thrown
template <class Record, class Produce>
Buckets<Record> distribute(index_t count, index_t grain, index_t n_buckets, int threads, Produce&& produce) {
    struct Place {
        index_t next = 0, end = 0;  // while records are counted, `end` is how many there are
    };
    const index_t chunks = std::clamp<index_t>(count / grain, 1, threads == 1 ? 1 : 8 * threads);
    const auto begin_of = [&](index_t chunk) { return count / chunks * chunk + std::min(chunk, count % chunks); };
    std::vector<std::vector<Place>> places(chunks, std::vector<Place>(n_buckets));
    parallel_for(chunks, threads, 1, [&](index_t chunk, index_t, int) {
        Place* const own = places[chunk].data();
        produce(begin_of(chunk), begin_of(chunk + 1), [own](index_t bucket, const Record&) { ++own[bucket].end; });
    });

    Buckets<Record> result{std::vector<index_t>(n_buckets + 1), {}};
    index_t total = 0;
    for (index_t bucket = 0; bucket < n_buckets; ++bucket) {
        result.offsets[bucket] = total;
        for (auto& own : places) {
            own[bucket].next = total;
            total = own[bucket].end += total;
        }
    }
    result.offsets[n_buckets] = total;
    result.records.resize(total);

    parallel_for(chunks, threads, 1, [&](index_t chunk, index_t, int) {
        Place* const own = places[chunk].data();
        const auto require = [](bool same) {
            if (!same) throw std::out_of_range("an array has changed while it was read");
        };
        produce(begin_of(chunk), begin_of(chunk + 1),
                [own, require, records = result.records.data()](index_t bucket, const Record& record) {
                    Place& place = own[bucket];
                    require(place.next < place.end);
                    records[place.next++] = record;
                });
        for (const Place& place : places[chunk]) require(place.next == place.end);
    });
    return result;
}

}  // namespace meshpart
