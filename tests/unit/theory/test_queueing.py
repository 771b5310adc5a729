"""Exact answers of queues and networks against printed digits, each other, and the laws they must keep."""

from __future__ import annotations

import pytest
from loadgo.theory import queueing
from loadgo.theory.populations import Class, Station
from support import networks, queues

EXACT = 2e-14
"""Relative: fifteen digits, and the last one rounded."""


def near(value: float) -> object:
    """Equal to all printed digits."""
    return pytest.approx(value, rel=EXACT)


def test_mm1_at_eight_tenths_is_four_customers_and_five_services() -> None:
    queue = queues.mm1(0.8, 1.0)
    assert (queue.queue, queue.response_s, queue.utilisation) == (near(4.0), near(5.0), 0.8)
    assert queues.mm1_quantile(0.8, 1.0, 0.95) == pytest.approx(14.97866136777, rel=1e-12)


@pytest.mark.parametrize(
    ("servers", "offered", "lost", "wait"),
    [
        (2, 1.6, 0.329896907216495, 0.711111111111111),
        (8, 7.0, 0.178821826545154, 0.635316017536429),
        (16, 15.0, None, 0.730075961086409),
    ],
)
def test_mmc_has_the_printed_chances_of_loss_and_wait(
    servers: int, offered: float, lost: float | None, wait: float
) -> None:
    assert lost is None or queues.erlang_b(servers, offered) == near(lost)
    assert queues.erlang_c(servers, offered) == near(wait)


def test_mmc_has_the_printed_waits_and_numbers() -> None:
    assert queues.mmc(1.6, 1.0, 2).waiting_s == near(1.77777777777778)
    assert queues.mmc(7.0, 1.0, 8).waiting_s == near(0.635316017536429)
    assert queues.mmc(7.0, 1.0, 8).queue == near(11.447212122755)
    assert queues.mmc(15.0, 1.0, 16).queue == near(25.9511394162961)


def test_a_finite_room_turns_away_the_printed_share() -> None:
    assert queues.mm1_full(0.9, 1.0, 5) == near(0.126022549988369)


@pytest.mark.parametrize(("scv", "waits"), [(0.0, 2.0), (0.5, 3.0), (1.0, 4.0), (4.0, 10.0)])
def test_mg1_waits_by_the_variation_of_its_service(scv: float, waits: float) -> None:
    assert queues.mg1(0.8, 1.0, scv).waiting_s == near(waits)
    assert queues.mg1_sharing(0.8, 1.0).response_s == near(5.0)


def test_priorities_have_the_printed_responses() -> None:
    first, second = queues.mm1_priorities([0.3, 0.5], 1.0, preemptive=True)
    assert (first, second) == (near(1.42857142857143), near(7.14285714285714))
    first, second = queues.mm1_priorities([0.3, 0.5], 1.0, preemptive=False)
    assert (first, second) == (near(2.14285714285714), near(6.71428571428571))


REPAIRMAN = [
    (10, 1, 0.961498873230074, 0.400428204773494),
    (34, 1, 2.9508277797381, 1.52219056410593),
    (50, 1, 3.3282234421395, 5.02302981432589),
    (50, 2, 4.74087672669446, 0.546572476450384),
    (100, 2, 6.66642189919995, 5.00055074702085),
]


@pytest.mark.parametrize(("users", "servers", "throughput", "response_s"), REPAIRMAN)
def test_the_repairman_has_the_printed_figures_by_two_roads(
    users: int, servers: int, throughput: float, response_s: float
) -> None:
    closed = queueing.repairman(users, 10.0, 0.3, servers)
    assert (closed.throughput, closed.response_s) == (near(throughput), near(response_s))
    network = networks.mean_values([Class("users", users, 10.0)], [Station("processor", (0.3,), servers)])
    assert (network.throughput[0], network.response_s[0]) == (near(throughput), near(response_s))


def test_a_constant_service_at_ctss_answers_ten_and_nineteen_users_as_printed() -> None:
    ten = queues.mg1_finite(10, 10.0, 0.157, queues.constant(0.157))
    nineteen = queues.mg1_finite(19, 10.0, 0.157, queues.constant(0.157))
    assert (round(ten.response_s, 4), round(nineteen.response_s, 4)) == (0.1696, 0.1869)
    assert queues.mg1_finite(60, 10.0, 0.157, queues.constant(0.157)).response_s == pytest.approx(0.602, rel=0.003)


def test_an_exponential_service_makes_a_finite_source_a_repairman() -> None:
    taken = queues.mg1_finite(60, 10.0, 0.157, queues.exponential(0.157))
    assert taken.throughput == near(5.53278522419172)
    assert taken.response_s == pytest.approx(0.844447700166299, rel=1e-12)
    assert queueing.repairman(60, 10.0, 0.157).response_s == pytest.approx(taken.response_s, rel=1e-12)


CENTRAL_SERVER = [
    (1, 0.0925925925925926, 0.8, 0.0277777777777778, 0.0555555555555556, 0.0185185185185185),
    (10, 0.919724096405893, 0.872825925816337, 0.275917228921768, 0.583178299490426, 0.219580736450642),
    (30, 2.58809435800348, 1.59154028029438, 0.776428307401045, 3.10428879196544, 1.01476762799973),
    (36, 2.95421852748634, 2.18596378874901, 0.886265558245903, 5.09805105921043, 1.35976366592613),
    (50, 3.31405733545761, 5.08724651955847, 0.994217200637282, 14.9290252013544, 1.93040144406955),
    (80, 3.33333313673154, 14.000001415533, 0.999999941019463, 44.6666722188806, 1.99999641380392),
]


