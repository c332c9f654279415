"""What a scaffolded fleet needs to know of each cloud that the repository can deploy, one module a cloud.

May hold: example accounts and principals, first regions. Not: what is true of a cloud (facts).
"""
