"""Quotas from what the clouds' command lines print, one reader a cloud.

May hold: readers, and the difference to what a fleet holds. Not: calls of clouds, requests for more.
"""

from outlast.ingest.quotas.amounts import Amounts
from outlast.ingest.quotas.holdings import QuotaChange, QuotaImport, changed_file, read_quotas

__all__ = ["Amounts", "QuotaChange", "QuotaImport", "changed_file", "read_quotas"]
