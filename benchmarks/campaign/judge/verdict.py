"""Whether what a trained model claims is true.

Claims that are judged, whatever the status: α is feasible, β is that of α, the objective is the model's, the gap is
not larger than claimed, scores and predictions follow from the model. Where the status is "converged" also: relative
gap and violation are within tol. On small problems the optimum lies between dual and primal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.campaign.judge import optimum as clarabel
from benchmarks.campaign.judge.kernel_values import Extended, extended, gamma_of, kernel_matrix
from benchmarks.campaign.judge.predictions import wrong_predictions
from benchmarks.campaign.judge.proof import EQUAL, Proof, Scored, beta_of, prove
from benchmarks.campaign.judge.tables import Table, tables_of

CLOSE = 1e-6  # relative differences below this are not held against a claim
FLOAT64_ROUNDINGS = 64  # of a score in float64, as a multiple of ε · max |k| · Σ|β|
LEAST_ROUNDINGS = 4  # the same of the least that a proof allows for, besides √d + ½√n (docs/rounding.md)
LEAST_SCALE = 1e-290  # of objectives that are not 0
FLOAT32_BOUNDS = 1e-6  # by which a variable that a linear machine keeps in float32 may be beyond its cap
FLOAT32_SCORES = 1e-5  # the same of scores that prediction sums from float32 values


def judge(answer: dict[str, Any]) -> dict[str, Any]:
    """The reasons why the answer is wrong, none where it is right, and the judge's own numbers."""
    try:
        tables = tables_of(answer)
    except ValueError as error:
        return {"reasons": [str(error)]}
    court = _Court(answer, tables)
    return {"reasons": court.reasons(), "proofs": [vars(proof) for proof in court.proofs], **court.numbers}


