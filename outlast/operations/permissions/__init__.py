"""What the deploying identity of each account must be allowed; one module a cloud, found by the cloud's name.

May hold: policy documents made of ``config/facts/permissions.csv``. Not: which resources a stack declares (components),
who is allowed what today (the clouds).
"""

from outlast.operations.permissions.document import Deployer, Document, Granted, Site, documents_for

__all__ = ["Deployer", "Document", "Granted", "Site", "documents_for"]
