"""Where models can be compiled, and where that is refused before a minute is lost."""

import sys

import pytest
import torch

from gradsurge.training import NoCompilerError, TrainSettings, train
from gradsurge.training.compiling import check_compiler
from tests.training.small_job import small_job

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


@pytest.fixture
def no_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_it_is_refused_in_words():
    with pytest.raises(
        NoCompilerError, match=r"compile: .* no-such-compiler is not there; install"
    ):
        check_compiler(CPU)


@pytest.mark.usefixtures("no_compiler")
def test_for_a_gpu_no_cpp_is_asked_for():
    check_compiler(CUDA)


def test_the_usual_compiler_is_looked_for(monkeypatch):
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NoCompilerError, match=r"\+\+ is not there|cl is not there"):
        check_compiler(CPU)


def test_an_empty_name_is_no_compiler_as_torch_sees_it(monkeypatch):
    monkeypatch.setenv("CXX", "")
    with pytest.raises(NoCompilerError, match="CXX is not there"):
        check_compiler(CPU)


def test_any_program_that_is_there_will_do(monkeypatch):
    monkeypatch.setenv("CXX", sys.executable)
    check_compiler(CPU)


@pytest.mark.usefixtures("no_compiler")
def test_a_training_that_is_not_compiled_does_not_mind(fabric, tmp_path):
    assert train(small_job(tmp_path, TrainSettings(steps=1)), fabric).reason == "finished"


@pytest.mark.usefixtures("no_compiler")
def test_a_training_that_is_compiled_does(fabric, tmp_path):
    with pytest.raises(NoCompilerError):
        train(small_job(tmp_path, TrainSettings(steps=1, compile=True)), fabric)
