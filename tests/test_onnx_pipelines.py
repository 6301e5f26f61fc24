"""ONNX Runtime gives what pipelines, calibrations, tables and NPSVOR give, from float64 or float32."""

import json
import warnings
from importlib.metadata import version

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from ordsvm import (
    NPSVOR,
    SVOR,
    CalibratedOrdinal,
    LinearNPSVOR,
    LinearSVOR,
    NystroemNPSVOR,
    OrdinalSearchCV,
    load,
    save,
    to_onnx,
)
from ordsvm.tables import TableEncoder, TableModel
from tests.cases import random_data

X, Y = random_data(1, n=80)
NEW = random_data(2, n=100)[0]
GAPS = np.where(X > 1.3, np.nan, X)
RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame({"size": GAPS[:, 0], "age": np.arange(80.0), "floor": RANDOM.integers(0, 3, 80)})
FRAME["colour"] = RANDOM.choice(["red", "blue", "green"], 80)
HOLES = FRAME.assign(colour=FRAME["colour"].where(np.arange(80) % 7 > 0, None))


def session(model, **options):
    return onnxruntime.InferenceSession(to_onnx(model, **options).SerializeToString())


def feed(found, samples):
    """The matrix, or a column for every input, with "" for missing texts."""
    kinds = {"tensor(double)": np.float64, "tensor(float)": np.float32, "tensor(string)": object}
    inputs = {item.name: kinds[item.type] for item in found.get_inputs()}
    if list(inputs) == ["X"]:
        return {"X": np.asarray(samples, dtype=inputs["X"])}
    columns = {}
    for name, kind in inputs.items():
        cells = samples[name].fillna("") if kind is object else samples[name]
        columns[name] = cells.to_numpy().astype(kind)[:, np.newaxis]
    return columns


def outputs(model, samples, **options):
    found = session(model, **options)
    names = [item.name for item in found.get_outputs()]
    return dict(zip(names, found.run(names, feed(found, samples)), strict=True))


def assert_same(model, samples):
    found = outputs(model, samples)
    assert found["label"].tolist() == model.predict(samples).tolist()
    assert model.classes_[found["rank"]].tolist() == model.predict(samples).tolist()
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found["probability"], model.predict_proba(samples), rtol=0, atol=1e-10)
    elif found["score"].ndim == 1:
        np.testing.assert_allclose(found["score"], model.decision_function(samples), rtol=1e-9, atol=1e-9)


# Machines


@pytest.mark.parametrize("kind", [NPSVOR, LinearNPSVOR, NystroemNPSVOR])
@pytest.mark.parametrize("predictor", ["ordered", "nearest"])
def test_a_score_for_every_rank(kind, predictor):
    model = kind(predictor=predictor).fit(X, Y)
    assert_same(model, NEW)
    np.testing.assert_allclose(outputs(model, NEW)["score"], model.rank_scores(NEW), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", ["logistic", "isotonic"])
@pytest.mark.parametrize("machine", [SVOR(), LinearSVOR(), NPSVOR(), make_pipeline(StandardScaler(), SVOR())])
def test_probabilities(machine, method):
    assert_same(CalibratedOrdinal(machine, method=method, cv=2).fit(X, Y), NEW)


def test_the_best_of_a_search():
    assert_same(OrdinalSearchCV(make_pipeline(StandardScaler(), SVOR()), {"svor__C": [1.0]}, cv=2).fit(X, Y), NEW)


# Inputs, labels, version


@pytest.mark.parametrize("model", [SVOR(), LinearNPSVOR(), make_pipeline(StandardScaler(), SVOR(kernel="poly"))])
def test_float32(model):
    model.fit(X, Y)
    samples = NEW.astype(np.float32)
    found = outputs(model, samples, dtype="float32")
    exact = outputs(model, samples.astype(np.float64))
    np.testing.assert_array_equal(found["score"], exact["score"])  # numbers inside are float64
    assert found["label"].tolist() == model.predict(samples.astype(np.float64)).tolist()
    with pytest.raises(ValueError, match="dtype='float16' is unknown: give 'float64' or 'float32'"):
        to_onnx(model, dtype="float16")


def test_metadata():
    labels = np.array(["poor", "fair", "good", "très bien"])
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    model = make_pipeline(StandardScaler(), CalibratedOrdinal(SVOR(categories=labels.tolist()), cv=2)).fit(
        frame, labels[Y]
    )
    about = session(model).get_modelmeta()
    assert about.producer_name == "ordsvm"
    found = about.custom_metadata_map
    assert found["ordsvm_version"] == version("ordsvm")
    assert found["model"] == "StandardScaler > CalibratedOrdinal > SVOR"
    assert json.loads(found["labels"]) == labels.tolist()
    assert json.loads(found["features"]) == frame.columns.tolist()
    assert json.loads(session(SVOR().fit(X, Y + 3)).get_modelmeta().custom_metadata_map["labels"]) == [3, 4, 5, 6]


# Steps


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler()],
        [StandardScaler(with_mean=False), StandardScaler(with_std=False)],
        [MinMaxScaler((-1, 2), clip=True)],
        [MaxAbsScaler()],
        [RobustScaler()],
        [RobustScaler(with_centering=False), RobustScaler(with_scaling=False)],
        [Normalizer()],
        [Normalizer("l1"), Normalizer("max")],
        [PCA(2)],
        [PCA(2, whiten=True)],
        [TruncatedSVD(2, random_state=0)],
        ["passthrough", make_pipeline(StandardScaler(), PCA(2))],
        [ColumnTransformer([("a", StandardScaler(), [2, 0]), ("b", "drop", [1])], remainder=MinMaxScaler())],
        [
            StandardScaler(),
            ColumnTransformer([("a", PCA(1), slice(0, 2))], remainder="passthrough", transformer_weights={"a": 3.0}),
        ],
    ],
)
def test_steps_of_numbers(steps):
    model = Pipeline([(f"step{i}", step) for i, step in enumerate([*steps, SVOR()])])
    assert_same(model.fit(X, Y), np.vstack([NEW, np.zeros((1, X.shape[1]))]))


