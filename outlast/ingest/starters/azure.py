"""A region on Azure in a scaffolded fleet."""

CLOUD = "azure"
ANSWERS_DNS = False
ACCOUNT = "11111111-2222-3333-4444-555555555555"
"""A subscription id; this one belongs to nobody."""
ADMIN = "66666666-7777-8888-9999-000000000000"
"""Object id of a group in the directory."""
FIRST = ((4, "eu-central", "polandcentral"),)
"""Place in the list of first regions, our name, the cloud's name."""
READ_QUOTAS = "az vm list-usage --location {region} --subscription {account} --output json"
"""Prints what `outlast import quotas` reads."""
