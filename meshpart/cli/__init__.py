"""The command line: results on stdout, everything else on stderr, exit code 2 for bad input."""

from __future__ import annotations

import signal
import sys
import warnings

import click

from meshpart.cli.compare import compare_command
from meshpart.cli.cut import labels_command, partition_command
from meshpart.cli.picture import plot_command
from meshpart.cli.report import info_command, quality_command
from meshpart.cli.terminal import leave_stdout, prepare_streams, say, show_warning
from meshpart.cli.way_back import merge_command
from meshpart.errors import MeshpartError
from meshpart.version import __version__

BAD_INPUT = 2
INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM


class _Terminated(BaseException):
    """Raised where SIGTERM arrives; no reader takes it for its own failure, as it would a SystemExit."""


def main() -> None:
    """Run the command line and exit with its code."""
    prepare_streams()
    warnings.showwarning = show_warning  # type: ignore[assignment]
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(_run())


def _run() -> int:
    """Run the command line and return its exit code."""
    try:
        code = commands(prog_name="meshpart", standalone_mode=False)
    except click.ClickException as error:
        say(f"error: {error.format_message()}")
        return BAD_INPUT
    except click.Abort:
        say("interrupted")
        return INTERRUPTED
    except _Terminated:
        say("terminated")
        return TERMINATED
    except (MeshpartError, MemoryError) as error:
        say(f"error: {error or 'out of memory'}")
        return BAD_INPUT
    except OSError as error:  # of stdout: the library's own say which file
        leave_stdout()
        say(f"error: cannot print the result: {error.strerror}")
        return BAD_INPUT
    return code if isinstance(code, int) else 0


@click.group(no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="meshpart")
def commands() -> None:
    """Cut meshes into exactly N parts, and say what is in them."""


for _command in (
    partition_command,
    labels_command,
    quality_command,
    compare_command,
    merge_command,
    plot_command,
    info_command,
):
    commands.add_command(_command)


def _terminate(*_: object) -> None:
    raise _Terminated
