"""The recipe of Shi et al. for reviews: stems, stop words, rare and frequent words, balanced ranks."""

from __future__ import annotations

import builtins
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from benchmarks import text as reviews_of_benchmarks
from ordsvm.text import StemmedWords, _stemmer, balanced_sample, review_tfidf

ROOT = Path(__file__).parents[1]


def test_words_lose_their_endings_and_stop_words_are_left_out():
    words = StemmedWords()
    assert words("I was RUNNING; they run, a runner runs") == ["run", "run", "runner", "run"]
    assert words("relational x conditional") == ["relat", "condit"]  # of Snowball's vocabulary; x is too short
    assert pickle.loads(pickle.dumps(words))("rooms") == ["room"]
    assert StemmedWords("german", stop_words={"die"})("die Zimmer und Häuser") == ["zimm", "und", "haus"]


def test_rare_and_frequent_words_are_no_features_and_pairs_are():
    texts = ["the dirty room"] * 3 + ["dirty rooms"] * 2 + ["clean beds"] * 3 + ["noise"] * 2 + ["dirty beds"] * 2
    names = review_tfidf().fit(texts).get_feature_names_out().tolist()
    assert names == ["bed", "clean", "clean bed", "dirti room", "room"]  # dirti: 7 of 12 texts; nois: 2 texts
    assert "dirti" in review_tfidf(max_df=1.0).fit(texts).vocabulary_
    assert "nois" in review_tfidf(min_df=2).fit(texts).vocabulary_


def test_every_label_is_drawn_as_often_as_the_rarest():
    y = np.repeat(["good", "bad", "fair"], [50, 7, 20])
    drawn = balanced_sample(y, random_state=3)
    assert [np.count_nonzero(y[drawn] == label) for label in ("good", "bad", "fair")] == [7, 7, 7]
    assert len(np.unique(drawn)) == 21
    assert np.all(np.diff(drawn) > 0)
    assert np.array_equal(drawn, balanced_sample(y, random_state=3))
    assert len(balanced_sample([])) == 0


def test_a_missing_stemmer_gets_one_sentence(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "snowballstemmer":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    _stemmer.cache_clear()
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"pip install 'ordsvm\[text\]'"):
        StemmedWords()


def test_the_recipe_of_the_benchmarks_is_the_papers(monkeypatch, tmp_path):
    ratings = np.repeat([1, 3, 5], [20, 30, 90])
    texts = [f"rooms staying {['awful', 'plain', 'great'][rating // 2]} {i % 4}nd" for i, rating in enumerate(ratings)]
    monkeypatch.setenv("ORDSVM_CACHE", str(tmp_path))
    monkeypatch.setattr(reviews_of_benchmarks.datasets, "reviews", lambda name: (texts, ratings))
    found = [reviews_of_benchmarks.reviews("imdb", recipe) for recipe in ("plain", "paper", "paper")]
    assert [len(each.y) for each in found] == [140, 60, 60]
    assert sparse.issparse(found[1].X)
    assert (found[1].X != found[2].X).nnz == 0  # the second time from the cache
    for part, count in ((found[1].training()[1], 14), (found[1].test()[1], 6)):
        assert np.bincount(part).tolist() == [count] * 3
    with pytest.raises(ValueError, match="not a recipe"):
        reviews_of_benchmarks.reviews("imdb", "other")


def test_the_example_runs_on_sentences_of_its_own():
    environment = {name: value for name, value in os.environ.items() if name != "ORDSVM_DATA"}
    command = [sys.executable, str(ROOT / "examples" / "large" / "review_words.py")]
    output = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=True).stdout
    assert "LinearNPSVOR" in output
    assert "spotless" in output


@pytest.mark.parametrize("bad", ["english", [1, 2]])
def test_stop_words_are_a_collection_of_words(bad):
    with pytest.raises(ValueError, match="is no collection of words"):
        StemmedWords(stop_words=bad)
