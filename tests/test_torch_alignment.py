"""Whether a solver's communicator and torch number the same processes alike, and torch started from a communicator."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import pytest
from launching import Job, mpiexec, torchrun

pytest.importorskip("torch")

import meshpart
import meshpart.torch as mt

PROGRAMS = Path(__file__).with_name("alignment_programs.py")


ALL = (0, 1, 2, 3)


class Outcomes:
    """What happened to each process of a job, by name."""

    def __init__(self, size: int, launcher: list[str], case: str, folder: Path) -> None:
        self.found = Job(launcher, size, PROGRAMS, case, folder).outcomes()
        assert len(self.found) == size

    def __getitem__(self, name: str) -> list[Any]:
        return [one[name] for one in self.found]

    def fine(self, name: str) -> bool:
        """Return whether no process raised."""
        return self[name] == [None] * len(self.found)

    def error(self, name: str, ranks: tuple[int, ...] = ALL) -> str:
        """Return the error, its class and its words, that must be the same on some ranks."""
        errors = [self[name][rank] for rank in ranks]
        assert None not in errors
        assert errors == errors[:1] * len(errors)
        return ": ".join(errors[0])


@pytest.fixture(scope="module")
def starting(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    return Outcomes(4, mpiexec(), "mpi_starting", tmp_path_factory.mktemp("job"))


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    return Outcomes(4, mpiexec(), "mpi_wrong", tmp_path_factory.mktemp("job"))


@pytest.fixture(scope="module")
def torchrun_alone(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    return Outcomes(4, torchrun(), "torchrun_without_mpi", tmp_path_factory.mktemp("job"))


@pytest.fixture(scope="module")
def torchrun_with_mpi(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    mpiexec()  # where that is not there, MPI is not
    return Outcomes(2, torchrun(), "torchrun_with_mpi", tmp_path_factory.mktemp("job"))


# -- torch started from a communicator -----------------------------------------------------------------------


def test_torch_started_from_a_communicator_has_its_ranks(starting: Outcomes) -> None:
    assert starting.fine("start")
    assert all(starting["rank"])
    assert starting["sum"] == [0 + 1 + 2 + 3] * 4
    assert starting.fine("aligned")
    assert starting.fine("aligned, again")
    assert starting.fine("aligned, no comm")


def test_starting_torch_from_a_communicator_sets_nothing_in_the_environment(starting: Outcomes) -> None:
    assert all(starting["environment"])


def test_torch_is_started_from_any_intracommunicator(starting: Outcomes, wrong: Outcomes) -> None:
    assert starting.fine("by itself")  # a copy of the world, the backend left out
    assert wrong.fine("two jobs")  # its halves, each with a world of torch
    assert wrong.fine("merged")


def test_torch_is_not_started_twice(starting: Outcomes) -> None:
    assert "torch.distributed is initialised already, as rank 0 of 4" in starting.error("start again")
    assert starting.fine("aligned, still")


def test_torch_that_runs_on_one_rank_is_an_error_on_all_and_stays_as_it_is(starting: Outcomes) -> None:
    words = starting.error("one initialised")
    assert words.startswith("AlignmentError: torch.distributed is initialised already, as rank 0 of 1: ")
    assert "(on rank 2 of 4 of comm, process " in words
    assert starting["initialised"] == [False, False, True, False]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("unknown backend", r"ArgumentError: backend must be one that torch has here, got 'glue' \(on rank 0 of 4 "),
        ("backend of no rank", r"ArgumentError: backend must be a name or None, got 3 \(on rank 0 .*, and 3 more\)"),
        ("backends unlike", "ArgumentError: backend must be the same on all ranks of comm, got cpu:gloo, gloo"),
        ("no timeout", r"ArgumentError: timeout must be .* above 0, or None, got .*\(0\) \(on rank 2 of 4 "),
        ("short timeout", r"AlignmentError: .*timed out"),
    ],
)
def test_what_torch_cannot_be_started_with_is_the_same_error_on_all_ranks(
    starting: Outcomes, name: str, words: str
) -> None:
    assert re.match(words, starting.error(name))
    assert all(starting["still not initialised"])


# -- a communicator against torch ----------------------------------------------------------------------------


def test_permuted_ranks_are_named_on_every_rank(wrong: Outcomes) -> None:
    words = wrong.error("permuted")
    assert words.startswith("AlignmentError: comm and torch number 4 of 4 processes differently: ")
    for rank in ALL:
        where = f"process {wrong['process'][rank]} on {socket.gethostname()}"
        assert f"rank {rank} of 4 of comm is torch rank {3 - rank} of 4 ({where}, " in words
    assert "init_process_group_from(comm)" in words


def test_a_communicator_in_the_order_of_torch_mends_permuted_ranks(wrong: Outcomes) -> None:
    assert "comm.Split(0, key=torch.distributed.get_rank(group))" in wrong.error("permuted")
    assert wrong.fine("permuted, mended")


def test_torch_that_is_not_initialised_is_named(starting: Outcomes) -> None:
    assert re.match(
        r"AlignmentError: torch.distributed is not initialised on 4 of the 4 processes of comm: rank 0 \(.*"
        r"; let torch take its ranks from comm",
        starting.error("not initialised"),
    )
    words = starting.error("one initialised, check")
    assert "is not initialised on 3 of the 4 processes" in words
    assert "rank 2 (" not in words
    assert starting.fine("not initialised, alone")  # COMM_SELF: a process alone, as torch without a world takes it


def test_processes_that_each_take_themselves_for_the_only_one_are_seen(wrong: Outcomes) -> None:
    words = wrong.error("each alone")
    assert words.startswith("AlignmentError: comm and torch differ in size: rank 0 of 4 of comm is torch rank 0 of 1 (")
    assert "let torch take its ranks from comm" in words
    assert wrong.fine("each alone, on purpose")  # MPI knows of the others


def test_processes_that_mpi_and_torch_both_take_for_the_only_one_are_seen(torchrun_with_mpi: Outcomes) -> None:
    assert torchrun_with_mpi["world"] == [1, 1]
    for name in ("nothing initialised", "each alone"):
        for rank in (0, 1):
            words = torchrun_with_mpi.error(name, (rank,))
            assert words.startswith("AlignmentError: more processes were started than MPI and torch know of: ")
            assert f"rank 0 of comm knows of 1 and was started as RANK={rank}, WORLD_SIZE=2 (process " in words


def test_processes_that_mpi_takes_for_the_only_one_are_seen(torchrun_with_mpi: Outcomes) -> None:
    for rank in (0, 1):
        words = torchrun_with_mpi.error("singletons", (rank,))
        assert f"rank 0 of 1 of comm is torch rank {rank} of 2 (" in words
        assert "start the program with the launcher of the MPI that mpi4py loads, as in mpiexec -n 2" in words


def test_communicators_of_another_size_than_the_group_are_refused(wrong: Outcomes) -> None:
    for rank in ALL:
        assert f"rank 0 of 1 of comm is torch rank {3 - rank} of 4 (" in wrong.error("comm of one", (rank,))
    for half in ((0, 1), (2, 3)):
        words = wrong.error("comm of a half", half)
        assert f"rank 1 of 2 of comm is torch rank {3 - half[1]} of 4 (" in words
        assert "hand in the communicator of the group's processes" in words


def test_a_group_and_the_communicator_of_its_processes_are_aligned(wrong: Outcomes) -> None:
    assert wrong.fine("group")
    assert wrong.fine("mesh")
    assert "number 1 of 2 processes differently" in wrong.error("other axis of the mesh", (0, 1))


def test_processes_of_comm_outside_the_group_are_named(wrong: Outcomes) -> None:
    words = wrong.error("group of some")
    assert words.startswith("AlignmentError: group is not one of all 4 processes of comm: rank 1: group: this process ")
    assert "rank 2: " in words
    assert "rank 0: " not in words
    assert "of one dimension, got 2" in wrong.error("two axes")


def test_what_is_no_group_is_an_argument_error_on_every_rank(wrong: Outcomes) -> None:
    assert wrong.error("no group") == "ArgumentError: group must be a ProcessGroup, a DeviceMesh or None, got str"


def test_groups_that_cross_communicators_are_seen_though_every_rank_is_right(wrong: Outcomes) -> None:
    words = wrong.error("crossed groups", (0, 2))
    assert "not in one group, that of torch's ranks [0, 2] in the world of rank 0 (" in words
    assert "rank 0 of comm handed in the group of [0, 3] (" in words
    assert "rank 1 of comm handed in the group of [1, 2] (" in words
    assert "that of torch's ranks [1, 3] in the world of rank 0 (" in wrong.error("crossed groups", (1, 3))


def test_crossed_jobs_are_seen_though_every_rank_is_right(wrong: Outcomes) -> None:
    for half in ((0, 1), (2, 3)):
        words = wrong.error("crossed", half)
        first, second = (wrong["process"][rank] for rank in half)
        assert words.startswith("AlignmentError: comm's processes have the right ranks, but not in one group, ")
        assert f"in the world of rank 0 (process {first} on " in words
        assert f"rank 1 of comm is in another world (process {second} on " in words


def test_a_crossed_job_does_not_wait_for_the_other(wrong: Outcomes) -> None:
    assert wrong.error("crossed, one job", (0, 1)) == wrong.error("crossed", (0, 1))
    assert wrong["crossed, one job"][2:] == [None, None]


def test_a_job_crossed_with_one_that_has_ended_is_told_so(tmp_path: Path) -> None:
    staying = Job(mpiexec(), 2, PROGRAMS, "mpi_left", tmp_path)
    Job(mpiexec(), 2, PROGRAMS, "mpi_leaving", tmp_path).outcomes()
    (staying.folder / "other ended").touch()
    errors = [found["crossed"] for found in staying.outcomes()]
    assert errors[0] == errors[1]
    assert errors[0][0] == "AlignmentError"
    assert re.search("rank 1 of comm (is in another world|cannot ask the store of its world, )", errors[0][1])


@pytest.mark.parametrize("name", ["module", "class", "null", "freed"])
def test_what_is_no_communicator_is_refused(wrong: Outcomes, name: str) -> None:
    for by_check, by_start in wrong[f"{name} as comm"]:
        assert by_check == by_start
        assert by_check[0] == "ArgumentError"
        assert "comm" in by_check[1]


def test_communicators_between_two_groups_are_refused(wrong: Outcomes) -> None:
    assert "comm must be an intracommunicator" in wrong.error("inter as comm")


def test_mpi_that_has_ended_is_not_asked(wrong: Outcomes) -> None:
    for errors in wrong["finalised"]:
        assert errors == [["ArgumentError", "comm cannot be asked: MPI is not initialised, or finalised already"]] * 2


@pytest.mark.parametrize("comm", [0, "comm", object(), dict])
def test_without_mpi4py_what_is_no_communicator_is_refused(comm: Any) -> None:
    with pytest.raises(meshpart.ArgumentError, match="comm must be a communicator of mpi4py, got "):
        mt.check_rank_alignment(comm)
    with pytest.raises(meshpart.ArgumentError, match="comm must be a communicator of mpi4py, got "):
        mt.init_process_group_from(comm)


# -- no communicator: torch against its launcher -------------------------------------------------------------


def test_torchrun_and_torch_are_aligned_without_mpi(torchrun_alone: Outcomes) -> None:
    assert torchrun_alone.fine("aligned")
    assert torchrun_alone.fine("group")
    assert torchrun_alone["mpi4py"] == [False] * 4


def test_ranks_that_are_not_those_of_torchrun_are_seen_on_every_rank(torchrun_alone: Outcomes) -> None:
    words = torchrun_alone.error("permuted")
    assert words.startswith("AlignmentError: torch.distributed does not fit the launcher: ")
    for rank in ALL:
        assert f"torch rank {(rank + 1) % 4} of 4 was started as RANK={rank}, WORLD_SIZE=4 (process " in words


@pytest.mark.parametrize("name", ["not initialised", "each alone"])
def test_each_of_several_processes_that_takes_itself_for_the_only_one_is_told_so(
    torchrun_alone: Outcomes, name: str
) -> None:
    for rank in ALL:
        words = torchrun_alone.error(name, (rank,))
        assert f"torch rank 0 of 1 was started as RANK={rank}, WORLD_SIZE=4" in words
        assert ("it is not initialised, and " in words) == (name == "not initialised")


def test_mpiexec_and_torch_are_compared_without_a_communicator(starting: Outcomes, wrong: Outcomes) -> None:
    assert starting.fine("aligned, no comm")
    assert "torch rank 3 of 4 was started as " in wrong.error("permuted, no comm")
    for rank in ALL:
        assert "it is not initialised" in starting.error("not initialised, no comm", (rank,))
        assert "torch rank 0 of 1 was started as " in wrong.error("each alone, no comm", (rank,))
