"""What all files people write share: strict, frozen models, names, and the mark of a planner input."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints


class Strict(BaseModel):
    """Frozen, refuses unknown keys, takes its field descriptions from the docstrings below the fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


def planner_input(default: Any = ..., **keywords: Any) -> Any:
    """Declare a field whose value changes the plan; only these enter the digest of a lock."""
    return Field(default, json_schema_extra={"planner_input": True}, **keywords)


Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=32)]
"""Our own names: lower case, digits, single hyphens; they become labels and parts of host names."""
PoolId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]{0,7}$")]
"""Id of a node pool: short and from a letter on, because every cloud limits node pool names."""
Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
"""Content address; a tag is refused because it can move."""
