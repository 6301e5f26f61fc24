"""Pipelines of scikit-learn and estimators of one's own in model files: what is kept, and what is refused."""

import json
import re
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from ordsvm import NPSVOR, SVOR, SVOREX, CalibratedOrdinal, LinearSVOR, ModelFileError, load, save
from ordsvm.files import model_file, register, registry
from ordsvm.tables import TableEncoder
from ordsvm.text import StemmedWords, review_tfidf
from tests.model_files import contents, forge

N = 60
WITHOUT_A = StemmedWords(stop_words={"a"})
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N, 3))
Y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
ORDER = ["low", "middle", "high"]
FRAME = pd.DataFrame({"size": X[:, 0] * 3 + 7, "age": np.arange(float(N))})
FRAME["colour"] = RANDOM.choice(["red", "blue", "green"], N, p=[0.5, 0.4, 0.1])
FRAME["text"] = np.where(X[:, 1] > 0, "a good wine", "some bad beer")
GAPS = FRAME.assign(size=FRAME["size"].mask(X[:, 2] > 1), colour=FRAME["colour"].where(X[:, 2] < 1, None))
NUMBERS = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
NAMES = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False))


def svor(**options):
    return SVOR(categories=ORDER, **options)


def columns(**options):
    return ColumnTransformer([("numbers", NUMBERS, ["size", "age"]), ("names", NAMES, ["colour"])], **options)


PIPELINES = {
    "standard": (make_pipeline(StandardScaler(), svor()), X),
    "minmax": (make_pipeline(MinMaxScaler(), MaxAbsScaler(), svor(kernel="linear")), X),
    "robust": (make_pipeline(RobustScaler(), Normalizer(), svor()), X),
    "components": (make_pipeline(PCA(2), TruncatedSVD(2, random_state=0), svor()), X),
    "imputed": (make_pipeline(SimpleImputer(), svor()), np.where(X > 1.5, np.nan, X)),
    "columns": (make_pipeline(columns(), LinearSVOR(categories=ORDER)), GAPS),
    "columns as pandas": (make_pipeline(columns().set_output(transform="pandas"), svor()), GAPS),
    "remainder": (make_pipeline(make_column_transformer((MinMaxScaler(), [0]), remainder="passthrough"), svor()), X),
    "slices": (make_pipeline(ColumnTransformer([("some", StandardScaler(), slice(1, 3))]), svor()), X),
    "codes": (make_pipeline(OrdinalEncoder(encoded_missing_value=-1), svor()), GAPS[["colour"]]),
    "rare": (
        make_pipeline(OneHotEncoder(min_frequency=0.25, handle_unknown="infrequent_if_exist"), svor()),
        FRAME[["colour"]],
    ),
    "text": (make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LinearSVOR(categories=ORDER)), FRAME["text"]),
    "stems": (make_pipeline(review_tfidf(min_df=1, max_df=1.0), LinearSVOR(categories=ORDER)), FRAME["text"]),
    "own stop words": (make_pipeline(CountVectorizer(tokenizer=WITHOUT_A, token_pattern=None), svor()), FRAME["text"]),
    "counts": (make_pipeline(CountVectorizer(), TfidfTransformer(), svor()), FRAME["text"].tolist()),
    "text column": (
        make_pipeline(make_column_transformer((TfidfVectorizer(), "text"), (StandardScaler(), ["age"])), svor()),
        FRAME,
    ),
    "passthrough": (Pipeline([("nothing", "passthrough"), ("machine", NPSVOR(categories=ORDER))]), X),
    "own encoder": (make_pipeline(TableEncoder().set_output(transform="pandas"), svor()), FRAME.drop(columns="text")),
    "calibrated": (CalibratedOrdinal(make_pipeline(StandardScaler(), svor()), cv=2), X),
    "calibrated last": (make_pipeline(StandardScaler(), CalibratedOrdinal(svor(), cv=2)), X),
}


@pytest.fixture
def file(tmp_path):
    return tmp_path / "model.ordsvm"


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_is_the_same_after_a_file(name, file):
    model, samples = PIPELINES[name]
    model.fit(samples, Y)
    save(model, file)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # names of features have to be kept
        again = load(file)
        np.testing.assert_array_equal(again.predict(samples), model.predict(samples))
    scores = [each.predict_proba(samples) for each in (again, model) if hasattr(each, "predict_proba")]
    if scores:
        np.testing.assert_array_equal(*scores)
    save(again, file)  # and once more
    np.testing.assert_array_equal(load(file).predict(samples), model.predict(samples))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GridSearchCV(svor(), {"C": [1.0]}, cv=2), "a search: save its best_estimator_"),
        (make_pipeline(FunctionTransformer(np.tanh), svor()), r"func=<ufunc 'tanh'> of FunctionTransformer is none of"),
        (make_pipeline(PolynomialFeatures(), svor()), "steps.0.1 is a PolynomialFeatures, no step that a model file"),
    ],
)
def test_what_a_file_cannot_hold_gets_a_sentence(model, message, file):
    with pytest.raises(TypeError, match=message):
        save(model.fit(X, Y), file)
    assert not file.exists()


