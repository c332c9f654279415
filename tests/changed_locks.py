"""Changes a lock in one place, to see who notices."""

from outlast.lock import Lock, LockPool, LockRegion


def with_block(lock: Lock, region: str, block: LockRegion | None) -> Lock:
    """The lock with another block of a region; None takes all of it away."""
    found = block or LockRegion(node_pools={}, pools={})
    return lock.model_copy(update={"regions": {**lock.regions, region: found}})


def with_pool(lock: Lock, region: str, key: str, pool: LockPool) -> Lock:
    """The lock with another pool."""
    block = lock.regions[region]
    return with_block(lock, region, block.model_copy(update={"pools": {**block.pools, key: pool}}))


def with_places(lock: Lock, region: str, key: str, row: str, more: int) -> Lock:
    """The lock with so many replicas more of a pool on a node pool row, or fewer."""
    pool = lock.regions[region].pools[key]
    places = {**pool.places, row: max(0, pool.places[row] + more)}
    return with_pool(lock, region, key, pool.model_copy(update={"places": places}))


def with_row(lock: Lock, region: str, key: str, more: int) -> Lock:
    """The lock with so many nodes more in a row, or fewer; none below 0."""
    block = lock.regions[region]
    row = block.node_pools[key]
    counts = {name: max(0, getattr(row.nodes, name) + more) for name in ("min", "expected", "max")}
    nodes = row.nodes.model_copy(update=counts)
    rows = {**block.node_pools, key: row.model_copy(update={"nodes": nodes})}
    return with_block(lock, region, block.model_copy(update={"node_pools": rows}))
