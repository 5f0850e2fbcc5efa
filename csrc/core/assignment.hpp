// Labels while they change: the load and the size of every part, and the units that touch another part.
#pragma once

#include <span>
#include <vector>

#include "csr.hpp"
#include "graph.hpp"
#include "types.hpp"
#include "vector.hpp"

namespace meshpart {

// A vertex with more edges is not looked at again whenever a neighbour moves, which would cost a square.
inline constexpr index_t largest_rescored = 256;

struct Assignment {
    GraphView graph;
    Vector<part_t> labels;   // (n_vertices)
    Vector<weight_t> loads;  // (nparts)
    Vector<index_t> sizes;   // (nparts): vertices of each part

    // Throws std::out_of_range if a label or a target is outside its range.
    Assignment(GraphView of, std::span<const part_t> given, part_t count);

    part_t nparts() const { return static_cast<part_t>(loads.size()); }
    void move(index_t vertex, part_t to);
};

// Row i lists the vertices of parts[i], ascending; the parts are different ones. O(vertices + nparts)
Csr members(const Assignment& assignment, std::span<const part_t> parts);

// The weight of the edges between one vertex and the parts around it.
class Connections {
  public:
    explicit Connections(part_t nparts) : weights_(nparts, none) {}

    // Looks at one vertex, forgetting the one before.
    void read(const Assignment& assignment, index_t vertex) {
        clear();
        const auto& [offsets, targets] = assignment.graph.rows;
        for (index_t e = offsets[vertex]; e < offsets[vertex + 1]; ++e) {
            add(assignment.labels[targets[e]], assignment.graph.edge_weight(e));
        }
    }
    void clear() {
        for (const part_t part : parts_) weights_[part] = none;
        parts_.clear();
    }
    void add(part_t part, weight_t weight) {
        if (weights_[part] == none) {
            weights_[part] = 0;
            parts_.push_back(part);
        }
        weights_[part] += weight;
    }
    weight_t to(part_t part) const { return weights_[part] == none ? 0 : weights_[part]; }
    const std::vector<part_t>& parts() const { return parts_; }  // each once, as they were met

  private:
    static constexpr weight_t none = -1;
    Vector<weight_t> weights_;
    std::vector<part_t> parts_;
};

// The vertices of each part that have a neighbour in another part, kept while vertices move.
class Boundary {
  public:
    // O(vertices + edges); the assignment must outlive it and change through it alone.
    explicit Boundary(Assignment& assignment);

    void move(index_t vertex, part_t to);

    // Calls visit(vertex) for those of one part until it returns false; it must not move any. Drops those whose
    // neighbours all have come into the part. Returns the number of vertices and edges looked at.
    template <class Visit>
    index_t visit(part_t part, Visit&& visit) {
        index_t work = 1;
        for (index_t vertex = first_[part], after; vertex != none; vertex = after) {
            after = next_[vertex];
            work += std::ssize(assignment_.graph.rows[vertex]) + 1;
            if (!touches_another(vertex)) {
                remove(vertex);
            } else if (!visit(vertex)) {
                break;
            }
        }
        return work;
    }

  private:
    static constexpr index_t none = -1, unlisted = -2;

    bool touches_another(index_t vertex) const;
    void insert(index_t vertex);
    void remove(index_t vertex);

    Assignment& assignment_;
    Vector<index_t> first_;        // (nparts), or none
    Vector<index_t> next_, prev_;  // (n_vertices): beside it in its part's list; next_ is `unlisted` outside the lists
};

}  // namespace meshpart
