"""What an operator sends to a cloud to be granted more; one module a cloud, found by the cloud's name.

May hold: request texts. Not: who needs what (`outlast.operations.holdings`).
"""

from outlast.operations.requests.request import Ask, RequestText, requests_for

__all__ = ["Ask", "RequestText", "requests_for"]
