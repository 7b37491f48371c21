"""Training that loses nothing: checkpoints, shift awareness, data that resumes, for one's own script."""

from nightshift.training.checkpoint import Checkpoints, SaveReport
from nightshift.training.errors import SaveError, TrainingError
from nightshift.training.loader import Loader
from nightshift.training.loading import Loaded
from nightshift.training.run import Drained, Run
from nightshift.training.samples import ImageFolder, Synthetic
from nightshift.training.state import TrainingState

__all__ = [
    "Checkpoints",
    "Drained",
    "ImageFolder",
    "Loaded",
    "Loader",
    "Run",
    "SaveError",
    "SaveReport",
    "Synthetic",
    "TrainingError",
    "TrainingState",
]
