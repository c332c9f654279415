"""Keys and values of a sequence: what grows with every token, what is fixed, what tensor parallel repeats.

Grouped-query attention keeps 2 × layers × KV heads × head dimension values a token. Latent attention keeps one latent a
layer; sliding windows and chunks keep at most a window; layers with a linear state keep that state. What a model keeps
is a row of facts, at 16 bit; this module scales it to the KV precision and to the ranks of a replica.
"""

from __future__ import annotations

from dataclasses import dataclass

from outlast.errors import FactError, Problem
from outlast.facts import ModelShape
from outlast.replica.precision import WIDTH_BYTES


@dataclass(frozen=True)
class KvCache:
    """Bytes that sequences take, over all GPUs of a replica."""

    token_bytes: float
    """Growing part: bytes a token, copies on other ranks included."""
    fixed_bytes: float
    """Bounded part: bytes a sequence whose windows are full, or its state."""
    window_tokens: float
    """Tokens until the bounded part is full; 0 where it is a state that exists from the first token."""
    copies: float
    """Times that the ranks of a replica keep the same keys and values."""

    def sequence_bytes(self, context_tokens: float) -> float:
        """Return the bytes of one sequence of this length."""
        full = min(1.0, context_tokens / self.window_tokens) if self.window_tokens else 1.0
        return self.token_bytes * context_tokens + self.fixed_bytes * full


def kv_cache(shape: ModelShape, kv_precision: str, gpus: int) -> KvCache:
    """Return what sequences take at a KV precision on ``gpus`` tensor-parallel ranks.

    Raises:
        FactError: facts do not say what the model keeps.
    """
    growing, fixed = shape.growing_kv_bytes_per_token_16bit, shape.fixed_kv_bytes_per_sequence_16bit
    if growing is None or fixed is None:
        column = "growing_kv_bytes_per_token_16bit" if growing is None else "fixed_kv_bytes_per_sequence_16bit"
        raise FactError(
            Problem(
                where=f"facts/model_shapes.csv, {shape.model}",
                what="facts do not say what a sequence of this model keeps",
                do=f"Fill in {column} from the model's configuration, with its source",
            )
        )
    scale = WIDTH_BYTES[kv_precision] / WIDTH_BYTES["bf16"]
    copies = _copies(shape, gpus)
    # A linear state is computed in the type of the model, whatever the keys and values are stored as.
    state_scale = 1.0 if "linear" in shape.attention else scale
    return KvCache(
        token_bytes=growing * scale * copies,
        fixed_bytes=fixed * state_scale * copies,
        window_tokens=float(shape.window or 0),
        copies=copies,
    )


def _copies(shape: ModelShape, gpus: int) -> float:
    if shape.attention.startswith("mla"):
        return float(gpus)
    return max(1.0, gpus / shape.kv_heads) if shape.kv_heads else 1.0
