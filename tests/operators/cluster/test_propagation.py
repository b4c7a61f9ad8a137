"""Label propagation: a new node's single step, complete runs, and independence of the order within a window."""

from hypothesis import given
from hypothesis import strategies as st

from operators.cluster.propagation import Pair, communities_of

TWO_HUBS: list[Pair] = [*(("ann", f"a{each}") for each in range(4)), *(("paul", f"p{each}") for each in range(4)), ("ann", "paul")]
NODES = st.sampled_from("abcdefghijkl")
WINDOWS = st.lists(st.lists(st.tuples(NODES, NODES), max_size=8), max_size=6)


def groups(*windows: list[Pair]) -> list[set[str]]:
    return [set(each) for each in communities_of(windows)]


def test_a_new_node_joins_most_of_its_neighbours() -> None:
    known: list[Pair] = [("ann", "bergen"), ("ann", "acme")]
    other: list[Pair] = [("paul", "lyon"), ("paul", "chess")]
    assert groups(known, other) == [{"ann", "bergen", "acme"}, {"paul", "lyon", "chess"}]
    joined = groups(known, other, [("eva", "paul"), ("eva", "chess"), ("eva", "ann")])
    assert joined == [{"ann", "bergen", "acme"}, {"paul", "lyon", "chess", "eva"}]


def test_a_tie_is_resolved_for_the_older_community() -> None:
    pairs: list[list[Pair]] = [[("paul", "lyon")], [("ann", "bergen")], [("eva", "ann"), ("eva", "paul")]]
    assert groups(*pairs) == [{"lyon", "paul", "eva"}, {"ann", "bergen"}]


def test_a_known_node_is_kept_until_the_next_run() -> None:
    apart: list[list[Pair]] = [[("ann", "bergen")], [("paul", "lyon")]]
    assert groups(*apart, [("ann", "paul"), ("ann", "lyon")]) == [{"ann", "bergen"}, {"paul", "lyon"}]


def test_a_complete_run_corrects_single_steps() -> None:
    assert groups(TWO_HUBS[:4], TWO_HUBS[8:], TWO_HUBS[4:7]) == [
        {"ann", "a0", "a1", "a2", "a3"},
        {"paul", "p0", "p1", "p2"},
    ], "Paul arrived as a neighbour of Ann, and has friends of his own by now"


def test_a_loop_is_a_community_of_one() -> None:
    assert groups([("ann", "ann")]) == [{"ann"}]


@given(WINDOWS, st.randoms())
def test_order_within_a_window_does_not_matter(windows: list[list[Pair]], random: object) -> None:
    shuffled = [[pair if random.random() < 0.5 else pair[::-1] for pair in random.sample(each, len(each))] for each in windows]  # type: ignore[attr-defined]
    assert communities_of(shuffled) == communities_of(windows)


@given(WINDOWS)
def test_each_node_has_one_community(windows: list[list[Pair]]) -> None:
    found = [node for group in communities_of(windows) for node in group]
    assert sorted(found) == sorted({node for pairs in windows for pair in pairs for node in pair})


@given(WINDOWS)
def test_a_community_does_not_leave_its_component(windows: list[list[Pair]]) -> None:
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        while parent.setdefault(node, node) != node:
            node = parent[node]
        return node

    for one, other in (pair for pairs in windows for pair in pairs):
        parent[root(one)] = root(other)
    assert all(len({root(each) for each in group}) == 1 for group in communities_of(windows))
