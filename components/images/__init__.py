"""A region's registry of container images."""

from components.images.contract import Images, ImagesArgs, address, declare

__all__ = ["Images", "ImagesArgs", "address", "declare"]
