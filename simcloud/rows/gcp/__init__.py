"""Rows of the `gcp` package: `CLOUD` in `provider`, one file of rows a concern."""

from simcloud.rows.gcp.provider import CLOUD

__all__ = ["CLOUD"]
