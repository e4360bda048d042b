"""How agents speak to models: what a request says, as far as a stand-in has to know, and the events of an answer.

Each request holds the whole conversation: the tools that are offered, and what calls of them were answered.
"""

import itertools
import json

numbers = itertools.count(1)


class Turn:
    """`tools` has by its whole name what a call of a tool says to name it. `results` are the answers, in their order."""

    def __init__(self, tools, results):
        self.tools = tools
        self.results = results


class Call:
    def __init__(self, tool, arguments):
        self.tool = tool
        self.arguments = arguments
        self.id = f"call_{next(numbers)}"


def text_of(content):
    """The text of an answer, which comes whole or in parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def event(data):
    name = f"event: {data['type']}\n" if "type" in data else ""
    return f"{name}data: {json.dumps(data)}\n\n"


class Gemini:
    """Google's generateContent."""

    path = ":streamGenerateContent"

    @staticmethod
    def read(body):
        declared = (tool for group in body.get("tools", []) for tool in group.get("functionDeclarations", []))
        parts = (part for content in body["contents"] for part in content["parts"])
        answers = (part["functionResponse"]["response"] for part in parts if "functionResponse" in part)
        return Turn({tool["name"]: {"name": tool["name"]} for tool in declared}, [json.dumps(answer) for answer in answers])

    @staticmethod
    def write(said):
        part = {"text": said}
        if isinstance(said, Call):
            part = {"functionCall": {"id": said.id, "args": said.arguments, **said.tool}}
        yield event({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]})


class Messages:
    """Anthropic's messages."""

    path = "/v1/messages"

    @staticmethod
    def read(body):
        tools = {tool["name"]: {"name": tool["name"]} for tool in body.get("tools", [])}
        contents = (message["content"] for message in body["messages"] if not isinstance(message["content"], str))
        blocks = (block for content in contents for block in content)
        return Turn(tools, [text_of(block["content"]) for block in blocks if block["type"] == "tool_result"])

    @staticmethod
    def write(said):
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": f"message_{next(numbers)}", "type": "message", "role": "assistant", "model": "stand-in", "usage": usage}
        block, delta, reason = {"type": "text", "text": ""}, {"type": "text_delta", "text": said}, "end_turn"
        if isinstance(said, Call):
            block = {"type": "tool_use", "id": said.id, "input": {}, **said.tool}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(said.arguments)}
            reason = "tool_use"
        yield event({"type": "message_start", "message": {**message, "content": []}})
        yield event({"type": "content_block_start", "index": 0, "content_block": block})
        yield event({"type": "content_block_delta", "index": 0, "delta": delta})
        yield event({"type": "content_block_stop", "index": 0})
        yield event({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage})
        yield event({"type": "message_stop"})


class Responses:
    """OpenAI's responses."""

    path = "/responses"

    @staticmethod
    def read(body):
        tools = {}
        for offered in body.get("tools", []):
            # What a server offers stands together under its name.
            for tool in offered.get("tools", []):
                tools[offered["name"] + tool["name"]] = {"namespace": offered["name"], "name": tool["name"]}
        answered = (item for item in body["input"] if item["type"] == "function_call_output")
        return Turn(tools, [text_of(item["output"]) for item in answered])

    @staticmethod
    def write(said):
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}
        if isinstance(said, Call):
            item = {"type": "function_call", "call_id": said.id, "arguments": json.dumps(said.arguments), **said.tool}
        response = {"id": f"response_{next(numbers)}"}
        yield event({"type": "response.created", "response": response})
        yield event({"type": "response.output_item.done", "item": item})
        yield event({"type": "response.completed", "response": response})


class Completions:
    """OpenAI's chat completions, which many others have, too."""

    path = "/chat/completions"

    @staticmethod
    def read(body):
        names = (tool["function"]["name"] for tool in body.get("tools", []))
        answered = (message for message in body["messages"] if message["role"] == "tool")
        return Turn({name: {"name": name} for name in names}, [text_of(message["content"]) for message in answered])

    @staticmethod
    def write(said):
        delta, reason = {"content": said}, "stop"
        if isinstance(said, Call):
            function = {"arguments": json.dumps(said.arguments), **said.tool}
            delta = {"tool_calls": [{"index": 0, "id": said.id, "type": "function", "function": function}]}
            reason = "tool_calls"
        yield event({"choices": [{"index": 0, "delta": {"role": "assistant", **delta}}]})
        yield event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        yield "data: [DONE]\n\n"


DIALECTS = (Gemini, Messages, Responses, Completions)
