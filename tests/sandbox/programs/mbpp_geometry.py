import math
from typing import List, NamedTuple, Tuple


class P(NamedTuple):
    x: float
    y: float

    def __sub__(self, o: "P") -> "P":
        return P(self.x - o.x, self.y - o.y)

    def cross(self, o: "P") -> float:
        return self.x * o.y - self.y * o.x


def convex_hull(points: List[P]) -> List[P]:
    """Monotone chain, counter-clockwise."""
    points = sorted(set(points))

    def half(seq):
        chain: List[P] = []
        for p in seq:
            while len(chain) > 1 and (chain[-1] - chain[-2]).cross(p - chain[-1]) <= 0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return half(points) + half(reversed(points))


def polygon_area(pts: List[Tuple[float, float]]) -> float:
    return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in zip(pts, pts[1:] + pts[:1]))) / 2


def triangle_area(a: float, b: float, c: float) -> float:
    """-1 when no such triangle exists."""
    if a + b <= c or a + c <= b or b + c <= a:
        return -1
    s = (a + b + c) / 2
    return round(math.sqrt(s * (s - a) * (s - b) * (s - c)), 2)


def haversine(lat1, lon1, lat2, lon2, radius=6371.0):
    p1, p2 = math.radians(lat1), math.radians(lat2)
    dp, dl = p2 - p1, math.radians(lon2 - lon1)
    h = math.sin(dp / 2) ** 2 + math.cos(p1) * math.cos(p2) * math.sin(dl / 2) ** 2
    return 2 * radius * math.asin(math.sqrt(h))


hull = convex_hull([P(0, 0), P(2, 0), P(1, 1), P(2, 2), P(0, 2), P(1, 0)])
assert hull == [(0, 0), (2, 0), (2, 2), (0, 2)] and polygon_area(hull) == 4.0
assert triangle_area(3, 4, 5) == 6.0 and triangle_area(1, 2, 10) == -1
assert round(haversine(48.8566, 2.3522, 51.5074, -0.1278)) == 344
assert math.dist((0, 0), (3, 4)) == 5.0 and round(math.degrees(math.atan2(1, 1))) == 45
assert math.isclose(math.sin(math.pi), 0, abs_tol=1e-12) and math.trunc(-1.7) == -1 and math.fsum([0.1] * 10) == 1.0
assert round(math.log(8, 2)) == 3 and math.log10(1000) == 3 and math.exp(0) == 1 and math.ceil(1.2) == 2
"ok"
