# Everything happens in .venv, which `make install` creates. All paths are relative, so that the checkout may lie
# anywhere, under names with spaces and non-ASCII letters too.
#
#   make run                        install what is missing and open the window
#   make test                       install what is missing and run the tests
#   make test-engine, make test-app run one half of them
#   make test-board                 a window with one reply, and the tests that an emulated ARM board has the time for
#   make packages                   build this system's packages (installers/README.md)
#   make model                      fetch the model that ships with Tenon, which `make run` and `make test` do too
#   make run PYTHON=python3.12      with another Python
#   make run TORCH_INDEX=ADDRESS    take torch from another package index (a build with CUDA, say)

PYTHON ?= python3
TORCH_INDEX ?=

VENV_PYTHON = .venv/bin/python
INSTALL = $(VENV_PYTHON) installers/environment.py $(if $(TORCH_INDEX),--torch-index '$(TORCH_INDEX)')
FETCH_MODEL = $(VENV_PYTHON) -m installers.bundled_model
FETCH_ARCHIVE = $(VENV_PYTHON) -m tests.support.llama_cpp_archive

# Tests start many processes, which compile all of their modules where nothing keeps them.
export PYTHONDONTWRITEBYTECODE =

.PHONY: run test test-engine test-app test-board test-slow mutants check format install packages model clean

# Without the bundled model the window opens all the same, and says what to do; tests that need it are skipped.
run: .venv/.installed
	@$(FETCH_MODEL) || true
	.venv/bin/tenon

# A process for each of up to four cores; slow tests measure, and run one after the other.
test: .venv/.installed-dev
	@$(FETCH_MODEL) || true
	@$(FETCH_ARCHIVE) || true
	$(VENV_PYTHON) -m pytest -n auto --maxprocesses 4 --dist worksteal

test-engine: .venv/.installed-dev ; $(VENV_PYTHON) -m pytest -n auto --maxprocesses 4 --dist worksteal tests/engine

test-app: .venv/.installed-dev ; $(VENV_PYTHON) -m pytest -n auto --maxprocesses 4 --dist worksteal tests/app

# Kernels, generation, families, tokens and the server, as far as instructions or the C library decide. What looks at
# sources, files, prompts and windows is as on a PC and left out, with most of tests/engine/model, text and server.
BOARD_TESTS = $(addprefix tests/engine/, kernels test_generation.py model/test_decoder_families.py \
	gguf/test_gguf_tokenizer.py text/test_tokenizer.py text/test_token_texts.py text/test_chat_template.py \
	server/test_openai_sdk.py server/test_serve_command.py)

test-board: .venv/.installed-dev
	$(FETCH_MODEL)
	QT_QPA_PLATFORM=offscreen .venv/bin/tenon --self-test
	$(VENV_PYTHON) -m pytest -n auto --maxprocesses 4 --dist worksteal --timeout 1800 $(BOARD_TESTS)

test-slow: .venv/.installed-dev
	@$(FETCH_MODEL) || true
	@$(FETCH_ARCHIVE) || true
	@$(VENV_PYTHON) -m tests.support.real_models || true
	$(VENV_PYTHON) -m pytest -m "slow or hypothesis" --hypothesis-profile=night

# Change the policy one line at a time: nearly all of these changes must make a test fail.
mutants: .venv/.installed-dev
	@$(FETCH_MODEL) || true
	$(VENV_PYTHON) -m tests.mutants

check: .venv/.installed-dev
	$(VENV_PYTHON) -m ruff check .
	$(VENV_PYTHON) -m ruff format --check .
	$(VENV_PYTHON) -m mypy

format: .venv/.installed-dev
	$(VENV_PYTHON) -m ruff check --fix .
	$(VENV_PYTHON) -m ruff format .

install: .venv/.installed

packages: .venv/.installed
	$(INSTALL) -r installers/requirements.txt
	$(VENV_PYTHON) installers/build.py

model: .venv/.installed
	@$(FETCH_MODEL)

# environment.py says why a machine or a Python gets no packages, and takes torch's build for processors, without CUDA.
# Kernels whose sources changed are built again, by an installation that finds all else in place.
.venv/.installed: pyproject.toml constraints.txt installers/older_glibc.txt engine/kernels/build.py \
		$(wildcard engine/kernels/csrc/*)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo 'Tenon needs Python 3.10 or newer: make $(or $(MAKECMDGOALS),run) PYTHON=python3.11'; exit 1; }
	@$(PYTHON) installers/environment.py --check
	$(PYTHON) -m venv .venv
	$(INSTALL) -e .
	@touch $@

.venv/.installed-dev: .venv/.installed
	$(INSTALL) -e '.[dev]'
	@touch $@

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
