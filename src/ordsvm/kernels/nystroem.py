"""Nyström's approximation: features φ(x) whose products stand for a kernel, made of some samples, the landmarks.

    φ(x) = Λ^(−½) U' k(Z, x)     k(Z, Z) = U Λ U' on the landmarks Z
    φ(x)'φ(y) = k(x, Z) k(Z, Z)⁺ k(Z, y)

For a positive semidefinite kernel φ(x) is the projection of x, in the kernel's own feature space, on the span of the
landmarks. So k(x, x) − ‖φ(x)‖², the residual, is never negative, and neither is the matrix K − ΦΦ' of which these are
the diagonal.

Paper   C. Williams, M. Seeger, "Using the Nyström method to speed up kernel machines", NIPS 2000;
        A. Alaoui, M. W. Mahoney, "Fast randomized kernel ridge regression with statistical guarantees", NIPS 2015:
        landmarks by ridge leverage scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from ordsvm._typing import Floats, Ints
from ordsvm.kernels.arrays import BLOCK_BYTES, Data, float64
from ordsvm.kernels.base import Kernel
from ordsvm.sparse import check_structure

RULES = ("uniform", "leverage")
LEAST_EIGENVALUE = 1e-10  # of the largest: what is smaller has too few digits to be divided by
UNIFORM_SHARE = 0.1  # of the probability with which a landmark is drawn by leverage scores


@dataclass(frozen=True)
class NystroemMap:
    """A map to features that approximates a kernel: see the module.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    landmarks : ndarray or CSR matrix of shape (n_landmarks, n_features)
        The samples that the map is made of, in float64.
    projection : ndarray of shape (n_landmarks, n_components)
        UΛ^(−½): the features of x are k(x, landmarks) @ projection.

    See Also
    --------
    ordsvm.NystroemSVOR : A machine on these features.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.kernels import RBF, NystroemMap
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> features = NystroemMap.of(RBF(gamma=0.5), X).transform(X)
    >>> np.allclose(features @ features.T, RBF(gamma=0.5)(X, X))
    True
    """

    kernel: Kernel
    landmarks: Data
    projection: Floats

    @classmethod
    def of(cls, kernel: Kernel, landmarks: Data) -> NystroemMap:
        """Make the map of these landmarks.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        landmarks : ndarray or CSR matrix of shape (n_landmarks, n_features)
            The samples.

        Returns
        -------
        NystroemMap
            The map. It has fewer components than landmarks where these depend on each other.
        """
        landmarks = float64(landmarks)
        values = kernel(landmarks, landmarks)
        eigenvalues, vectors = eigh(0.5 * (values + values.T))
        kept = eigenvalues > LEAST_EIGENVALUE * max(float(eigenvalues[-1]), np.finfo(float).tiny)
        if not kept.any():
            raise ValueError("The kernel is 0 on all landmarks: give another kernel, gamma or coef0.")
        return cls(kernel, landmarks, np.ascontiguousarray(vectors[:, kept] / np.sqrt(eigenvalues[kept])))

    @property
    def components_(self) -> Data:
        """The landmarks, as scikit-learn's Nystroem calls them."""
        return self.landmarks

    @property
    def n_components(self) -> int:
        """How many features there are."""
        return int(self.projection.shape[1])

    def transform(self, X: Data, dtype: Any = np.float64) -> Any:
        """Compute the features of samples, a row block of kernel values at a time.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The samples.
        dtype : dtype, default=float64
            Of the features; they are computed in float64.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The features.
        """
        check_structure(X)
        features = np.empty((X.shape[0], self.n_components), dtype=dtype)
        step = max(1, BLOCK_BYTES // (8 * self.landmarks.shape[0]))
        for first in range(0, X.shape[0], step):
            features[first : first + step] = self.kernel(X[first : first + step], self.landmarks) @ self.projection
        return features

    def residuals(self, X: Data, features: Any) -> Floats:
        """Compute k(x, x) − ‖φ(x)‖² of samples: what the features leave out.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The samples.
        features : ndarray of shape (n_samples, n_components)
            Their features.

        Returns
        -------
        ndarray of shape (n_samples,)
            The residuals; for a positive semidefinite kernel none is below 0 but by rounding.
        """
        return self.kernel.rows(X).diagonal() - np.einsum("ij,ij->i", features, features, dtype=np.float64)


def draw_landmarks(kernel: Kernel, X: Data, n_landmarks: int, rule: str, random: np.random.RandomState) -> Ints:
    """Draw rows of X, sorted, without repetition: each as likely as any other, or by leverage scores.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The samples.
    n_landmarks : int
        How many, at most n_samples.
    rule : {"uniform", "leverage"}
        How.
    random : RandomState
        Draws.

    Returns
    -------
    ndarray of shape (n_landmarks,)
        The numbers of the rows.

    See Also
    --------
    NystroemMap : What they are for.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.kernels import RBF
    >>> from ordsvm.kernels.nystroem import draw_landmarks
    >>> X = np.arange(6.0)[:, None]
    >>> len(draw_landmarks(RBF(gamma=1.0), X, 3, "leverage", np.random.RandomState(0)))
    3
    """
    n_samples = X.shape[0]
    probability = None
    if rule == "leverage" and n_landmarks < n_samples:
        scores = leverage_scores(kernel, X, n_landmarks, random)
        probability = (1.0 - UNIFORM_SHARE) * scores / scores.sum() + UNIFORM_SHARE / n_samples
        probability /= probability.sum()
    return np.sort(random.choice(n_samples, n_landmarks, replace=False, p=probability)).astype(np.int64)


def leverage_scores(kernel: Kernel, X: Data, n_landmarks: int, random: np.random.RandomState) -> Floats:
    """Approximate ridge leverage scores (K(K + λ)⁻¹)_ii, with a λ at which they add up to about n_landmarks.

    They come from the Nyström approximation of half as many uniform landmarks, φ_i'(Φ'Φ + λ)⁻¹φ_i, and the share of
    what it leaves out, residual_i / λ; λ is the sum of the residuals over n_landmarks. An approximation: the draw needs
    no more, as every draw makes a valid map.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The samples.
    n_landmarks : int
        How many landmarks are to be drawn.
    random : RandomState
        Draws the uniform ones.

    Returns
    -------
    ndarray of shape (n_samples,)
        The scores, from 0 to 1.

    See Also
    --------
    draw_landmarks : The draw.

    Examples
    --------
    >>> import numpy as np
    >>> from ordsvm.kernels import RBF
    >>> from ordsvm.kernels.nystroem import leverage_scores
    >>> X = np.append(np.zeros(99), 5.0)[:, None]
    >>> scores = leverage_scores(RBF(gamma=1.0), X, 4, np.random.RandomState(0))
    >>> int(scores.argmax())
    99
    """
    few = random.choice(X.shape[0], max(1, n_landmarks // 2), replace=False)
    first = NystroemMap.of(kernel, X[few])
    features = first.transform(X, X.dtype)
    residuals = np.maximum(0.0, first.residuals(X, features))
    ridge = max(residuals.sum() / n_landmarks, np.finfo(X.dtype).eps * first.kernel.largest(first.landmarks))
    gram = np.asarray(features.T @ features, dtype=np.float64)
    gram[np.diag_indices_from(gram)] += ridge
    scores = residuals / ridge
    factor = cho_factor(gram)
    step = max(1, BLOCK_BYTES // (8 * first.n_components))
    for start in range(0, len(scores), step):
        block = features[start : start + step].astype(np.float64)
        scores[start : start + step] += np.einsum("ij,ji->i", block, cho_solve(factor, block.T))
    return np.clip(scores, np.finfo(float).tiny, 1.0)
