"""Declarations of cloud resources: one folder a role, `contract.py` beside one module a cloud.

May hold: what a role promises, how each cloud keeps the promise, and the physical names. Not: sizes, placement or
residency (they arrive decided), engine configuration, calls to a cloud.
"""
