"""Reviews as Shi et al. prepare them: words without endings, no stop words, as many texts of every rank."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.utils import check_random_state

from ordsvm._typing import Ints, RandomState
from ordsvm.checks import shortened

__all__ = ["StemmedWords", "balanced_sample", "review_tfidf"]


@dataclass(frozen=True)
class StemmedWords:
    """The words of a text, without stop words and endings: a `tokenizer` for scikit-learn's vectorizers.

    Parameters
    ----------
    language : str, default="english"
        A language of Snowball's stemmers.
    stop_words : collection of str or None, default=None
        Words to leave out, in lower case; None: scikit-learn's list of English ones.

    Raises
    ------
    ImportError
        Where snowballstemmer is not installed.
    ValueError
        Where `stop_words` is no collection of strings.

    See Also
    --------
    review_tfidf : A vectorizer with these words.

    Notes
    -----
    Stop words are left out before words are stemmed, and so are words of a single letter.

    Examples
    --------
    >>> from ordsvm.text import StemmedWords
    >>> StemmedWords()("The rooms were cleaned, and the cleaning was noisy")
    ['room', 'clean', 'clean', 'noisi']
    """

    language: str = "english"
    stop_words: Iterable[str] | None = None

    def __post_init__(self) -> None:
        if self.stop_words is not None:
            words = (self.stop_words,) if isinstance(self.stop_words, str) else tuple(self.stop_words)
            if isinstance(self.stop_words, str) or not all(isinstance(word, str) for word in words):
                raise ValueError(
                    f"stop_words={shortened(self.stop_words)} is no collection of words, such as {{'the'}}."
                )
            object.__setattr__(self, "stop_words", tuple(sorted(set(words))))  # plain data, for model files
        _stemmer(self.language)

    @cached_property
    def _left_out(self) -> frozenset[str]:
        return frozenset(ENGLISH_STOP_WORDS if self.stop_words is None else self.stop_words)

    def __call__(self, text: str) -> list[str]:
        stem = _stemmer(self.language)
        return [stem(word) for word in re.findall(r"\b\w\w+\b", text.lower()) if word not in self._left_out]


@lru_cache
def _stemmer(language: str) -> Callable[[str], str]:
    """Stems a word; those it has met are remembered, as a text has few different ones."""
    try:
        import snowballstemmer
    except ImportError:
        raise ImportError("Stemming needs snowballstemmer: pip install 'ordsvm[text]'.") from None
    return lru_cache(maxsize=1 << 20)(snowballstemmer.stemmer(language).stemWord)


def review_tfidf(**options: Any) -> TfidfVectorizer:
    """Return the vectorizer of Shi et al. for reviews: TF-IDF of single words and pairs, stemmed, without stop words.

    Parameters
    ----------
    **options : object
        Parameters of `TfidfVectorizer` to have instead.

    Returns
    -------
    TfidfVectorizer
        A vectorizer that is not fitted.

    See Also
    --------
    StemmedWords : The words of a text.
    balanced_sample : As many texts of every rank.

    Notes
    -----
    Left out are words of a single letter, those in more than half of the texts and those in fewer than three; the paper
    leaves out what occurs less than three times, be it in one text.

    References
    ----------
    .. [1] Y. Shi, H. Wang, X. Shen, L. Niu, "A novel large-scale ordinal regression model", 2021, section 4.1.

    Examples
    --------
    >>> from ordsvm.text import review_tfidf
    >>> reviews = ["a dirty room", "dirty rooms", "the room was clean", "clean rooms"]
    >>> review_tfidf(min_df=2, max_df=1.0).fit(reviews).get_feature_names_out().tolist()
    ['clean', 'dirti', 'dirti room', 'room']
    """
    recipe = {"tokenizer": StemmedWords(), "token_pattern": None, "ngram_range": (1, 2), "min_df": 3, "max_df": 0.5}
    return TfidfVectorizer(**(recipe | options))


def balanced_sample(y: ArrayLike, random_state: RandomState = None) -> Ints:
    """Draw as many samples of every label as the rarest label has.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The labels.
    random_state : int, RandomState or None, default=None
        Makes the draw reproducible.

    Returns
    -------
    ndarray of int64
        The numbers of the samples, ascending.

    See Also
    --------
    review_tfidf : Features of texts.

    Notes
    -----
    Ratings of products are mostly five stars. Shi et al. sample the larger ranks down to the smallest.

    Examples
    --------
    >>> from ordsvm.text import balanced_sample
    >>> balanced_sample([5, 5, 1, 5, 1, 5], random_state=0).tolist()
    [0, 2, 3, 4]
    """
    labels, codes, counts = np.unique(np.asarray(y), return_inverse=True, return_counts=True)
    rng, size = check_random_state(random_state), counts.min(initial=len(codes))
    drawn = [rng.choice(np.flatnonzero(codes == k), size, replace=False) for k in range(len(labels))]
    return np.sort(np.concatenate([np.empty(0, dtype=np.int64), *drawn]))
