from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from engine.cli.subcommand import add_load_options, load_options
from engine.files import read_cached, write_cached
from engine.hub import bundled
from engine.hub.installed import cache_folder
from engine.hub.local_import import import_model
from engine.hub.model_folders import models_folder
from engine.messages import DraftPair, LoadOptions
from engine.model_file import open_model
from engine.planning.pairs import draft_problems, pairs
from engine.planning.planner import model_planner, own_drafts
from engine.sentences import LANGUAGE
from tests.support.checkpoints import reference_model, train_tokenizer, write_checkpoint
from tests.support.gguf_files import write_gguf
from tests.support.next_layers import write_gguf_with_next_layer


@pytest.fixture(autouse=True)
def _no_bundled_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bundled, "assets_folder", lambda: tmp_path / "no assets")


@pytest.fixture
def three(llama_folder: Path, tmp_path: Path) -> Path:
    """A target, a smaller model of its vocabulary, and one of another vocabulary."""
    small = write_checkpoint(tmp_path / "small", num_hidden_layers=1)
    other = write_checkpoint(tmp_path / "other", num_hidden_layers=1, tokenizer=False)
    tokenizer = train_tokenizer()
    tokenizer.add_tokens(["<another>"])
    tokenizer.save_pretrained(other)
    import_model(models_folder(), [llama_folder], name="target")
    import_model(models_folder(), [small], name="small", kind="draft", belongs_to=("target",))
    import_model(models_folder(), [other], name="other", kind="draft")
    return other


def found() -> dict[str, DraftPair]:
    return {pair.draft: pair for pair in pairs()}


def test_each_draft_fits_or_has_its_reason(three: Path) -> None:
    table = found()
    assert set(table) == {"small", "other"}
    dear = "The draft reads 0.47 of the model for each guess: not worth it without a GPU."
    assert table["small"] == DraftPair("target", "small", "draft", "", dear)
    assert table["other"].kind == "draft"
    assert "another vocabulary" in str(table["other"].problem)


def test_an_installed_draft_that_fits_is_the_model_s_own(three: Path) -> None:
    target = open_model("target")
    assert own_drafts(target) == ()  # nobody has looked yet
    found()
    (small,) = own_drafts(target)
    assert Path(small).name == "small"
    planner = model_planner(LoadOptions(model="target"))
    assert [draft.name for draft in planner.drafts] == [small]
    assert planner.plan.mode("dovetail").tokens_per_second
    assert planner.plan.chosen in ("plain", "lookup")  # auto waits until replies have shown what it is worth


@pytest.mark.parametrize("beside", [False, True], ids=["inside", "beside"])
def test_the_layer_that_a_model_comes_with_is_listed_and_taken(tmp_path: Path, beside: bool) -> None:
    _, path = write_gguf_with_next_layer(tmp_path / "files", "glm4-moe", beside=beside)
    import_model(models_folder(), [path], name="target")
    assert list(found().values()) == [DraftPair("target", "mtp", "head", "")]
    assert own_drafts(open_model("target")) == ("mtp",)
    planner = model_planner(LoadOptions(model="target"))
    assert [draft.name for draft in planner.drafts] == ["mtp"]
    assert not planner.plan.mode("dovetail").passed_over  # auto weighs it before any reply has tried it
    assert list(draft_problems(LoadOptions(model="target"), ["mtp"])) == [("mtp", "", "dovetail")]
    parser = argparse.ArgumentParser()
    add_load_options(parser)
    parser.add_argument("--mode", default="auto")
    for mode, drafts in (("auto", ()), ("plain", ("off",)), ("dovetail", ("mtp",)), ("minions", ("lookup", "mtp"))):
        wanted = load_options(parser.parse_args(["--model", "target", "--mode", mode]), threads=None)
        assert wanted.drafts == drafts


def test_files_of_other_vocabularies_are_told_apart_without_their_tokenizers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = train_tokenizer()
    other.add_tokens(["<another>"])
    model = reference_model("qwen3")
    for name, tokenizer in (("target", train_tokenizer()), ("same", train_tokenizer()), ("other", other)):
        write_gguf(model, tmp_path / f"{name}.gguf", tokenizer=tokenizer)

    def build(*arguments: object) -> None:
        raise AssertionError("a tokenizer was built")

    monkeypatch.setattr("engine.model_file.Tokenizer", build)
    drafts = [str(tmp_path / f"{name}.gguf") for name in ("same", "other")]
    same, another = draft_problems(LoadOptions(model=str(tmp_path / "target.gguf")), drafts)
    assert same[1:] == ("", "dovetail")
    assert "another vocabulary" in another[1]


def test_what_was_worked_out_is_kept_until_a_file_changes(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = found()

    def no_reading(folder: Path, head: bool) -> None:
        raise AssertionError(f"{folder} was read again")

    with monkeypatch.context() as patched:
        patched.setattr("engine.model_file.Checkpoint", no_reading)
        assert found() == before
    train_tokenizer().save_pretrained(three)
    (three / "added_tokens.json").unlink(missing_ok=True)
    assert found()["other"].problem == ""


def test_kept_sentences_are_in_the_language_of_today(three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    english = found()["other"].problem
    monkeypatch.setenv(LANGUAGE, "de")
    german = found()["other"].problem
    assert german != english
    assert "Vokabular" in str(german)
    monkeypatch.delenv(LANGUAGE)
    assert found()["other"].problem == english


def test_what_cannot_be_read_is_told_and_not_kept(three: Path) -> None:
    (three / "tokenizer.json").rename(three / "away.json")
    assert "tokenizer" in str(found()["other"].problem)
    kept = read_cached(cache_folder() / "pairs.json")["pairs"]
    assert [problem for problem, _ in kept.values()] == [
        "-",
        None,
    ]  # the target comes with no draft of its own, and the small one fits
    (three / "away.json").rename(three / "tokenizer.json")
    assert "another vocabulary" in str(found()["other"].problem)


def test_a_damaged_table_is_made_again(three: Path) -> None:
    before = found()
    path = cache_folder() / "pairs.json"
    path.write_text(path.read_text().replace("null", '"They do not fit."'))
    assert found() == before
    for content in ([], {"version": 0}):
        write_cached(path, content)
        assert found() == before


def test_a_stop_keeps_what_is_known(three: Path) -> None:
    calls = []

    def stop() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pairs(stop)
    assert len(read_cached(cache_folder() / "pairs.json")["pairs"]) == 1
