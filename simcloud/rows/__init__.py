"""The table: one module or folder a Pulumi package, named like it, each defining `CLOUD` with its rows."""
