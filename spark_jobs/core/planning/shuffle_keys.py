"""Integers that Spark's hash partitioning sends to a partition of their own.

Spark puts a row into partition `pmod(murmur3(key, 42), n)`. With consecutive keys some partitions get several of them,
and others none: some tasks would write several outputs, one after the other, and others would write nothing. Nothing
depends on these keys but the balance of the tasks: rows are separated by the key itself.
"""

from __future__ import annotations

from functools import lru_cache

_MASK = 0xFFFFFFFF
#: The seed of Spark's `HashPartitioning`.
_SEED = 42


def hash_int(value: int, seed: int = _SEED) -> int:
    """Return what Spark's `Murmur3_x86_32.hashInt` returns for a non-negative integer, as a signed integer."""
    mixed = _multiply(_rotate(_multiply(value, 0xCC9E2D51), 15), 0x1B873593)
    hashed = (_multiply(_rotate(seed ^ mixed, 13), 5) + 0xE6546B64) & _MASK
    hashed ^= 4  # the length of an integer in bytes
    hashed = _multiply(hashed ^ (hashed >> 16), 0x85EBCA6B)
    hashed = _multiply(hashed ^ (hashed >> 13), 0xC2B2AE35)
    hashed ^= hashed >> 16
    return hashed - (1 << 32) if hashed >> 31 else hashed


@lru_cache(maxsize=64)
def partition_keys(partitions: int) -> tuple[int, ...]:
    """Return one key for each partition: Spark sends the key at position p to partition p of `partitions`."""
    seeds: dict[int, int] = {}
    key = 0
    while len(seeds) < partitions:
        seeds.setdefault(hash_int(key) % partitions, key)
        key += 1
    return tuple(seeds[partition] for partition in range(partitions))


def _multiply(left: int, right: int) -> int:
    return (left * right) & _MASK


def _rotate(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (32 - bits))) & _MASK
