"""What people read: the spend comment and proofs, as Markdown or as rows that a renderer prints.

May hold: words, order and rounding. Not: arithmetic of its own beyond sums, colours, or where the text goes.
"""

from outlast.report.markdown import spend_comment
from outlast.report.proof import MarginRow, margin_rows, rows_of_loss
from outlast.report.spend import SpendReport, ranged, usd

__all__ = ["MarginRow", "SpendReport", "margin_rows", "ranged", "rows_of_loss", "spend_comment", "usd"]