def test_a_pattern_of_ones_own_is_refused(file):
    model = make_pipeline(TfidfVectorizer(token_pattern=r"(a+)+\b"), LinearSVOR(categories=ORDER))
    with pytest.raises(TypeError, match=r"token_pattern=.* of TfidfVectorizer is none of"):
        save(model.fit(FRAME["text"], Y), file)


def test_another_version_of_scikit_learn_gets_its_warning(file):
    model, samples = PIPELINES["standard"]
    save(model.fit(samples, Y), file)
    tree, arrays = contents(file)
    forge(file, tree, arrays, **{"scikit-learn": "1.2.3"})
    with pytest.warns(InconsistentVersionWarning, match=r"1\.2\.3"):
        load(file)


# Files that somebody has altered


def step(tree, number: int = 0):
    """Name, parameters and fitted attributes of a step of the pipeline."""
    return tree["estimator"][1]["steps"][number]["tuple"][1]["estimator"]


def alter_name(name, parameters, state):
    return ["sklearn.PolynomialFeatures", parameters, state]


def alter_attribute(name, parameters, state):
    return [name, parameters, state | {"transform": 1}]


def alter_private(name, parameters, state):
    return [name, parameters, state | {"_validate_data": 1}]


def alter_parameter(name, parameters, state):
    return [name, parameters | {"more": 1}, state]


def alter_output(name, parameters, state):
    return [name, parameters, state | {"_sklearn_output_config": {"dict": [["transform", "os.system"]]}}]


def alter_features(name, parameters, state):
    return [name, parameters, state | {"n_features_in_": 10**15}]


def alter_shape(name, parameters, state):
    return [name, parameters, state | {"scale_": {"floats": [1.0]}, "mean_": {"floats": [1.0, 2.0]}}]


@pytest.mark.parametrize(
    "alter",
    [alter_name, alter_attribute, alter_private, alter_parameter, alter_output, alter_features, alter_shape],
    ids=lambda alter: alter.__name__,
)
def test_altered_steps_are_refused(alter, file):
    model, samples = PIPELINES["standard"]
    save(model.fit(samples, Y), file)
    tree, arrays = contents(file)
    content = step(tree)
    content[:] = alter(*content)
    with pytest.raises(ModelFileError, match="is not a sound model"):
        load(forge(file, tree, arrays))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("input", "filename"),
        ("token_pattern", "(a+)+b"),
        ("tokenizer", "str"),
        ("analyzer", "os"),
        ("dtype", {"type": "eval"}),
        ("dtype", {"dtype": "<U9999999999"}),
        ("dtype", {"type": "<U9999"}),
        ("ngram_range", {"slice": [0, "x", 1]}),
    ],
)
def test_parameters_that_name_files_patterns_or_code_are_refused(parameter, value, file):
    model, samples = PIPELINES["text"]
    save(model.fit(samples, Y), file)
    tree, arrays = contents(file)
    step(tree)[1][parameter] = value
    with pytest.raises(ModelFileError, match="is not a sound model"):
        load(forge(file, tree, arrays))


def alter_words(state):
    state["vocabulary_"]["dict"][0][1] = 10**6


def alter_counts(state):
    state["_n_features_outs"] = [1]


def alter_mapping(state):
    state["_default_to_infrequent_mappings"][0] = {"floats": [0.0, 10.0**6, 1.0]}


def alter_rare(state):
    state["_infrequent_indices"] = [[0, 1, 2]]


def alter_drop(state):
    state["_drop_idx_after_grouping"] = {"objects": [7]}


@pytest.mark.parametrize(
    ("name", "alter", "message"),
    [
        ("text", alter_words, "every word a column of its own"),
        ("rare", alter_counts, "categories do not make"),
        ("rare", alter_mapping, "rare category points to"),
        ("rare", alter_rare, "rare category points to"),
        ("rare", alter_drop, "a category is dropped that there is not"),
    ],
)
def test_positions_in_sparse_matrices_are_checked(name, alter, message, file):
    """scikit-learn makes matrices of them without a look, and a product would read beyond their ends."""
    model, samples = PIPELINES[name]
    save(model.fit(samples, Y), file)
    tree, arrays = contents(file)
    alter(step(tree)[2])
    arrays = {key: value for key, value in arrays.items() if key in json.dumps(tree)}
    with pytest.raises(ModelFileError, match=message):
        load(forge(file, tree, arrays))


def test_processes_and_folders_of_training_are_not_part_of_a_model(file, tmp_path):
    model = make_pipeline(columns(n_jobs=2), svor(), memory=str(tmp_path / "cache"), verbose=False).fit(GAPS, Y)
    save(model, file)
    assert (load(file).memory, load(file)[0].n_jobs) == (None, None)
    tree, arrays = contents(file)
    step(tree)[1]["n_jobs"] = 10**6
    assert load(forge(file, tree, arrays))[0].n_jobs is None


