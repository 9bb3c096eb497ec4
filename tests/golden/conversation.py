"""A conversation as an agent's runtime has it with the server: by HTTP, turn by turn."""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.conftest import Member

CHATTER = (
    "Can you make the second paragraph shorter?",
    "Which of the two charts reads better?",
    "Let us look at the table once more.",
    "That reads well, thank you.",
    "What comes next on the list?",
)


@dataclass
class Conversation:
    """One session of one user."""

    member: Member
    user: str
    session: str
    said: list[str] = field(default_factory=list)

    def call(self, method: str, path: str, body: Any = None, **query: str) -> Any:
        answer = self.member.http.request(method, f"/api/v1{path}", json=body, params=query)
        assert answer.is_success, (method, path, answer.status_code, answer.text)
        return answer.json() if answer.content else None

    def turn(self, text: str, reply: str = "All right.") -> dict[str, Any]:
        """What the user says and the agent answers, entered in the log and given to memory."""
        self.say(text, reply)
        return self.remember(text, reply)

    def say(self, text: str, reply: str = "All right.") -> dict[str, Any]:
        """Likewise, but for the log alone."""
        turns = [{"role": "user", "content": text}, {"role": "assistant", "content": reply}]
        self.said.append(text)
        body = {"user_id": self.user, "turns": turns}
        answer: dict[str, Any] = self.call("POST", f"/sessions/{self.session}/turns", body)
        return answer

    def chat(self, exchanges: int) -> None:
        """Talk that says nothing about anybody."""
        for number in range(exchanges):
            self.turn(CHATTER[number % len(CHATTER)])

    def remember(self, text: str, reply: str = "") -> dict[str, Any]:
        body = {"session_id": self.session, "user_id": self.user, "user_message": text}
        answer: dict[str, Any] = self.call(
            "POST", "/remember", body | ({"assistant_message": reply} if reply else {})
        )
        return answer

    def end(self) -> dict[str, Any]:
        answer: dict[str, Any] = self.call("POST", f"/sessions/{self.session}/end", user_id=self.user)
        return answer

    def start(self, query: str) -> dict[str, Any]:
        body = {"user_id": self.user, "query": query}
        answer: dict[str, Any] = self.call("POST", f"/sessions/{self.session}/start", body)
        return answer

    def prompt(self, query: str, **more: Any) -> dict[str, Any]:
        """The messages for the next call of the model, and the account of them."""
        body = {"session_id": self.session, "user_id": self.user, "query": query} | more
        answer: dict[str, Any] = self.call("POST", "/assemble", body)
        return answer

    def told(self, query: str, **more: Any) -> str:
        """What the prompt says of memory: everything before the window."""
        messages = self.prompt(query, **more)["messages"]
        return "\n".join(one["content"] for one in messages if one["role"] == "system")

    def slots(self, **query: str) -> dict[str, Any]:
        found = self.call("GET", "/entities", user_id=self.user, **query)["results"]
        return {one["key"]: one["value"] for one in found}

    def recalled(self, query: str) -> list[str]:
        found = self.call("POST", "/recall", {"user_id": self.user, "query": query})["results"]
        return [one["text"] for one in found]

    def episodes(self) -> list[str]:
        found = self.call("GET", "/episodes", user_id=self.user)["results"]
        return [one["text"] for one in found]

    def decisions(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.call("GET", "/write-decisions", user_id=self.user)["results"]
        return found

    def everything(self) -> str:
        """All that the server shows of the person's long-term memory, as text."""
        return json.dumps([self.slots(), self.episodes(), self.decisions()])
