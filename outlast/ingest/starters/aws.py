"""A region on AWS in a scaffolded fleet."""

CLOUD = "aws"
ANSWERS_DNS = True
ACCOUNT = '"111122223333"'
"""The twelve digits of an account; this one belongs to nobody."""
ADMIN = "arn:aws:iam::111122223333:role/platform-admin"
FIRST = ((1, "us-east", "us-east-1"), (3, "eu-north", "eu-north-1"))
"""Place in the list of first regions, our name, the cloud's name."""
READ_QUOTAS = "aws service-quotas list-service-quotas --service-code ec2 --region {region} --output json"
"""Prints what `outlast import quotas` reads."""
