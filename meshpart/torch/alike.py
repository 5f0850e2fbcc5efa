"""What ranks say of the same things, in short texts: the same error on all of them where it differs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from meshpart.errors import ArgumentError
from meshpart.torch.groups import Group
from meshpart.torch.layouts import described

MOST_NAMED = 3  # things in a message
LONGEST = 80  # characters of a value in a message


def check_alike(said: Mapping[str, str], name: str, group: Group, mend: str = "") -> None:
    """Raise on every rank if what the ranks say of things, by their names, is not the same. Collective.

    Parameters
    ----------
    said : mapping of str to str
    name : str
        Of the argument that they belong to, for messages.
    group : Group
    mend : str
        The end of a message.
    """
    if len(set(map(tuple, group.all_gather_numbers(hashed(repr(list(said.items())).encode()))))) == 1:
        return
    everyone = group.all_gather_object(dict(said))
    first, absent = everyone[0], "not there"
    differing = [
        f"{key} is {theirs.get(key, absent)} on rank {rank}, {first.get(key, absent)} on rank 0"
        for rank, theirs in enumerate(everyone)
        for key in {**first, **theirs}
        if theirs.get(key) != first.get(key)
    ]
    what = few(differing or ["the order is not the same"])
    raise ArgumentError(f"{name}: the ranks hold different ones: {what}{mend}")


def few(remarks: Sequence[str]) -> str:
    """Return the first of some remarks, and how many there are besides."""
    more = len(remarks) - MOST_NAMED
    return "; ".join(remarks[:MOST_NAMED]) + (f" (and {more} more)" if more > 0 else "")


def layout_of(value: Any, at: str = "") -> dict[str, str]:
    """Return what tensors and texts there are in dicts and lists, and where; what the numbers are does not matter."""
    if isinstance(value, torch.Tensor):
        return {at: described(value)}
    if isinstance(value, str):
        return {at: value}
    items: Any = ()
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list | tuple):
        items = enumerate(value)
    layout: dict[str, str] = {}
    for name, item in items:
        layout |= layout_of(item, f"{at}[{name!r}]" if at else repr(name))
    return layout


def told(value: Any) -> str:
    """Return a text that tells a plain value from others: the value itself, if that is short."""
    text = _text(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... {_hash(text.encode())}"


def bits(tensor: torch.Tensor) -> memoryview:
    """Return the bytes of a dense tensor."""
    dense = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    return memoryview(dense.view(-1).view(torch.uint8).numpy())


def hashed(content: memoryview | bytes) -> list[int]:
    """Return 128 bits of a hash, as two integers of 64."""
    value = hashlib.blake2b(content, digest_size=16).digest()
    return [int.from_bytes(half, "little", signed=True) for half in (value[:8], value[8:])]


def _text(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{described(value)} {_hash(bits(value))}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_text(key)}: {_text(item)}' for key, item in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, set):
        return f"{{{', '.join(sorted(map(_text, value)))}}}"
    return repr(value)


def _hash(content: memoryview | bytes) -> str:
    return f"(hash {hashed(content)[0] % 2**64:016x})"
