"""What one replica is: memory to concurrency, engine flags from the same record, waiting, cold start, goodput.

May hold: arithmetic of one replica and of a pool of equal ones, from facts and a model's record. Not: counts, places,
prices, locks, a solver.
"""

from outlast.replica.cold_start import STARTS, ColdStart, Start, Step, cold_start
from outlast.replica.explain import Line, arithmetic, lengths, notes
from outlast.replica.flags import Flags, command_line, engine_flags
from outlast.replica.fleet import SlowStart, adapters_of, misfits, part_of_partition, replica_of, slow_starts
from outlast.replica.goodput import records_for
from outlast.replica.kv import KvCache, kv_cache
from outlast.replica.memory import ReplicaMemory, least_gpus, memory_of, on_fewest_gpus, weights_bytes
from outlast.replica.partition import WHOLE, Part, part_of, parts_of
from outlast.replica.precision import KV_PRECISIONS, PRECISIONS, stored_precision
from outlast.replica.queueing import WaitTarget, erlang_c, least_replicas, usable_occupancy, wait_tail
from outlast.replica.spec import Accounting, Adapters, Replica, Task

__all__ = [
    "KV_PRECISIONS",
    "PRECISIONS",
    "STARTS",
    "WHOLE",
    "Accounting",
    "Adapters",
    "ColdStart",
    "Flags",
    "KvCache",
    "Line",
    "Part",
    "Replica",
    "ReplicaMemory",
    "SlowStart",
    "Start",
    "Step",
    "Task",
    "WaitTarget",
    "adapters_of",
    "arithmetic",
    "cold_start",
    "command_line",
    "engine_flags",
    "erlang_c",
    "kv_cache",
    "least_gpus",
    "least_replicas",
    "lengths",
    "memory_of",
    "misfits",
    "notes",
    "on_fewest_gpus",
    "part_of",
    "part_of_partition",
    "parts_of",
    "records_for",
    "replica_of",
    "slow_starts",
    "stored_precision",
    "usable_occupancy",
    "wait_tail",
    "weights_bytes",
]
