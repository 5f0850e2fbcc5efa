// Cells, points or vertices of parts as a dict of arrays.
#pragma once

#include "convert.hpp"
#include "core/local_order.hpp"

namespace meshpart::bindings {

inline py::dict as_dict(Entities&& entities, Vector<std::uint8_t>&& complete) {
    py::dict result;
    result["offsets"] = array(std::move(entities.ids.offsets));
    result["ids"] = array(std::move(entities.ids.entries));
    result["n_owned"] = array(std::move(entities.n_owned));
    result["ghost_owners"] = array(std::move(entities.ghost_owners));
    result["ghost_layers"] = array(std::move(entities.ghost_layers));
    result["complete"] = array(std::move(complete));
    result["neighbour_offsets"] = array(std::move(entities.plans.neighbours.offsets));
    result["neighbours"] = array(std::move(entities.plans.neighbours.entries));
    result["send_offsets"] = array(std::move(entities.plans.send_offsets));
    result["send_indices"] = array(std::move(entities.plans.send_indices));
    result["receive_counts"] = array(std::move(entities.plans.receive_counts));
    return result;
}

}  // namespace meshpart::bindings
