"""What launchers say in the environment, and torch's ranks checked against it where there is no communicator."""

from __future__ import annotations

import os
from typing import Any

import pytest

pytest.importorskip("torch")

import torch.distributed as dist
from ranks import run

import meshpart
import meshpart.torch as mt
from meshpart.torch.launchers import Claim, claim_on, claims_in

TORCHRUN = ("RANK", "WORLD_SIZE")
OPEN_MPI = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
MPICH = ("PMI_RANK", "PMI_SIZE")
SRUN = ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")
BATCH = ("SLURM_PROCID", "SLURM_NTASKS")
LAUNCHERS = (TORCHRUN, OPEN_MPI, MPICH, SRUN, BATCH)
named = pytest.mark.parametrize("names", LAUNCHERS, ids=[rank for rank, _ in LAUNCHERS[:-1]] + ["SLURM_NTASKS"])


def says(names: tuple[str, str], rank: object, size: object) -> dict[str, str]:
    """Return the variables of a launcher."""
    return dict(zip(names, (str(rank), str(size)), strict=True))


@named
def test_a_launcher_is_read(names: tuple[str, str]) -> None:
    (claim,) = claims_in(says(names, 2, 4))
    assert claim == Claim(f"{names[0]}=2, {names[1]}=4", 2, 4)


def test_of_pmix_only_the_rank_is_read() -> None:
    assert claims_in({"PMIX_RANK": "3"}) == (Claim("PMIX_RANK=3", 3, None),)


@named
def test_variables_that_are_empty_or_half_there_say_nothing(names: tuple[str, str]) -> None:
    assert claims_in({}) == ()
    for half in ({names[0]: "1"}, {names[1]: "4"}, says(names, "", 4), says(names, 1, "")):
        assert claims_in(half) == ()


@pytest.mark.parametrize("value", ["one", "-1", "1.0", "0x1", " 1", "1_0", "\u0663", "9" * 5000])
def test_what_is_no_number_is_no_rank_and_is_told(value: str) -> None:
    for variables in (says(MPICH, value, 4), says(MPICH, 0, value)):
        (claim,) = claims_in(variables)
        assert (claim.rank, claim.size) == (None, None)
        assert value[:40] in claim.words
        assert len(claim.words) < 100


def test_the_script_of_a_slurm_job_is_not_one_of_the_tasks_it_may_start() -> None:
    assert claims_in(says(BATCH, 0, 64)) == ()
    assert len(claims_in({**says(BATCH, 0, 64), **says(SRUN, 0, 4)})) == 1


def test_of_nested_launchers_the_inner_one_counts() -> None:
    nested = {**says(SRUN, 1, 8), **says(MPICH, 2, 8), **says(OPEN_MPI, 3, 8), **says(TORCHRUN, 4, 8)}
    assert [claim.rank for claim in claims_in(nested)] == [4, 3, 2, 1]
    found = claim_on(8, claims_in(nested))
    assert found is not None
    assert found.words == "RANK=4, WORLD_SIZE=8"


def test_a_launcher_of_fewer_processes_speaks_of_their_parents() -> None:
    nodes = claims_in(says(SRUN, 1, 2))
    assert claim_on(2, nodes) == nodes[0]
    assert claim_on(3, nodes) is None
    both = claims_in({**says(TORCHRUN, 0, 1), **says(OPEN_MPI, 3, 4)})  # the first as some containers have it set
    assert claim_on(4, both) == both[1]


# -- on ranks of torch ---------------------------------------------------------------------------------------


def checked_with(variables: list[dict[str, str]]) -> str | None:
    """Check on this rank, with variables of its own in the environment, and return what it says."""
    mine = variables[dist.get_rank()]
    os.environ.update(mine)
    try:
        mt.check_rank_alignment()
    except meshpart.AlignmentError as error:
        return str(error)
    finally:
        for name in mine:
            del os.environ[name]
    return None


def the_same(answers: list[Any]) -> str:
    """Return what all ranks said."""
    assert answers == answers[:1] * len(answers)
    assert answers[0] is not None
    return str(answers[0])


@named
@pytest.mark.parametrize("size", [1, 2, 3])
def test_ranks_as_the_launcher_gave_them_are_aligned(names: tuple[str, str], size: int) -> None:
    assert run(size, checked_with, [says(names, rank, size) for rank in range(size)]) == [None] * size


@named
def test_ranks_other_than_the_launcher_gave_are_seen_on_every_rank(names: tuple[str, str]) -> None:
    words = the_same(run(3, checked_with, [says(names, rank, 3) for rank in (0, 2, 1)]))
    assert f"torch rank 1 of 3 was started as {names[0]}=2, {names[1]}=3 (process " in words
    assert f"torch rank 2 of 3 was started as {names[0]}=1, {names[1]}=3 (process " in words
    assert "torch rank 0 of 3" not in words


def test_ranks_other_than_those_of_pmix_are_seen() -> None:
    assert run(2, checked_with, [{"PMIX_RANK": "0"}, {"PMIX_RANK": "1"}]) == [None, None]
    assert "PMIX_RANK=1" in the_same(run(2, checked_with, [{"PMIX_RANK": "1"}, {"PMIX_RANK": "0"}]))


@named
def test_a_world_without_some_of_the_processes_that_were_started_is_seen(names: tuple[str, str]) -> None:
    words = the_same(run(2, checked_with, [says(names, rank, 4) for rank in (0, 1)]))
    assert f"torch rank 1 of 2 was started as {names[0]}=1, {names[1]}=4 (process " in words


def test_processes_started_by_those_of_a_launcher_are_not_taken_for_them() -> None:
    assert run(3, checked_with, [says(SRUN, node, 2) for node in (0, 0, 1)]) == [None] * 3
    wrong = [{**says(SRUN, node, 2), **says(TORCHRUN, rank, 3)} for node, rank in ((0, 0), (0, 2), (1, 1))]
    assert "RANK=2, WORLD_SIZE=3" in the_same(run(3, checked_with, wrong))


def test_a_variable_that_is_no_number_is_told_on_every_rank() -> None:
    words = the_same(run(2, checked_with, [says(TORCHRUN, 0, 2), says(TORCHRUN, "one", 2)]))
    assert "torch rank 1 of 2 was started as RANK=one, WORLD_SIZE=2 (process " in words


def test_of_many_ranks_a_few_are_named() -> None:
    words = the_same(run(8, checked_with, [says(MPICH, 7 - rank, 8) for rank in range(8)]))
    assert "torch rank 3 of 8 " in words
    assert "torch rank 4 of 8 " not in words
    assert ", and 4 more; " in words


def test_two_crossed_jobs_that_are_named_are_seen_without_a_communicator() -> None:
    def of_jobs(*jobs: str) -> list[dict[str, str]]:
        return [{**says(OPEN_MPI, rank, 2), "PMIX_NAMESPACE": job} for rank, job in enumerate(jobs)]

    assert run(2, checked_with, of_jobs("first@1", "first@1")) == [None, None]
    words = the_same(run(2, checked_with, of_jobs("first@1", "second@1")))
    assert words.startswith("group has processes of 2 jobs, each of which has as many as torch's world: 'first@1' (")
    assert "'second@1' (" in words
