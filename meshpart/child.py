"""Another Python process with this one's modules, for what may print or crash."""

from __future__ import annotations

import json
import sys
from multiprocessing.spawn import get_executable

SAME_MODULES = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
"""


def command(code: str, *arguments: str) -> list[str]:
    """Return the command line of a process that finds the modules that this one finds, and runs `code`.

    Its sys.argv has the arguments from place 2 on.
    """
    search_path = json.dumps([entry for entry in sys.path if isinstance(entry, str)])
    return [get_executable(), "-I", "-c", SAME_MODULES + code, search_path, *arguments]
