"""A deployment as plain data: resource records, where each lies, and node pools, workloads and DNS records by name.

May hold: records, the readers of engine documents, one reader module a cloud. Not: what is allowed (rules), what it
costs (spend), and never an output of a resource.
"""

from outlast.view.places import Location, Place
from outlast.view.readers import after_preview, before_preview, from_export
from outlast.view.resource import (
    UNKNOWN,
    Resource,
    Unknown,
    Value,
    name_of,
    named_provider,
    normalise,
    provider_of,
    stack_of,
    type_of,
    value_at,
)
from outlast.view.view import NodePool, Record, View, Workload, is_built_in, view_of

__all__ = [
    "UNKNOWN",
    "Location",
    "NodePool",
    "Place",
    "Record",
    "Resource",
    "Unknown",
    "Value",
    "View",
    "Workload",
    "after_preview",
    "before_preview",
    "from_export",
    "is_built_in",
    "name_of",
    "named_provider",
    "normalise",
    "provider_of",
    "stack_of",
    "type_of",
    "value_at",
    "view_of",
]
