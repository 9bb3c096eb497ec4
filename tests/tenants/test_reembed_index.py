"""`manage.py reembed --index`: one whole index for each model, whatever was left behind or has its name."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from tenants.vector_indexes import LONGEST, create_index
from tenants.vectors import kinds
from tests.architecture.sources import ROOT
from tests.tenants.two_models import LOCAL, OTHER, both

NAME = "observation_nearest_text_embedding_3_small"
TABLE = "observation_embeddings"


@pytest.fixture(autouse=True)
def provider(settings):
    with both(settings) as running:
        yield running


@pytest.fixture(autouse=True)
def as_before():
    """What these tests make is gone after each. Others may have indexes of their own."""
    yield
    for name in indexes():
        if re.match("[a-z]+_nearest_", name):
            execute(f'DROP INDEX "{name}"')


def execute(sql, *params):
    with connections["owner"].cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall() if cursor.description else []


def indexes():
    """Those for nearest neighbours, and whether they are whole."""
    return dict(
        execute(
            "SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
            " JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'hnsw'"
        )
    )


def index(*options):
    out = StringIO()
    call_command("reembed", "--index", *options, stdout=out, stderr=StringIO())
    return out.getvalue().split()


def made(model, kind="observation", dimensions=1536):
    return create_index(kinds()[kind], model=model, dimensions=dimensions)


@contextmanager
def older_snapshot():
    """A transaction that an index waits for, since it began before."""
    other = connections["owner"].copy()
    with other.cursor() as cursor:
        cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        cursor.execute(f"SELECT count(*) FROM {TABLE}")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")
            other.close()


def in_a_thread(errors):
    def run():
        try:
            index("--kind", "observation")
        except CommandError as error:
            errors.append(str(error))
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def wait_for_builder():
    """The process that waits with an index half made."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        found = execute("SELECT pid FROM pg_stat_progress_create_index WHERE phase LIKE 'waiting%%'")
        if found and NAME in indexes():
            return found[0][0]
        time.sleep(0.02)
    raise AssertionError("no index is being made")


def test_the_index_of_a_new_model_is_made_while_others_write():
    assert NAME in index()
    assert indexes()[NAME]
    assert NAME in index(), "is there already"


def test_an_index_of_episodes_is_made_when_it_is_asked_for():
    assert not any(name.startswith("episode_nearest") for name in index())
    assert index("--kind", "episode") == [NAME.replace("observation", "episode")]


def test_what_a_cancelled_run_left_is_made_anew():
    errors = []
    with older_snapshot():
        thread = in_a_thread(errors)
        pid = wait_for_builder()
        with pytest.raises(CommandError, match=f"Somebody else is making {NAME} at this moment"):
            index("--kind", "observation")
        execute("SELECT pg_cancel_backend(%s)", pid)
        thread.join(20)
    assert errors == [
        "The index of observation was not made: canceling statement due to user request. Run it again."
    ]
    assert indexes()[NAME] is False
    assert index("--kind", "observation") == [NAME]
    assert indexes()[NAME] is True


def test_whoever_cancels_it_at_the_keyboard_is_told():
    set_up = {"EMBEDDING_NEXT_PROVIDER": "openai", "EMBEDDING_NEXT_MODEL": OTHER, "OPENAI_API_KEY": "sk-x"}
    with older_snapshot():
        running = subprocess.Popen(
            [sys.executable, ROOT / "manage.py", "reembed", "--index", "--kind", "observation"],
            env=os.environ | set_up, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  as at a terminal
        )  # fmt: skip
        wait_for_builder()
        running.send_signal(signal.SIGINT)
        out, told = running.communicate(timeout=20)
    assert (out, running.returncode) == ("", 1)
    assert told == "CommandError: Cancelled: the index of observation is made anew next time.\n"


def test_vectors_too_long_for_an_index_are_told(settings):
    settings.EMBEDDING_NEXT_DIMENSIONS = 4001
    with pytest.raises(CommandError, match=r"4,001 dimensions: an approximate index takes 4,000 at most"):
        index()
    assert made("of-4000", dimensions=4000) == "observation_nearest_of_4000"


def test_an_index_is_known_by_what_it_is_of():
    """That of the local model was made by a migration, under another name."""
    assert made(LOCAL, dimensions=384) == "observation_nearest"
    assert indexes().keys() & {"observation_nearest_all_minilm_l6_v2"} == set()


def test_models_with_the_same_letters_have_an_index_each():
    models = ["a-b", "a_b", "a.b", "A-b", "a--b", "it's", "x" * 70 + "1", "x" * 70 + "2", "ä/ö"]
    names = [made(model) for model in models]
    assert names[0] == "observation_nearest_a_b"
    assert len(set(names)) == len(models)
    assert max(len(name.encode()) for name in names) <= LONGEST
    assert [made(model) for model in models] == names
    assert all(indexes()[name] for name in names)


def test_a_name_that_another_models_index_has_is_left_to_it():
    execute(
        f"CREATE INDEX {NAME} ON {TABLE} USING hnsw ((embedding::halfvec(1536)) halfvec_cosine_ops)"
        " WHERE model = 'text_embedding.3.small'"
    )
    name = made(OTHER)
    assert name.startswith(f"{NAME}_")
    assert made("text_embedding.3.small") == NAME
    assert indexes()[name]
