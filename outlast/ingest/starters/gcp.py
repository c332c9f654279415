"""A region on Google Cloud in a scaffolded fleet."""

CLOUD = "gcp"
ANSWERS_DNS = False
ACCOUNT = "{fleet}-inference"
"""A project id."""
ACCOUNT_NUMBER = '"222233334444"'
"""The project's number; this one belongs to nobody."""
ADMIN = "group:platform-admin@outlast.example"
FIRST = ((2, "eu-west", "europe-west4"),)
"""Place in the list of first regions, our name, the cloud's name."""
READ_QUOTAS = "gcloud quotas info list --service compute.googleapis.com --project {account} --format json"
"""Prints what `outlast import quotas` reads."""
