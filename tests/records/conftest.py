from tests.episodic.conftest import model_away

__all__ = ["model_away"]