@pytest.mark.parametrize(("users", "throughput", "response_s", "busy", "processor", "disk"), CENTRAL_SERVER)
def test_the_central_server_has_the_printed_figures(
    users: int, throughput: float, response_s: float, busy: float, processor: float, disk: float
) -> None:
    stations = [Station("processor", (0.6,), 2), Station("disk", (0.2,))]
    network = networks.mean_values([Class("users", users, 10.0)], stations)
    assert network.throughput[0] == near(throughput)
    assert network.response_s[0] == pytest.approx(response_s, rel=1e-13)
    assert network.stations["processor"].utilisation == near(busy)
    assert network.stations["processor"].queue[0] == pytest.approx(processor, rel=1e-13)
    assert network.stations["disk"].queue[0] == pytest.approx(disk, rel=1e-13)


def test_many_servers_lose_no_digits() -> None:
    network = networks.mean_values([Class("users", 300, 10.0)], [Station("processor", (1.0,), 64)])
    assert network.throughput[0] == near(queueing.repairman(300, 10.0, 1.0, 64).throughput)


def test_two_equal_classes_are_one_class_twice_as_large() -> None:
    two = [Class("a", 12, 5.0), Class("b", 18, 5.0)]
    split = networks.mean_values(two, [Station("processor", (0.3, 0.3), 2), Station("disk", (0.2, 0.2))])
    merged = networks.mean_values([Class("all", 30, 5.0)], [Station("processor", (0.3,), 2), Station("disk", (0.2,))])
    assert sum(split.throughput) == near(merged.throughput[0])
    assert split.response_s[0] == pytest.approx(split.response_s[1], rel=1e-12)
    assert split.response_s[0] == pytest.approx(merged.response_s[0], rel=1e-12)
    assert sum(split.stations["disk"].queue) == near(merged.stations["disk"].queue[0])


def test_every_network_keeps_the_operational_laws_and_its_bounds() -> None:
    classes = [Class("light", 15, 4.0), Class("heavy", 6, 12.0), Class("nobody", 0, 1.0)]
    stations = [
        Station("processor", (0.2, 1.5, 1.0), 2),
        Station("disk", (0.15, 0.4, 1.0)),
        Station("tape", (0.0, 0.3, 0.0)),
    ]
    network = networks.mean_values(classes, stations)
    for station in stations:
        visited = network.stations[station.name]
        busy = sum(
            queues.utilisation_law(x, d, station.servers)
            for x, d in zip(network.throughput, station.demands_s, strict=True)
        )
        assert visited.utilisation == near(busy)
        for rate, time_s, length in zip(network.throughput, visited.response_s, visited.queue, strict=True):
            assert queues.little(rate, time_s) == pytest.approx(length)
    for index, one in enumerate(classes[:2]):
        there = sum(visited.queue[index] for visited in network.stations.values())
        assert there + network.throughput[index] * one.think_s == pytest.approx(one.users)
        limits = queueing.bounds(
            one.users, one.think_s, [s.demands_s[index] for s in stations], [s.servers for s in stations]
        )
        assert network.throughput[index] <= limits.throughput
        assert network.response_s[index] >= limits.response_s
    assert network.throughput[2] == 0.0


def test_the_saturation_point_is_where_the_bounds_cross() -> None:
    limits = queueing.bounds(33.0, 10.0, [0.6, 0.2], [2, 1])
    assert limits.saturation_users == near(36.0)
    assert (limits.throughput, limits.response_s) == (near(33 / 10.8), near(0.8))


def test_switching_takes_its_part_of_what_round_robin_can_do() -> None:
    assert queues.round_robin_saturation(2, 2.0, 0.3, 0.1, 0.0) == near(2 / 0.6)
    assert queues.round_robin_saturation(1, 1.0, 0.3, 1e9, 0.1) == near(2.5)
    assert queues.round_robin_saturation(1, 1.0, 0.3, 0.03, 0.001) == near(
        1 / (0.3 + 0.001 / (1 - 2.718281828459045**-0.1))
    )


def test_a_flow_equivalent_server_is_the_station_that_it_stands_for() -> None:
    inner = [
        networks.mean_values([Class("in", n, 0.0)], [Station("a", (0.3,)), Station("b", (0.2,))]) for n in range(1, 21)
    ]
    limited = queueing.closed_station(20, 5.0, [network.throughput[0] for network in inner])
    whole = networks.mean_values([Class("all", 20, 5.0)], [Station("a", (0.3,)), Station("b", (0.2,))])
    assert limited.throughput == pytest.approx(whole.throughput[0], rel=1e-12)
    assert queueing.closed_station(20, 5.0, [inner[0].throughput[0]]).throughput < whole.throughput[0]


def test_an_overloaded_queue_and_an_empty_network_say_so() -> None:
    with pytest.raises(ValueError, match="grows without end"):
        queues.mm1(1.1, 1.0)
    with pytest.raises(ValueError, match="grows without end"):
        queues.mmc(4.0, 1.0, 4)
    with pytest.raises(ValueError, match="no station gives any service"):
        networks.mean_values([Class("a", 1, 1.0)], [Station("processor", (0.0,))])
    with pytest.raises(ValueError, match="too many"):
        networks.mean_values([Class("a", 1000, 1.0), Class("b", 1000, 1.0)], [Station("processor", (1.0, 1.0))])
