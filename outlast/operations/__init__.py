"""What a fleet's operators do around a deployment: holdings against what is granted, preflight, requests for more.

May hold: arithmetic over intent, lock and what is applied, checks before a deployment, objects as files, and one module
a cloud of request texts and of policy documents. Not: plans (planner), survival (proof), or wording of the terminal.
"""

from outlast.operations.findings import Check, Finding, Situation, Verdict
from outlast.operations.holdings import QuotaUse, quota_uses
from outlast.operations.permissions import Document, documents_for
from outlast.operations.preflight import CHECKS, preflight
from outlast.operations.render import Change, Rendered, change_of, rendered
from outlast.operations.requests import RequestText, requests_for

__all__ = [
    "CHECKS",
    "Change",
    "Check",
    "Document",
    "Finding",
    "QuotaUse",
    "Rendered",
    "RequestText",
    "Situation",
    "Verdict",
    "change_of",
    "documents_for",
    "preflight",
    "quota_uses",
    "rendered",
    "requests_for",
]
