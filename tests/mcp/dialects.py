"""How agents speak to models: what a request says, as far as a stand-in has to know, and the events of an answer, which is a text
or one or more calls.

Each request holds the whole conversation: the tools that are offered, and what calls of them were answered.
"""

import itertools
import json

numbers = itertools.count(1)

# How OpenAI's responses name a call of each kind of tool.
KINDS_OF_CALLS = {"function": "function_call", "custom": "custom_tool_call"}


class Turn:
    """`tools` has by its whole name what a call of a tool says to name it. `results` are the answers, in their order, and `told`
    is all that was said to the model, answers and what stands around them, in the order of the conversation."""

    def __init__(self, tools, results, told):
        self.tools = tools
        self.results = results
        self.told = told


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
        results, told = [], []
        for part in (part for content in body["contents"] if content["role"] == "user" for part in content["parts"]):
            if "functionResponse" in part:
                results.append(json.dumps(part["functionResponse"]["response"]))
            told.append(results[-1] if "functionResponse" in part else part.get("text", ""))
        return Turn({tool["name"]: {"name": tool["name"]} for tool in declared}, results, told)

    @staticmethod
    def write(*said):
        parts = [
            {"functionCall": {"id": one.id, "args": one.arguments, **one.tool}} if isinstance(one, Call) else {"text": one}
            for one in said
        ]
        yield event({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]})


class Messages:
    """Anthropic's messages."""

    path = "/v1/messages"

    @staticmethod
    def read(body):
        tools = {tool["name"]: {"name": tool["name"]} for tool in body.get("tools", [])}
        results, told = [], []
        for content in (message["content"] for message in body["messages"] if message["role"] != "assistant"):
            for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if block["type"] == "tool_result":
                    results.append(text_of(block["content"]))
                told.append(results[-1] if block["type"] == "tool_result" else block.get("text", ""))
        return Turn(tools, results, told)

    @staticmethod
    def write(*said):
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": f"message_{next(numbers)}", "type": "message", "role": "assistant", "model": "stand-in", "usage": usage}
        yield event({"type": "message_start", "message": {**message, "content": []}})
        for index, one in enumerate(said):
            block, delta, reason = {"type": "text", "text": ""}, {"type": "text_delta", "text": one}, "end_turn"
            if isinstance(one, Call):
                block = {"type": "tool_use", "id": one.id, "input": {}, **one.tool}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(one.arguments)}
                reason = "tool_use"
            yield event({"type": "content_block_start", "index": index, "content_block": block})
            yield event({"type": "content_block_delta", "index": index, "delta": delta})
            yield event({"type": "content_block_stop", "index": index})
        yield event({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage})
        yield event({"type": "message_stop"})


class Responses:
    """OpenAI's responses."""

    path = "/responses"

    @staticmethod
    def read(body):
        tools = {}
        for offered in body.get("tools", []):
            if offered["type"] in KINDS_OF_CALLS:
                tools[offered["name"]] = {"type": KINDS_OF_CALLS[offered["type"]], "name": offered["name"]}
            # What a server offers stands together under its name.
            for tool in offered.get("tools", []):
                tools[offered["name"] + tool["name"]] = {"namespace": offered["name"], "name": tool["name"]}
        results, told = [], []
        for item in body["input"]:
            if item["type"].endswith("call_output"):
                results.append(text_of(item["output"]))
                told.append(results[-1])
            elif item["type"] == "message" and item["role"] != "assistant":
                told.append(text_of(item["content"]))
        return Turn(tools, results, told)

    @staticmethod
    def write(*said):
        response = {"id": f"response_{next(numbers)}"}
        yield event({"type": "response.created", "response": response})
        for one in said:
            item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": one}]}
            if isinstance(one, Call):
                item = {"type": "function_call", "call_id": one.id, **one.tool}
                # A tool that is no function takes a text of its own format.
                is_free = item["type"] == "custom_tool_call"
                item |= {"input": one.arguments} if is_free else {"arguments": json.dumps(one.arguments)}
            yield event({"type": "response.output_item.done", "item": item})
        yield event({"type": "response.completed", "response": response})


class Completions:
    """OpenAI's chat completions, which many others have, too."""

    path = "/chat/completions"

    @staticmethod
    def read(body):
        names = (tool["function"]["name"] for tool in body.get("tools", []))
        heard = [message for message in body["messages"] if message["role"] != "assistant"]
        results = [text_of(message["content"]) for message in heard if message["role"] == "tool"]
        return Turn({name: {"name": name} for name in names}, results, [text_of(message["content"]) for message in heard])

    @staticmethod
    def write(*said):
        for index, one in enumerate(said):
            delta, reason = {"content": one}, "stop"
            if isinstance(one, Call):
                function = {"arguments": json.dumps(one.arguments), **one.tool}
                delta = {"tool_calls": [{"index": index, "id": one.id, "type": "function", "function": function}]}
                reason = "tool_calls"
            yield event({"choices": [{"index": 0, "delta": {"role": "assistant", **delta}}]})
        yield event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        yield "data: [DONE]\n\n"


DIALECTS = (Gemini, Messages, Responses, Completions)
