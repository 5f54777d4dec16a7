"""The cost model of data-parallel training: closed forms, laws, and what it must not promise."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.errors import InputError
from chainrule.training import cost_model
from chainrule.training.cost_model import (
    Network,
    Work,
    all_gather,
    all_reduce,
    ddp_step,
    efficiency,
    fsdp_step,
    most_useful,
    reduce_scatter,
    sent,
)

ETHERNET = Network(gigabits=1.0, latency=1e-4, overhead=5e-5)
WORK = Work(
    forward=0.1, backward=0.2, update=0.01, buckets=((0.5, 10**6), (1.0, 10**7)), units=(10**6,) * 3
)
LINKS = st.builds(
    Network, gigabits=st.floats(0.01, 400), latency=st.floats(0, 0.1), overhead=st.floats(0, 1e-3)
)


def test_a_byte_takes_eight_bits_and_a_hop_two_latencies() -> None:
    assert ETHERNET.beta == pytest.approx(8e-9)
    assert ETHERNET.alpha == pytest.approx(2.5e-4)
    assert ETHERNET.hop(0) == ETHERNET.alpha
    assert ETHERNET.hop(10**6) == pytest.approx(16e-3)  # both segments are on the line
    assert ETHERNET.hop(1000) == pytest.approx(2.5e-4 + 8e-6)  # the line is idle in between


@pytest.mark.parametrize("k", [2, 3, 8, 1024])
def test_few_bytes_take_the_latency_of_every_hop(k: int) -> None:
    assert all_reduce(4, k, ETHERNET) == pytest.approx(2 * (k - 1) * ETHERNET.alpha, rel=1e-3)
    assert all_gather(4, k, ETHERNET) == pytest.approx((k - 1) * ETHERNET.alpha, rel=1e-3)


@pytest.mark.parametrize("k", [2, 3, 8, 1024])
def test_many_bytes_take_two_times_k_minus_1_of_k_of_the_line(k: int) -> None:
    n = 10**9
    assert all_reduce(n, k, ETHERNET) == pytest.approx(2 * (k - 1) / k * n * ETHERNET.beta)
    assert all_reduce(n, k, ETHERNET) == pytest.approx(sent(n, k) * ETHERNET.beta)
    assert all_gather(n, k, ETHERNET) == pytest.approx((k - 1) / k * n * ETHERNET.beta)
    assert reduce_scatter(n, k, ETHERNET) == all_reduce(n, k, ETHERNET)


def test_segments_of_a_mebibyte_wait_for_a_long_line() -> None:
    """64 MiB on 4 processes are 16 segments each; two of them are under way at once."""
    long = Network(gigabits=100.0, latency=0.01)
    hop = 0.02 + 2**20 * long.beta
    assert all_reduce(2**26, 4, long) == pytest.approx(2 * 3 * 16 / 2 * hop)


@given(st.integers(1, 2**30), st.integers(2, 1024), LINKS)
def test_the_ring_lies_between_its_parts_and_their_sum(n: int, k: int, link: Network) -> None:
    segments = max(2, math.ceil(math.ceil(n / cost_model.SEGMENT) / k))
    latency = (k - 1) * segments * link.alpha
    line = sent(n, k) * link.beta
    assert max(latency, line) * (1 - 1e-9) <= all_reduce(n, k, link)


def test_one_process_sends_nothing() -> None:
    assert all_reduce(10**6, 1, ETHERNET) == all_gather(10**6, 1, ETHERNET) == 0
    assert ddp_step(WORK, 1, ETHERNET) == fsdp_step(WORK, 1, ETHERNET) == WORK.seconds
    assert efficiency(WORK, 1, ETHERNET) == efficiency(WORK, 1, ETHERNET, strong=True) == 1


def test_a_bucket_travels_while_the_backward_pass_goes_on() -> None:
    first, last = (all_reduce(size, 2, ETHERNET) for _, size in WORK.buckets)
    assert first < 0.1  # it is through before the second is complete
    assert ddp_step(WORK, 2, ETHERNET) == pytest.approx(0.1 + 0.2 + last + 0.01)
    hidden = Work(forward=0.1, backward=0.2, update=0.01, buckets=((0.5, 10**6),))
    assert ddp_step(hidden, 2, ETHERNET) == pytest.approx(hidden.seconds)


def test_a_bucket_waits_for_the_one_before() -> None:
    work = Work(forward=0.1, backward=0.2, update=0.0, buckets=((0.5, 10**8), (0.6, 10**8)))
    each = all_reduce(10**8, 2, ETHERNET)
    assert ddp_step(work, 2, ETHERNET) == pytest.approx(0.1 + 0.1 + 2 * each)


def test_two_sums_share_the_latency_but_not_the_line() -> None:
    """Three buckets of few bytes take two turns of the ring, since two are under way at once."""
    buckets = ((1.0, 1000),) * 3
    work = Work(forward=0.1, backward=0.2, update=0.0, buckets=buckets)
    turn = all_reduce(1000, 8, ETHERNET)
    assert ddp_step(work, 8, ETHERNET) == pytest.approx(0.3 + 2 * turn, rel=1e-3)


def test_what_the_software_takes_from_the_backward_pass_is_added_to_it() -> None:
    """4 s of line and 1 s of work for it, of 5 s that are left: 5 + 4 + 2."""
    size = 10**8
    link = Network(gigabits=size * 8 / 4e9, latency=0.0, tax=1 / size)
    work = Work(forward=0.0, backward=10.0, update=0.0, buckets=((0.5, size),))
    assert all_reduce(size, 2, link) == pytest.approx(4)
    assert ddp_step(work, 2, link) == pytest.approx(11)


def test_sums_that_everyone_waits_for_are_added() -> None:
    work = Work(forward=0.1, backward=0.2, update=0.0, buckets=(), blocking=(256,) * 40)
    waits = 40 * all_reduce(256, 8, ETHERNET)
    assert ddp_step(work, 8, ETHERNET) == pytest.approx(0.3 + waits)


def test_fsdp_gathers_twice_and_reduces_once() -> None:
    gather, reduce = all_gather(10**6, 4, ETHERNET), reduce_scatter(10**6, 4, ETHERNET)
    assert fsdp_step(WORK, 4, ETHERNET) == pytest.approx(WORK.seconds + 5 * gather + 3 * reduce)


@given(st.integers(2, 1024), LINKS, st.booleans(), st.booleans())
def test_more_bandwidth_and_less_latency_never_hurt(
    k: int, link: Network, strong: bool, sharded: bool
) -> None:
    better = Network(gigabits=2 * link.gigabits, latency=link.latency / 2, overhead=link.overhead)
    before = efficiency(WORK, k, link, strong, sharded)
    after = efficiency(WORK, k, better, strong, sharded)
    assert 0 < before <= after * (1 + 1e-9) <= 1 + 1e-6


def test_strong_scaling_divides_the_passes_but_not_the_update() -> None:
    free = Network(gigabits=1e9, latency=0.0)
    assert efficiency(WORK, 4, free) == pytest.approx(1, rel=1e-4)
    ideal = WORK.seconds / 4
    assert efficiency(WORK, 4, free, strong=True) == pytest.approx(ideal / (0.3 / 4 + 0.01), 1e-4)


def test_the_most_useful_number_is_the_largest_that_pays() -> None:
    best = most_useful(WORK, ETHERNET, least=0.5, strong=True)
    assert efficiency(WORK, best, ETHERNET, strong=True) >= 0.5
    assert efficiency(WORK, 2 * best, ETHERNET, strong=True) < 0.5
    assert most_useful(WORK, Network(gigabits=1e-6, latency=0.0)) == 1


def test_numbers_out_of_range_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="`gigabits` must be above 0, got 0"):
        Network(gigabits=0.0, latency=0.0)
    with pytest.raises(InputError, match="`latency` must be at least 0, got -1"):
        Network(gigabits=1.0, latency=-1.0)
    with pytest.raises(InputError, match="`processes` must be at least 1, got 0"):
        ddp_step(WORK, 0, ETHERNET)
    with pytest.raises(InputError, match="`units` is empty"):
        fsdp_step(Work(forward=1.0, backward=1.0, update=0.0, buckets=()), 2, ETHERNET)