# Estimators of one's own


@dataclass(frozen=True)
class Note:
    text: str = ""


class ShiftedSVOREX(SVOREX):
    """As the guide has it: every parameter is named."""

    def __init__(self, C=1.0, *, kernel="rbf", gamma="scale", shift=0.0):
        super().__init__(C, kernel=kernel, gamma=gamma)
        self.shift = shift

    def decision_function(self, X):
        return super().decision_function(X) + self.shift


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(registry, "_EXTENSIONS", {})
    return register


def test_a_registered_estimator_goes_into_a_file(registered, file):
    model = make_pipeline(StandardScaler(), ShiftedSVOREX(3.0, shift=0.7)).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    with pytest.raises(TypeError, match=r"ShiftedSVOREX, not an estimator of ordsvm: register its class"):
        save(model, file)
    assert registered(ShiftedSVOREX) is ShiftedSVOREX
    registered(ShiftedSVOREX)  # a module may be loaded again
    registered(Note)
    model[-1].note_ = Note("by hand")
    save(model, file)
    again = load(file)
    assert (again[-1].shift, again[-1].note_) == (0.7, Note("by hand"))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_file_of_an_estimator_that_is_not_registered_is_refused(registered, file, monkeypatch):
    registered(ShiftedSVOREX)
    save(ShiftedSVOREX().fit(X, np.digitize(X[:, 0], [0.0])), file)
    monkeypatch.setattr(registry, "_EXTENSIONS", {})
    with pytest.raises(ModelFileError, match=r"'ShiftedSVOREX' is no class .* import the module that registers it"):
        load(file)


def test_what_cannot_be_registered_gets_a_sentence(registered):
    taken = type("SVOR", (SVOREX,), {})
    with pytest.raises(
        TypeError, match=r"SVOR is the name of ordsvm\.estimators\.threshold_models\.SVOR in model files"
    ):
        registered(taken)
    for bad in (SVOR(), dict, len, dataclass(type("Loose", (), {}))):
        with pytest.raises(TypeError, match="register takes a class of estimators or a frozen dataclass"):
            registered(bad)


def test_a_name_of_features_that_is_a_format_is_refused(file):
    """scikit-learn fills in such a text: one of a few bytes can ask for any width."""
    model, samples = PIPELINES["columns as pandas"]
    save(model.fit(samples, Y), file)
    tree, arrays = contents(file)
    step(tree)[1]["verbose_feature_names_out"] = "{feature_name:>300000000}"
    with pytest.raises(ModelFileError, match="is not a sound model"):
        load(forge(file, tree, arrays))


def test_many_lists_of_strings_are_counted_together(file):
    model, samples = PIPELINES["standard"]
    save(model.fit(samples, Y), file)
    tree, arrays = contents(file)
    wide = {"strings": ["a" * 3000] + ["b"] * 700}  # 8 MB in an array, of 6 kB in the file
    step(tree)[2].update({f"x{number}_": wide for number in range(40)})
    with pytest.raises(ModelFileError, match="far more memory"):
        load(forge(file, tree, arrays))


@pytest.mark.parametrize("error", [ZeroDivisionError, FloatingPointError, RuntimeError, re.error])
def test_whatever_made_up_values_raise_is_an_unsound_file(file, monkeypatch, error):
    save(PIPELINES["standard"][0].fit(X, Y), file)

    def raising(*_):
        raise error("of a step")

    monkeypatch.setattr(model_file, "_model", raising)
    with pytest.raises(ModelFileError, match="not a sound model: of a step; save it anew"):
        load(file)


def rename_step(part, name):
    part["tuple"][0] = name


@pytest.mark.parametrize("name", [3, 0.5, None, "", "a__b", ["a"], {"tuple": ["a"]}, "scaler"])
@pytest.mark.parametrize("where", ["steps", "transformers", "transformers_"])
def test_names_of_parts_that_are_no_texts_are_refused(where, name, file):
    """`dir` of such a pipeline raised a TypeError long after it was loaded."""
    numbers = Pipeline([("first", StandardScaler()), ("scaler", StandardScaler())])
    table = ColumnTransformer([("first", numbers, [0]), ("scaler", StandardScaler(), [1, 2])])
    save(Pipeline([("table", table), ("scaler", StandardScaler()), ("svor", svor())]).fit(X, Y), file)
    tree, arrays = contents(file)
    forge(file, tree, arrays)
    assert "svor" in dir(load(file).named_steps)
    parameters, state = tree["estimator"][1]["steps"][0]["tuple"][1]["estimator"][1:3]
    parts = {"steps": tree["estimator"][1]["steps"], "transformers": parameters["transformers"]}
    rename_step((parts | {"transformers_": state.get("transformers_")})[where][0], name)
    forge(file, tree, arrays)
    with pytest.raises(ModelFileError):
        load(file)
