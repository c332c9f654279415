"""Providers with a literal place, one a region; credentials are ambient."""

from components.provider.contract import ProviderArgs, declare

__all__ = ["ProviderArgs", "declare"]
