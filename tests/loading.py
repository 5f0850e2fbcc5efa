"""A program: loads a store with two workers, started in the ways that it is told, and compares items with its own.

Usage: python loading.py PATH FORM CONTEXT...
"""

from __future__ import annotations

import sys
from typing import Any

from meshpart import SubMesh


def check(item: tuple[SubMesh, Any], expected: tuple[SubMesh, Any], weight: float) -> None:
    import torch

    (part, graph), (same_part, same_graph) = item, expected
    assert part == same_part
    assert not part.points.global_ids.flags.owndata, "a part is mapped, not copied"
    keys = set(graph.keys())
    assert keys == set(same_graph.keys())
    assert graph["weight"].item() == weight
    for key in keys - {"weight", "last"}:
        value, same = graph[key], same_graph[key]
        assert torch.equal(value, same) if isinstance(value, torch.Tensor) else value == same, key


def main(path: str, form: str, *contexts: str) -> None:
    from torch.utils.data import DataLoader

    import meshpart.torch as mt

    dataset = mt.PartDataset([(path, "sample 1"), (path, "sample 2")], as_=form)
    for context in contexts:
        sampler = mt.PartSampler(dataset, rank=1, size=2, shuffle=True)
        options: dict[str, Any] = {"multiprocessing_context": context, "persistent_workers": True}
        loader = DataLoader(dataset, batch_size=None, num_workers=2, sampler=sampler, **options)
        for epoch in range(2):
            sampler.set_epoch(epoch)
            turns = list(sampler)
            assert sorted(turn.weight for turn in turns) == [0.0, 0.0, 1.0, 1.0]
            for item, turn in zip(loader, turns, strict=True):
                check(item, dataset[turn.item], turn.weight)
        sys.stdout.write(f"{context}: the same\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
