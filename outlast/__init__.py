"""Outlast's pure core and command line: facts, intent, plan, proof, rules, spend.

Nothing here imports Pulumi, a cloud SDK, or the packages that declare resources; every module works without an engine
and without an account.
"""
