"""A mode is one file: the engine and the command line find one that is put into the table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main
from engine.decoding.costs import Costs
from engine.decoding.worth import Worth
from engine.drafting.committee import CommitteeMemory, MergedCommittee
from engine.drafting.drafter import NoDrafter
from engine.drafting.lookup import MatchChances
from engine.drafting.minions import LengthSelector, MajorityCommittee
from engine.drafting.paced_tree import Pacing
from engine.drafting.trees import LARGEST_TREE, TreeShape
from engine.errors import InvalidOption
from engine.messages import LoadOptions
from engine.model.token_tree import DraftShape
from engine.modes import MODES, check_options, in_mode, mode_options
from engine.modes.mode import AS_PUBLISHED, DEPTH, WIDTH
from tests.support.echo_mode import MODE
from tests.support.machines import machine, machine_names, plan_machine, target


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODES, MODE.name, MODE)


@pytest.mark.usefixtures("echo")
def test_it_is_planned_and_told() -> None:
    plan = plan_machine(machine(machine_names()[0]), target("llama-1b"))
    assert plan.mode("echo").tokens_per_second == plan.mode("lookup").tokens_per_second
    assert in_mode("echo", LoadOptions()).drafts == ("echo",)
    assert list(mode_options())[-2:] == ["echo_length", "echo_on"]


@pytest.mark.usefixtures("echo")
def test_the_command_line_has_it_and_its_options(llama_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--model", str(llama_folder)]) == 0
    assert "\necho " in capsys.readouterr().out
    assert main(["ask", "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "llmcad or echo (default: auto)" in words
    assert "--echo-length N How many tokens an echo has (1 to 8; default: 3)" in words
    assert "--echo-on, --no-echo-on Echo: there are any" in words
    assert (
        "read from the disk (1 to 64; default: 15 in dovetail, 63 in ghidorah, 31 in ppd, 15 in minions, 63 in llmcad)"
        in words
    )

    def reply(*more: str) -> dict[str, Any]:
        options = ["--raw", "--temperature", "0", "--max-tokens", "48", "--json"]
        assert main(["ask", "--model", str(llama_folder), *options, *more, "a b a b a b a b"]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    plain = reply("--mode", "plain")
    drafted = []
    for more in (["--no-echo-on"], ["--echo-length", "1"], []):
        found = reply("--mode", "echo", *more)
        assert (found["mode"], found["token_ids"]) == ("echo", plain["token_ids"])
        drafted.append(found["timings"]["draft_n"])
    assert 0 == drafted[0] < drafted[1] < drafted[2]
    assert main(["ask", "--model", str(llama_folder), "--mode", "echo", "--echo-length", "9", "a"]) == 2
    refused = "argument --echo-length: Length of echoes: choose a whole number from 1 to 8, not 9."
    assert capsys.readouterr().err == f"tenon ask: {refused} See `tenon ask --help`.\n"


def test_options_that_no_mode_has_are_refused() -> None:
    with pytest.raises(InvalidOption, match="No mode has an option 'echo_length': choose draft_width"):
        check_options({"echo_length": 3})
    for value in (0, 65, 2.5, True, "3", None, float("nan")):
        with pytest.raises(InvalidOption, match="choose a whole number from 1 to 64"):
            check_options({"draft_nodes": value})
    with pytest.raises(InvalidOption, match="choose true or false, not 1"):
        check_options({"look_up": 1})
    check_options({"draft_nodes": 64, "look_up": False, "as_published": True})


def test_defaults_of_options_are_those_of_the_drafters() -> None:
    dovetail, llmcad = MODES["dovetail"], MODES["llmcad"]
    assert dovetail.growth(dovetail.values({})) == TreeShape()
    assert llmcad.growth(llmcad.values({})) == Pacing()
    assert WIDTH.most * (DEPTH.most - 1) == LARGEST_TREE
    assert mode_options()["draft_nodes"].default is None
    assert (dovetail.values({})["draft_nodes"], llmcad.values({})["draft_nodes"]) == (15, 63)
    # Forwards that wait for the disk take as long for many nodes as for few.
    waiting = [dovetail.values(given, streamed=True) for given in ({}, {"draft_nodes": 7}, {"as_published": True})]
    assert [values["draft_nodes"] for values in waiting] == [63, 7, 15]


@pytest.mark.parametrize("name", [name for name, mode in MODES.items() if AS_PUBLISHED in mode.options])
def test_as_published_a_mode_keeps_to_its_paper_and_else_to_what_pays(name: str) -> None:
    """Sizes are fixed but Minions', whose selector settles the length of the line that members vote for."""
    mode = MODES[name]

    def parts(**given: bool) -> tuple[Any, Any, Any]:
        values = mode.values(given)
        committee = mode.committee and mode.committee(values, (), CommitteeMemory(), MatchChances())
        return mode.growth(values), mode.schedule(values, Costs(), committee or NoDrafter()), committee

    growth, schedule, committee = parts()
    assert isinstance(schedule, Worth)
    paper_growth, paper_schedule, vote = parts(as_published=True)
    if name == "minions":
        assert (type(committee), type(vote)) == (MergedCommittee, MajorityCommittee)
        assert (growth.width, paper_growth.width, type(paper_schedule)) == (10, 1, LengthSelector)
    else:
        assert paper_schedule.shape() == DraftShape(mode.values({})["draft_nodes"])
    if name == "llmcad":
        assert (growth.draft_beyond, paper_growth) == (True, Pacing(draft_beyond=False))
    if name == "dovetail":
        assert (growth, paper_growth) == (TreeShape(), TreeShape(chains=False))
    assert mode.drafting_name({"as_published": True}) == f"{name}+as_published"
