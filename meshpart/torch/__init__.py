"""meshpart.torch: what a training job on N processes needs to get what a serial run would give."""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    from meshpart.errors import MissingDependencyError

    raise MissingDependencyError("meshpart.torch needs torch: pip install 'meshpart[torch]'") from error

from meshpart.torch.alignment import check_rank_alignment
from meshpart.torch.attach import attach_halo
from meshpart.torch.checkpoints import PerRank, load_full_checkpoint, save_full_checkpoint
from meshpart.torch.dataset import PartDataset, Turn
from meshpart.torch.graph import part_graph
from meshpart.torch.halo import Halo
from meshpart.torch.loss import part_loss
from meshpart.torch.rendezvous import init_process_group_from
from meshpart.torch.replicas import assert_replicated, sync_module
from meshpart.torch.samplers import DomainSampler, PartSampler
from meshpart.torch.self_test import check_gradients

__all__ = [
    "DomainSampler",
    "Halo",
    "PartDataset",
    "PartSampler",
    "PerRank",
    "Turn",
    "assert_replicated",
    "attach_halo",
    "check_gradients",
    "check_rank_alignment",
    "init_process_group_from",
    "load_full_checkpoint",
    "part_graph",
    "part_loss",
    "save_full_checkpoint",
    "sync_module",
]