@pytest.mark.parametrize(
    "options", [{}, {"strategy": "median", "add_indicator": True}, {"strategy": "constant", "fill_value": 2.5}]
)
def test_missing_numbers(options):
    empty = np.column_stack([GAPS, np.full(len(GAPS), np.nan)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column without values is left out
        model = make_pipeline(SimpleImputer(**options), SVOR()).fit(empty, Y)
        predicted = model.predict(empty[:70])
    assert outputs(model, empty[:70])["label"].tolist() == predicted.tolist()


@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(handle_unknown="ignore"),
        OneHotEncoder(drop="first"),
        OneHotEncoder(drop=["green"]),
        OrdinalEncoder(encoded_missing_value=-2),
        make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
        make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), OrdinalEncoder()),
    ],
)
def test_columns_of_a_frame(encoder):
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer((numbers, ["age", "size"]), (encoder, ["colour"]), (OneHotEncoder(), ["floor"]))
    model = make_pipeline(columns, SVOR()).fit(HOLES, Y)
    assert_same(model, HOLES[:50])
    assert_same(make_pipeline(columns, CalibratedOrdinal(LinearSVOR(), cv=2)).fit(HOLES, Y), HOLES[:50])


def test_encoders_alone():
    assert_same(make_pipeline(OneHotEncoder(), SVOR()).fit(FRAME[["colour"]], Y), FRAME[["colour"]])
    model = make_pipeline(OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-5), SVOR())
    model.fit(FRAME[["floor"]].to_numpy(), Y)
    assert_same(model, np.array([[0.0], [1.0], [2.0], [77.0]]))


def test_unknown_categories_have_no_feature():
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), SVOR()).fit(FRAME[["colour"]], Y)
    assert_same(model, pd.DataFrame({"colour": ["red", "violet", "blue"]}))


# Tables


@pytest.mark.parametrize("machine", [SVOR(), CalibratedOrdinal(SVOR(), cv=2), LinearNPSVOR()])
def test_the_model_of_the_command_line(machine, tmp_path):
    model = TableModel(machine, TableEncoder()).fit(HOLES, Y)
    save(model, tmp_path / "model.ordsvm")
    assert_same(load(tmp_path / "model.ordsvm"), HOLES)
    assert_same(make_pipeline(TableEncoder(), machine).fit(HOLES, Y), HOLES)


def test_columns_named_by_numbers():
    numbered = HOLES.set_axis(range(HOLES.shape[1]), axis=1)
    assert_same(TableModel(SVOR(), TableEncoder()).fit(numbered, Y), numbered.rename(columns=str))


def test_a_table_without_names():
    assert_same(TableModel(LinearSVOR()).fit(X, Y).machine_, NEW)
    found = outputs(TableModel(LinearSVOR()).fit(X, Y), NEW)
    assert found["rank"].shape == (len(NEW),)


# Refusals


@pytest.mark.parametrize(
    ("model", "samples", "message"),
    [
        (make_pipeline(PolynomialFeatures(), SVOR()), X, "no operators for PolynomialFeatures"),
        (make_pipeline(TfidfVectorizer(), LinearSVOR()), FRAME["colour"], "no operators for TfidfVectorizer"),
        (TableModel(LinearSVOR(), TableEncoder(text=["colour"])), FRAME, "column 'colour' is text"),
        (
            make_pipeline(OneHotEncoder(), SVOR()),
            FRAME[["colour"]].to_numpy(),
            "needs names of columns that hold texts",
        ),
        (make_pipeline(OneHotEncoder(min_frequency=2), SVOR()), FRAME[["colour"]], "without min_frequency"),
        (make_pipeline(OneHotEncoder(), SVOR()), FRAME[["colour", "floor"]], "texts and numbers to one OneHotEncoder"),
        (make_pipeline(SimpleImputer(missing_values=-1), SVOR()), X, "missing_values=nan"),
    ],
)
def test_what_has_no_operators_gets_a_sentence(model, samples, message):
    model.fit(samples, Y)
    with pytest.raises(TypeError, match=message):
        to_onnx(model)
