"""The CrossGuard policy pack: reads what the engine hands over into a view, runs the rules, reports violations.

May hold: the pack and its reader. Not: rules (outlast.rules); it decides nothing itself.
"""
