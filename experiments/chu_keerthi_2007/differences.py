"""Where Tables 2 and 3 differ from the paper's: explanations, and what is known about the two searches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from experiments.chu_keerthi_2007.protocol import DATA_SETS, FOLDS, Point
from experiments.items import Outcome
from experiments.results import expected, read

LEAST, MOST = 0.999e-3, 1.001e3  # C and kappa of the first grid
POINTS, PARTITIONS = 7 * 7 + 9 * 9, 20  # of the paper's search
TIMED = (100, 200, 500, 1000)  # samples of Figure 5 with the authors' program

LOWER = (
    "ours are lower: unexplained. It is not the reuse of parameters (below), and columns and sizes of the data are the "
    "paper's. The stated search was hardly within reach of the authors' program (below), so that a smaller one is a "
    "conjecture, made after the fact: with parameters sought among 500 rows errors here are above the paper's on "
    "california and like them on census, among 1,000 rows mostly below them (item search_size)."
)
LOWER_TOO = "ours are lower, as in table2: unexplained. What is known about it is said there."
SVR = "SVR's errors are lower than the paper's: unexplained, as on the other larger sets."
TIES = (
    "EXC and SLA have higher MAE than in the paper, while IMC agrees in both errors: unexplained. Equal targets lie on "
    "both sides of borders of ranks there (abalone has 28 values, a fifth of bank's are 0), and the paper does not say "
    "how they are shared out."
)


def spread_ratios(item: str) -> dict[tuple[str, str], float]:
    """The paper's deviation of the MAE over that of the zero-one error, line by line."""
    sd = {
        (c["dataset"], c["method"], c["metric"]): c["sd"] for c in expected("chu_keerthi_2007")["items"][item]["cells"]
    }
    return {(name, method): sd[name, method, "mae"] / sd[name, method, "zero_one"] for name, method, _ in sd}


def _abalone() -> str:
    ratios = [*spread_ratios("table2").values(), *spread_ratios("table3").values()]
    odd, *others = sorted(ratios)
    return (
        "the mean is unexplained, the distance in deviations perhaps a misprint: the paper's deviation of EXC's MAE, "
        f"0.005, is {odd:.2f} of that of its zero-one error, 0.015; in the {len(others)} other lines of Tables 2 and 3 "
        f"that ratio is {others[0]:.2f} at least. With 0.015 the mean would be within two deviations. EXC's MAE stays "
        "between 0.68 and 0.70 if equal targets are shared out at random or the nominal column is coded as one; with "
        "bins that keep equal targets together the zero-one error, 0.48, is too low. IMC agrees in both errors."
    )


def explanations(bins: int) -> dict[str, str]:
    """Of the data sets on which means here are more than two of the paper's deviations off."""
    if bins == 5:
        return {"california": LOWER, "census": LOWER, "bank": SVR, "abalone": _abalone()}
    return {"abalone": TIES, "bank": f"{TIES} {SVR}", "computer": SVR, "california": LOWER_TOO, "census": LOWER_TOO}


def is_inside(point: Point) -> bool:
    return bool(LEAST <= point["C"] <= MOST and LEAST <= 2 * point["gamma"] <= MOST)


def of_searches(beyond: Sequence[Outcome], nearest: Sequence[Outcome]) -> Iterator[str]:
    """Where the search left the first grid, and which of its points are like the paper."""
    places = [
        f"{p['dataset']} {p['method']} {p['metric']} (C = {p['C']:,.5g}, kappa = {p['kappa']:.2g}; {p['error']:.4f}, "
        f"inside {p['error_inside']:.4f})"
        for p in beyond
    ]
    if places:
        yield (
            "The second grid reaches beyond 10^-3 to 10^3; parameters found there, with their errors on the folds and "
            f"the least inside: {'; '.join(places)}."
        )
    points = [
        f"{p['dataset']} C = {p['C']:g}, kappa = {p['kappa']:g}, at most {p['largest_difference']:.3f} off"
        for p in nearest
    ]
    if points:
        yield (
            "The point of the 49 of the first grid whose errors on the folds are nearest to all of the paper's "
            f"means: {'; '.join(points)}."
        )


def of_first_partition(distances: Iterable[float]) -> Iterator[str]:
    """Whether parameters that were found in the first partition favour the others."""
    found = list(distances)
    if found:
        yield (
            "Sets that are tuned once: the first partition's test rows are the only ones that the search has not seen. "
            f"Its errors less the means of the other partitions, in deviations of those: {np.mean(found):+.2f} in the "
            f"mean of {len(found)} cells, from {min(found):+.1f} to {max(found):+.1f}."
        )


def of_cost() -> Iterator[str]:
    """What the stated search would cost with the authors' program, by the times of Figure 5."""
    days = {}
    rows = DATA_SETS["california"].n_training * (FOLDS - 1) // FOLDS
    figure5 = read("chu_keerthi_2007")["items"].get("figure5", {}).get("seconds", {})
    for method in ("EXC", "IMC"):
        timed = figure5.get(f"{method}, authors, 5", {})
        if not all(str(n) in timed for n in TIMED):
            return
        seconds = [float(timed[str(n)]) for n in TIMED]
        slope = float(np.polyfit(np.log(TIMED), np.log(seconds), 1)[0])
        fit = seconds[-1] * (rows / TIMED[-1]) ** slope
        days[method] = fit * POINTS * FOLDS * PARTITIONS / 86400
    yield (
        f"The stated search has {POINTS} points, {FOLDS} folds and {PARTITIONS} partitions, "
        f"{POINTS * FOLDS * PARTITIONS:,} fits a method. At the seconds of the authors' program (figure5: C = 100, "
        f"kappa = 1, 5 ranks, this machine; extrapolated to the {rows:,} rows of a fold of california) they would take "
        f"{days['EXC']:.0f} days of one core for EXC and {days['IMC']:.0f} for IMC."
    )
