"""A region's bucket of signed model weights."""

from components.weights.contract import Weights, WeightsArgs, bucket_name, declare

__all__ = ["Weights", "WeightsArgs", "bucket_name", "declare"]
