"""One file a command."""

from ordsvm.cli.commands.compare import compare
from ordsvm.cli.commands.demo import demo
from ordsvm.cli.commands.diagnose import diagnose
from ordsvm.cli.commands.evaluate import evaluate
from ordsvm.cli.commands.explain import explain
from ordsvm.cli.commands.info import info
from ordsvm.cli.commands.predict import predict
from ordsvm.cli.commands.report import report
from ordsvm.cli.commands.train import train
from ordsvm.cli.commands.tune import tune

ALL = (train, predict, evaluate, diagnose, explain, report, tune, compare, info, demo)
