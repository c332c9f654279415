"""Rows of the `azure-native` package: `CLOUD` in `provider`, one file of rows a concern."""

from simcloud.rows.azure.provider import CLOUD

__all__ = ["CLOUD"]
