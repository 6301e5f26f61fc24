"""
Which words raise a rating
==========================

Reviews with stars, TF-IDF, and linear machines, whose weights are one a word. Reviews are prepared as by Shi et al.: as
many of every number of stars, words without endings and stop words, and pairs of them. Words are shown as these stems:
"aw" is awful, "dirti" dirty (`ordsvm.text`, which needs snowballstemmer: ``pip install 'ordsvm[text]'``).

Reads the hotel reviews in the folder named by ORDSVM_DATA, if there is one; else sentences of its own.
"""

import csv
import gzip
import os
from itertools import islice, product
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from ordsvm import LinearNPSVOR, LinearSVOR
from ordsvm.metrics import mean_absolute_error
from ordsvm.text import balanced_sample, review_tfidf

OPINIONS = {1: "awful dirty", 2: "poor noisy", 3: "fair plain", 4: "good friendly", 5: "great spotless"}


def hotel_reviews(n=20_000):
    """The first reviews of the file, or made-up ones."""
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


# %%
# As many reviews of every number of stars, three quarters of them for training.

texts, stars = hotel_reviews()
kept = balanced_sample(stars, random_state=0)
texts, stars = [texts[i] for i in kept], stars[kept]
train, test, y_train, y_test = train_test_split(texts, stars, random_state=0, stratify=stars)
tfidf = review_tfidf().fit(train)
X_train, X_test = tfidf.transform(train), tfidf.transform(test)
print(f"{X_train.shape[0]:,} reviews, {X_train.shape[1]:,} words and pairs of words")

# %%
# One score for all ranks (LinearSVOR), or one for every rank (LinearNPSVOR), averaged for the picture.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), layout="constrained")
for axis, model in zip(axes, (LinearSVOR(C=0.5), LinearNPSVOR(C=0.5)), strict=True):
    model.fit(X_train, y_train)
    error = mean_absolute_error(y_test, model.predict(X_test))
    print(f"{type(model).__name__}: {error:.2f} stars off on average; {model.result_.relative_gap:.1e} relative gap")
    weight = model.coef_ if model.coef_.ndim == 1 else model.coef_.mean(axis=0)
    extreme = np.r_[np.argsort(weight)[:8], np.argsort(weight)[-8:]]
    print("  upwards:   " + ", ".join(tfidf.get_feature_names_out()[extreme[:-5:-1]]))
    print("  downwards: " + ", ".join(tfidf.get_feature_names_out()[extreme[:4]]))
    axis.barh(tfidf.get_feature_names_out()[extreme], weight[extreme], color=np.where(weight[extreme] > 0, "C0", "C3"))
    axis.set(title=type(model).__name__, xlabel="weight in the score")
plt.show()
