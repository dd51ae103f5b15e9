"""Record SmolLM2-135M-Instruct on cases of the test split, one cassette a prompt.

    python benchmarks/record_smollm2.py [--prompt concise@1 ...] [--model-python PYTHON]

The model is served on loopback by benchmarks/local_model.py and asked through the client like any
other endpoint, one request at a time; what is on a cassette already is not asked again. It needs
the packages that script names, in this environment or in that of `--model-python`.

A model of this size understands little. Its recordings show that the whole way works with a real
model, and that the measures tell prompts apart; they say nothing about models people would use.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from wsmem.distill.cassettes import Cassette
from wsmem.distill.client import ChatClient
from wsmem.distill.prompting import load_prompt
from wsmem.distill.recording import plan, record
from wsmem.evals.distillation.cases import load_case_set
from wsmem.evals.distillation.execution import request_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wsmem.distill.cassettes import Planned
    from wsmem.evals.distillation.cases import Case

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks" / "results" / "distill"
SETS = ("distill-zh", "distill-en")
PROMPTS = ("concise@1", "careful@1", "few-shot@1")
MODEL = "SmolLM2-135M-Instruct.Q4_1"
CASES = 24
"""Of each set; one after the other from every slice."""
DEADLINE_S = 600.0


def chosen(cases: Sequence[Case], count: int) -> list[Case]:
    """Cases of as many slices as possible: the first of each main slice, then the second."""
    by_slice: dict[str, list[Case]] = {}
    for case in cases:
        by_slice.setdefault(case.slices[0], []).append(case)
    rounds = zip_longest(*by_slice.values())
    return [case for turn in rounds for case in turn if case is not None][:count]


async def record_prompt(prompt: str, url: str) -> None:
    """Record what a prompt's cassette lacks, and say how it went."""
    cases = [
        case
        for name in SETS
        for case in chosen(load_case_set(ROOT / "datasets" / name).of_split("test"), CASES)
    ]
    planned = plan(
        [(case.id, request_of(case)) for case in cases], load_prompt(prompt), model=MODEL
    )
    cassette = Cassette(FOLDER / f"smollm2-{prompt.partition('@')[0]}.jsonl")

    def say(item: Planned, problem: str | None) -> None:
        print(prompt, item.case, problem or "recorded", flush=True)

    client = ChatClient(base_url=url, deadline_s=DEADLINE_S)
    report = await record(
        planned, ask=client.complete, cassette=cassette, concurrency=1, on_progress=say
    )
    print(
        f"{prompt}: {report.recorded} recorded, {len(report.failed)} failed, "
        f"{report.input_tokens} + {report.output_tokens} tokens"
    )


def main() -> int:
    """Serve, record, stop serving."""
    parser = argparse.ArgumentParser(description="Record SmolLM2 on cases of the test split.")
    parser.add_argument("--prompt", action="append", help=f"default: {', '.join(PROMPTS)}")
    parser.add_argument("--model-python", default=sys.executable, help="has llama_cpp")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    script = str(ROOT / "benchmarks" / "local_model.py")
    command = [options.model_python, script, "--threads", str(options.threads)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = (server.stdout.readline() if server.stdout else "").strip()
            if not url:
                return 1
            for prompt in options.prompt or PROMPTS:
                asyncio.run(record_prompt(prompt, url))
        finally:
            server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
