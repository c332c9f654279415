"""Stand-in clouds for the real engine: one generic provider, one table, faults on demand.

May hold: the provider protocol (`provider`), what a cloud does (`operations`, `judge`), knows (`world`, `shapes`) and
holds (`state`), the table (`rows`), and the life of a sim directory (`life`, `home`, `environment`, `fleet_config`).
Imports outlast.{errors,facts,intent}, gRPC and the SDK's protocol; the SDKs themselves only to generate shapes.
"""

from simcloud.environment import environment, shell_exports, sim_directory

__all__ = ["environment", "shell_exports", "sim_directory"]
