"""Rows of the `aws` package: `CLOUD` in `provider`, one file of rows a concern."""

from simcloud.rows.aws.provider import CLOUD

__all__ = ["CLOUD"]
