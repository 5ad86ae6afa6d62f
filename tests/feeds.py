"""Ways to cut an input: whole, one by one, at random, with empty pieces; every vector of a stream goes through all of them."""

from itertools import pairwise

from hypothesis import strategies as st


def one_by_one(items):
    """Return the items as pieces of one."""
    return [items[i : i + 1] for i in range(len(items))]


def cut_at(items, places):
    """Return the pieces between the sorted places; equal places give empty pieces."""
    bounds = [0, *sorted(min(place, len(items)) for place in places), len(items)]
    return [items[a:b] for a, b in pairwise(bounds)]


def all_feeds(items):
    """Return a list of ways to cut `items` (str, bytes or list): whole, one by one, in twos and threes, halves, with empty pieces."""
    n = len(items)
    feeds = [[items], one_by_one(items), [items[i : i + 2] for i in range(0, n, 2)], [items[i : i + 3] for i in range(0, n, 3)]]
    feeds += [cut_at(items, [k]) for k in range(n + 1)] if n <= 12 else [cut_at(items, [n // 2])]
    feeds.append([piece for one in one_by_one(items) for piece in (items[:0], one, items[:0])])
    return feeds


@st.composite
def random_feeds(draw, items):
    """Draw pieces that join to what the strategy `items` gives."""
    whole = draw(items)
    return cut_at(whole, draw(st.lists(st.integers(0, max(len(whole), 1)), max_size=8)))
