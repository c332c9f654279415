"""Bytes of a value at each precision, and the precision that a model's published weights are stored at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import get_args

from outlast.facts import ModelShape
from outlast.intent.models import Precision

GIB = 2**30
WIDTH_BYTES: Mapping[str, float] = MappingProxyType(
    {"bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0, "int4": 0.5, "mxfp4": 17 / 32}
)
"""Precision -> bytes of one weight. mxfp4 keeps one scale byte for 32 values of half a byte.

Source: OCP Microscaling Formats (MX) 1.0 for mxfp4. As of: 2023-09-07.
"""
KV_PRECISIONS = ("bf16", "fp16", "fp8")
"""What the engine stores keys and values as. Source: vLLM documentation, option --kv-cache-dtype. As of: 2026-11."""
PRECISIONS: tuple[str, ...] = get_args(Precision)

_STORED: Mapping[str, float] = MappingProxyType({"32 bit": 4.0, "16 bit": 2.0, "8 bit": 1.0, "4 bit": 17 / 32})
_LABEL_MARGIN_RATIO = 0.05
"""A size in a name is the label only this near to the parameter count: a 17B may name the active part."""


def stored_width(shape: ModelShape) -> tuple[str, float]:
    """Return name and bytes of the precision that the published weights are stored at.

    It is the one nearest to published bytes over parameters; without a parameter count, 16 bit.
    """
    if not shape.params_b:
        return "16 bit", _STORED["16 bit"]
    found = shape.weights_gib * GIB / (shape.params_b * 1e9)
    name = min(_STORED, key=lambda stored: abs(math.log(found / _STORED[stored])))
    return name, _STORED[name]


def labelled_params(shape: ModelShape) -> float:
    """Return the parameters that the model's name says, or those of facts if the name says none or others."""
    counted = (shape.params_b or 0.0) * 1e9
    for part in shape.model.split("-"):
        if part.endswith("B") and part[:-1].replace(".", "", 1).isdigit():
            label = float(part[:-1]) * 1e9
            if counted and abs(label / counted - 1) <= _LABEL_MARGIN_RATIO:
                return label
    return counted or shape.weights_gib * GIB / stored_width(shape)[1]


def stored_precision(shape: ModelShape) -> str:
    """Return the precision to serve a model at when nobody says: that of its published weights, 16 bit at most."""
    return {"8 bit": "fp8", "4 bit": "mxfp4"}.get(stored_width(shape)[0], "bf16")