class _Court:
    """One answer before the judge: its tables, the numbers of its model, and what speaks against it."""

    def __init__(self, answer: dict[str, Any], tables: list[Table]) -> None:
        self.answer, self.tables = answer, tables
        self.X = extended(answer["X"])
        self.complaints: list[str] = []
        self.K = self._kernel_matrix()
        self.largest = float(np.abs(np.diagonal(self.K)).max())
        self.numbers: dict[str, Any] = {"largest": self.largest, "slack": 0.0, "least_rounding": 0.0}
        self.alphas = self._alphas()
        self.proofs: list[Proof] = []
        self.slack: list[float] = []  # what rounding in float64 may do to the objectives of a problem
        self.rounding = 0.0  # and to scores

    def reasons(self) -> list[str]:
        if self.complaints:
            return self.complaints
        for place, (table, alpha) in enumerate(zip(self.tables, self.alphas, strict=True)):
            self._prove(place, table, alpha)
        self._check_claims()
        self._check_predictions()
        self._check_optimum()
        return self.complaints

    # The model's numbers

    def _kernel_matrix(self) -> np.ndarray:
        answer = self.answer
        if answer["precomputed"]:
            return self.X
        kernel = dict(answer["kernel"])
        if "gamma" in kernel:
            own = gamma_of(answer["parameters"]["gamma"], self.X)
            if abs(own - kernel["gamma"]) > 1e-9 * abs(own):
                self.complaints.append(f"gamma is {kernel['gamma']!r} where {own!r} is meant")
        return kernel_matrix(kernel, self.X, self.X)

    def _alphas(self) -> list[np.ndarray]:
        """α of every problem, in the order of its table."""
        given, sizes = self.answer["alpha"], [len(table) for table in self.tables]
        if not self.answer["linear"]:
            if len(given) != sum(sizes):
                self.complaints.append(f"alpha has {len(given)} numbers for {sum(sizes)} hinges")
                return []
            return np.split(given, np.cumsum(sizes)[:-1])
        lanes = len(self.tables) > 1
        return [_of_linear(table, given[:, [place]] if lanes else given) for place, table in enumerate(self.tables)]

    def _prove(self, place: int, table: Table, alpha: np.ndarray) -> None:
        if self.answer["linear"] and not table.squared:
            alpha = self.alphas[place] = _in_box(alpha, table)
        beta = beta_of(table, alpha)
        b = self.answer["b"][place]
        if self.answer["linear"]:  # by way of Σ β x: products of large features lose its digits
            w, sums = self.answer["coef"][place].astype(Extended), beta @ self.X
            scored = Scored((w**2).sum(), self.X @ w, (sums**2).sum(), self.X @ sums)
            self.slack.append(self._linear_slack(table, beta, w))
        else:
            own = self.answer["beta"][place]
            if np.abs(own - beta).max() > EQUAL * max(float(np.abs(alpha).max(initial=0.0)), 1e-300):
                self.complaints.append("dual_coef_ is not that of alpha")
            score, own_score = self.K @ beta, self.K @ own.astype(Extended)
            scored = Scored(own @ own_score, own_score, beta @ score, score)
            rounding = FLOAT64_ROUNDINGS * np.finfo(float).eps * self.largest * float(np.abs(beta).sum())
            self.rounding = max(self.rounding, rounding)
            self.slack.append(rounding * float((table.cap + np.abs(alpha)).sum()))
        self.proofs.append(prove(table, alpha, b, scored))
        if self.proofs[-1].infeasible > EQUAL:
            self.complaints.append(f"alpha is infeasible by {self.proofs[-1].infeasible:.2g}")

    def _linear_slack(self, table: Table, beta: np.ndarray, w: np.ndarray) -> float:
        """Of the losses by the rounding of w·x, and of ‖w‖² by that of the sum w = Σ β x, and of β and its caps."""
        absolute = np.abs(self.X)
        scores, sums = absolute @ np.abs(w), np.abs(beta) @ absolute
        loss = np.maximum(1.0, 2 * np.abs(table.offset) + 2 * scores[table.sample]) if table.squared else 1.0
        losses = (table.cap * loss * (scores[table.sample] + np.abs(table.offset))).sum()
        unit = FLOAT64_ROUNDINGS * np.finfo(float).eps
        return unit * float(losses + sums @ np.abs(w)) + 0.5 * unit**2 * float(sums @ sums)

    # What is checked

    def _check_claims(self) -> None:
        claims = self.answer["claims"]
        groups = [[place] for place in range(len(self.proofs))]
        if len(claims) != len(self.proofs):
            groups = [list(range(len(self.proofs)))]
        for claim, group in zip(claims, groups, strict=True):
            proofs = [self.proofs[place] for place in group]
            primal, dual = sum(proof.primal for proof in proofs), sum(proof.dual for proof in proofs)
            scale = max(abs(primal), abs(dual))
            slack = sum(self.slack[place] for place in group) + CLOSE**2 * scale
            share = slack / scale if scale > LEAST_SCALE else 0.0
            self.numbers["slack"] = max(self.numbers["slack"], share)
            least = max(self._least_rounding(self.tables[place]) for place in group)
            self.numbers["least_rounding"] = max(self.numbers["least_rounding"], least, self._least_share() * share)
            self._check_claim(claim, (primal, dual), slack, max(proof.violation for proof in proofs))
        self._check_total(claims, self.answer["total"])

    def _least_share(self) -> float:
        """Of the roundings that the judge allows for, those that a proof has to."""
        n, d = self.X.shape
        return (LEAST_ROUNDINGS + np.sqrt(d) + 0.5 * np.sqrt(n)) / FLOAT64_ROUNDINGS

    def _least_rounding(self, table: Table) -> float:
        """The rounding of the objective, as a share of it, that any α within tol of the optimum has by way of Kβ.

        D(α) ≥ (1 − tol) P needs o'α ≥ (1 − tol) P, so Σα ≥ (1 − tol) P / max|o|, and Σ|β| is Σα unless hinges of a
        sample cancel. ε max K Σ|β| Σ(c + α), the error that the rounding of scores makes, is then at least this.
        """
        if self.answer["linear"]:
            return 0.0  # weights are kept, and not summed from β
        unit = self._least_share() * FLOAT64_ROUNDINGS * np.finfo(float).eps
        offset = max(float(np.abs(table.offset).max(initial=0.0)), np.finfo(float).tiny)
        return unit * self.largest * float(table.cap.sum()) * (1.0 - min(1.0, self.answer["tol"])) / offset

    def _check_total(self, claims: list[dict[str, Any]], total: dict[str, Any]) -> None:
        """`result_` of a machine of several problems: sums, and converged only where all of them are."""
        for name in ("objective", "gap"):
            expected = sum(claim[name] for claim in claims)
            if not abs(total[name] - expected) <= CLOSE * abs(expected):
                self.complaints.append(f"{name} {total[name]!r} of all problems is claimed, {expected!r} is true")
        if total["status"] == "converged" and any(claim["status"] != "converged" for claim in claims):
            self.complaints.append("converged, where some of the problems are not")

    def _check_claim(self, claim: dict[str, Any], objectives: tuple[float, float], slack: float, violation: float):
        """What does not hold; and whether something holds by the allowance for rounding only."""
        self.complaints += self._false_claims(claim, objectives, (slack, self.rounding), violation)
        if self._false_claims(claim, objectives, (0.0, 0.0), violation):
            self.numbers["rounding"] = True

    def _false_claims(
        self, claim: dict[str, Any], objectives: tuple[float, float], slack: tuple[float, float], violation: float
    ) -> list[str]:
        (primal, dual), tol = objectives, self.answer["tol"]
        gap, scale = primal - dual, max(abs(primal), abs(dual))
        found = []
        if not abs(claim["objective"] - primal) <= CLOSE * abs(primal) + slack[0]:
            found.append(f"objective {claim['objective']!r} is claimed, {primal!r} is true")
        if not gap <= claim["gap"] * (1 + CLOSE) + slack[0] + CLOSE * tol * scale:
            found.append(f"gap {claim['gap']:.6g} is claimed, {gap:.6g} is true")
        if claim["status"] != "converged":
            return found
        if not gap <= tol * scale * (1 + CLOSE) + slack[0]:
            found.append(f"converged with relative gap {gap / scale:.3g} against tol={tol:g}")
        if not self.answer["linear"] and not violation <= tol * (1 + CLOSE) + slack[1]:
            found.append(f"converged with violation {violation:.3g} against tol={tol:g}")
        return found

    def _check_predictions(self) -> None:
        """Scores of other samples from the model, against its own ones."""
        answer, K = self.answer, self.K
        X = extended(answer["X_new"])
        if not answer["precomputed"]:
            K = kernel_matrix(answer["kernel"], X, self.X)
        columns = zip(answer["b"], range(len(self.tables)), strict=True)
        scores = np.stack(
            [self._model_score(place, X, K) - (b if self._adds_b() else 0.0) for b, place in columns], axis=1
        )
        answer["score_error"] = self._score_error(X, float(np.abs(K).max()))
        given = answer["rank_scores"] if "rank_scores" in answer else answer["decision_function"]
        given = np.asarray(given, dtype=np.float64).reshape(len(scores), -1)
        if given.shape == scores.shape and not answer.get("votes"):
            worst = float(np.abs(given - scores).max())
            if not worst <= answer["score_error"]:
                self.complaints.append(f"scores differ by {worst:.3g} where {answer['score_error']:.3g} is rounding")
        wrong = wrong_predictions(answer, scores.astype(np.float64))
        if wrong:
            self.complaints.append(f"{wrong} of {len(scores)} predictions do not follow from scores and thresholds")

    def _adds_b(self) -> bool:
        """Return True if the model's scores contain its intercept: no thresholds, or the one of two ranks."""
        return self.answer["thresholds"] is None or len(self.answer["thresholds"]) == 1

    def _model_score(self, place: int, X: np.ndarray, K: np.ndarray) -> np.ndarray:
        if self.answer["linear"]:
            return X @ self.answer["coef"][place].astype(Extended)
        return K @ self.answer["beta"][place].astype(Extended)

    def _score_error(self, X: np.ndarray, largest: float) -> float:
        unit = FLOAT32_SCORES if self.answer["float32"] else FLOAT64_ROUNDINGS**2 * np.finfo(float).eps
        if self.answer["linear"]:
            reach = max(float((np.abs(X) @ np.abs(coef)).max()) for coef in self.answer["coef"])
        else:
            reach = self._condition(X) * largest * max(float(np.abs(beta).sum()) for beta in self.answer["beta"])
        return unit * (reach + max(float(np.abs(b).max(initial=0.0)) for b in self.answer["b"])) + 1e-300

    def _condition(self, X: np.ndarray) -> float:
        """How much of the rounding of ‖x‖² gets into exp(−gamma ‖x − y‖²) by way of squares and products, or of Σ|x|
        into exp(−gamma Σ|x − y|) by way of Σ|y|, which is how sparse samples, that can't be centred, are compared."""
        power = {"rbf": 2, "laplacian": 1}.get(self.answer["kernel"]["name"])
        if power is None or not sp.issparse(self.answer["X"]):
            return 1.0
        return 1.0 + float(self.answer["kernel"]["gamma"] * (np.abs(X) ** power).sum(axis=1).max())

    def _check_optimum(self) -> None:
        """No dual is above the objective of Clarabel's solution, and no model that has converged far above it; not for
        kernels that are not positive semidefinite."""
        small = sum(len(table) for table in self.tables) <= clarabel.MOST_HINGES
        if not small or self.answer["kernel"]["name"] == "sigmoid":
            return
        samples = self.X if self.answer["kernel"]["name"] == "linear" and not self.answer["precomputed"] else None
        self.numbers["optima"] = 0
        claims = self.answer["claims"]
        converged = all(claim["status"] == "converged" for claim in claims) and len(claims) == len(self.tables)
        for table, proof, slack in zip(self.tables, self.proofs, self.slack, strict=True):
            value = clarabel.optimum(table, self.K, samples)
            if value is None:
                continue
            self.numbers["optima"] += 1
            value, slack = float(value), slack + CLOSE * abs(float(value))
            if proof.dual > value + slack:
                self.complaints.append(f"the dual {proof.dual!r} is above the primal {value!r} of another solution")
            if converged and proof.primal > value + self.answer["tol"] * abs(proof.primal) + slack:
                self.complaints.append(f"converged at {proof.primal!r}, where another solution has {value!r}")


def _of_linear(table: Table, beta: np.ndarray) -> np.ndarray:
    """α of the hinges from the signed variable that linear machines keep for a sample and a lane, or threshold."""
    signed = table.sign * beta[table.sample, table.threshold]
    two_sided = np.bincount(table.sample * table.n_thresholds + table.threshold)
    both = two_sided[table.sample * table.n_thresholds + table.threshold] > 1
    return np.where(both, np.maximum(signed, 0.0), signed)


def _in_box(alpha: np.ndarray, table: Table) -> np.ndarray:
    """Rounding to float32 may have taken a variable beyond its cap: the cap is what it stands for."""
    beyond = (alpha > table.cap) & (alpha <= (1 + FLOAT32_BOUNDS) * table.cap)
    return np.where(beyond, table.cap, alpha)
