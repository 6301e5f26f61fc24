"""One file a command."""

from ordsvm.cli.commands.demo import demo
from ordsvm.cli.commands.evaluate import evaluate
from ordsvm.cli.commands.info import info
from ordsvm.cli.commands.predict import predict
from ordsvm.cli.commands.report import report
from ordsvm.cli.commands.train import train

ALL = (train, predict, evaluate, report, info, demo)
