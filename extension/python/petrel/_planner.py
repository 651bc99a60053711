# SPDX-License-Identifier: Apache-2.0
"""Planners of memory that are functions of Python."""

import json
from typing import Any, Callable, Dict, Mapping, Optional, Tuple

# Gets the problem, {"pools": [...], "buffers": [{"id", "size", "alignment", "lower", "upper",
# "conflicts", "pools", ...}]}, and returns {"buffers": [{"id", "pool", "offset"}]}. Petrel checks it.
Planner = Callable[[Dict[str, Any]], Any]


def split_planner(options: Mapping[str, Any]
                  ) -> Tuple[Optional[Callable[[str], str]], Mapping[str, Any]]:
    """A planner that is a function, as one of JSON, or None; and the other options."""
    planner = options.get("planner")
    if not callable(planner):
        return None, options
    if options.get("planner-command") is not None:
        raise ValueError("planner is a function, and planner_command is given, too")

    def answer(request: str) -> str:
        return json.dumps(planner(json.loads(request)))

    return answer, {**options, "planner": None}
