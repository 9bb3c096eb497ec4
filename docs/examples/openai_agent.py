"""An agent with the openai client whose memory is Strata.

Before each call of the model, `assemble` makes its messages: who the user is, what happened, what was said
last. Behind it, the turn goes to the log, and `remember` keeps what is worth it. The agent keeps nothing.

    pip install ./sdk openai
    python docs/examples/openai_agent.py
"""

import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from openai import OpenAI
from strata_memory import StrataClient
from strata_memory.addresses import find_address
from strata_memory.inputs import NewTurn

SYSTEM = "You are a helpful agent. Answer in one sentence."


class FakeModel(BaseHTTPRequestHandler):
    """Stands where a model would be: it repeats what the prompt says about the user's home."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = [one for one in asked["messages"] if one["role"] == "system" and "Oslo" in one["content"]]
        says = "You live in Oslo." if known else "Nice to meet you."
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": says}}
        body = json.dumps({"id": "1", "object": "chat.completion", "model": "fake", "choices": [choice]})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


def fake_model() -> OpenAI:
    server = ThreadingHTTPServer(("127.0.0.1", 0), FakeModel)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return OpenAI(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="none")


model = fake_model()  # a real one: model = OpenAI(), and its name below
NAME = "fake"


def answer(strata: StrataClient, session: str, said: str) -> str:
    prompt = strata.assemble(session_id=session, query=said, system=SYSTEM)
    completion = model.chat.completions.create(model=NAME, messages=prompt.messages)  # type: ignore[arg-type]
    answered = completion.choices[0].message.content or ""
    # First the log, so that what is remembered knows which turn said it.
    turns: list[NewTurn] = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": answered},
    ]
    strata.sessions.append_turns(session, turns=turns)
    kept = strata.remember(session_id=session, user_message=said, assistant_message=answered)
    print(f"  user:  {said}\n  agent: {answered}")
    for one in kept.written:
        print(f"         (remembered: {one.text})")
    return answered


def main() -> None:
    server = find_address(None, None)  # STRATA_URL and STRATA_API_KEY, else what `make run` has started
    user = f"ada-{secrets.token_hex(3)}"
    with StrataClient(server.url, server.api_key, user_id=user, agent_id="concierge") as strata:
        print(f"{user}, first session")
        answer(strata, f"{user}-1", "Hello! I live in Oslo.")
        strata.sessions.end(f"{user}-1")  # its summary becomes an episode
        print(f"{user}, second session: another conversation, another day")
        answer(strata, f"{user}-2", "Which city do I live in?")


if __name__ == "__main__":
    main()
