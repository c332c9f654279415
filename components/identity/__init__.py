"""Who a region's nodes are, and what they may read."""

from components.identity.contract import Identity, IdentityArgs, declare

__all__ = ["Identity", "IdentityArgs", "declare"]
