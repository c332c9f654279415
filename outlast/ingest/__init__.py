"""What others know, brought into a fleet's files: a new fleet, demand, goodput, quotas, prices.

May hold: readers of other tools' files, and edits of our own that keep comments. Not: plans, prices of a plan, calls of
other programs or clouds. Nothing is overwritten unless the caller says so, and then whole or not at all.
"""
