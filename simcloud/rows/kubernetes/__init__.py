"""Rows of the `kubernetes` package: `CLOUD` in `provider`, objects and custom resources beside it."""

from simcloud.rows.kubernetes.provider import CLOUD

__all__ = ["CLOUD"]
