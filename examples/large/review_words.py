"""Which words raise a rating, and which lower it: reviews with stars, TF-IDF, and one linear score for all ranks.

Reviews are prepared as by Shi et al.: as many of every number of stars, words without endings and stop words, and pairs
of them (`ordsvm.text`, which needs snowballstemmer: pip install 'ordsvm[text]').
Reads the hotel reviews in the folder named by ORDSVM_DATA, if there is one; else a handful of sentences of its own.
Run:  python examples/review_words.py
"""

import csv
import gzip
import os
from itertools import islice, product
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from ordsvm import LinearNPSVOR, LinearSVOR
from ordsvm.metrics import mean_absolute_error
from ordsvm.text import balanced_sample, review_tfidf

OPINIONS = {1: "awful dirty", 2: "poor noisy", 3: "fair plain", 4: "good friendly", 5: "great spotless"}


def hotel_reviews(n=20_000):
    path = Path(os.environ.get("ORDSVM_DATA", "")) / "tripadvisor" / "reviews.csv.gz"
    if not path.is_file():
        return made_up_reviews()
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(islice(csv.DictReader(file), n))
    return [row["text"] for row in rows], np.array([int(float(row["rating"])) for row in rows])


def made_up_reviews():
    """Every opinion about every thing, one word of it at a time, and both."""
    things = ("room", "staff", "breakfast", "pool", "view")
    texts, stars = [], []
    for thing, (rating, words) in product(things, OPINIONS.items()):
        first, second = words.split()
        texts += [f"the {thing} was {first}", f"a {second} {thing}", f"{first} {thing} and {second} too"]
        stars += [rating] * 3
    return texts, np.array(stars)


if __name__ == "__main__":
    texts, stars = hotel_reviews()
    kept = balanced_sample(stars, random_state=0)
    texts, stars = [texts[i] for i in kept], stars[kept]
    train, test, y_train, y_test = train_test_split(texts, stars, random_state=0, stratify=stars)
    tfidf = review_tfidf().fit(train)
    X_train, X_test = tfidf.transform(train), tfidf.transform(test)
    print(f"{X_train.shape[0]:,} reviews, {X_train.shape[1]:,} words and pairs of words")
    for model in (LinearSVOR(C=0.5), LinearNPSVOR(C=0.5)):
        model.fit(X_train, y_train)
        error = mean_absolute_error(y_test, model.predict(X_test))
        print(
            f"{type(model).__name__}: {error:.2f} stars off on average; {model.result_.relative_gap:.1e} relative gap"
        )
        weight = model.coef_ if model.coef_.ndim == 1 else model.coef_.mean(axis=0)  # the scores of all ranks rise
        words = tfidf.get_feature_names_out()[np.argsort(weight)]
        print(f"  raise the rank: {', '.join(words[:-9:-1])}\n  lower it:       {', '.join(words[:8])}")
