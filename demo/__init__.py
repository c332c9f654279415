"""The demonstration: the whole flow on the real engine and simulated clouds, one act a file.

May hold: acts and the stage they run on. Not: product code; an act runs the commands a user would type.
"""
