"""The Python SDK as the client: once with the protocol's handshake and sessions, once without them."""

import asyncio
import itertools
import json
import re
from contextlib import AsyncExitStack

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from checks import Checks, expect
from workspace import (
    AFTER,
    AFTER_TAGGED,
    BEFORE,
    BEFORE_TAGGED,
    NAME,
    OPERATIONS,
    SECRET,
    TEMPLATES,
    TOOLS,
    Served,
    Workspace,
    file_hash,
    tagged_lines,
)

# What the client is told to speak, and the revision that must come of it.
ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28"}


def text_of(result):
    """The reply as the model gets it: one text, and nothing structured that would hide it."""
    expect(result.structured_content is None, f"structuredContent hides the text: {result.structured_content}")
    expect([part.type for part in result.content] == ["text"], f"not one text: {result.content}")
    return result.content[0].text


async def answer(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    text = text_of(result)
    expect(not result.is_error, f"{tool} was refused: {text}")
    return text


async def refusal(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    text = text_of(result)
    expect(result.is_error, f"{tool} was not refused: {text}")
    return text


async def check_tools(client):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    expect(TOOLS <= set(tools), f"not listed: {TOOLS - set(tools)}")
    for name, tool in tools.items():
        # Some clients drop a whole server over one other character.
        expect(re.fullmatch(r"[A-Za-z0-9_-]{1,40}", name), f"a name that clients refuse: {name}")
        expect(tool.description, f"{name} has no description")
        expect(tool.annotations is not None, f"{name} has no annotations")
        expect(tool.annotations.open_world_hint is False, f"{name} claims an open world")
        schema = json.dumps(tool.input_schema)
        expect('"uint' not in schema, f"{name}: a number format that JSON Schema does not know: {schema}")
    expect(tools["read_text_file"].annotations.read_only_hint is True, "read_text_file is not marked read-only")
    expect(tools["edit_text_file"].annotations.destructive_hint is False, "edit_text_file is marked destructive")


async def check_instructions(client):
    expect(client.instructions, "no instructions")
    expect(len(client.instructions) <= 2000, f"{len(client.instructions)} characters of instructions")


async def check_read(client):
    text = await answer(client, "read_text_file", path=NAME)
    first = text.split("\n")[0]
    expect(NAME in first and "lines 1-4 of 4" in first, first)
    expect(f"file_hash {file_hash(BEFORE)}" in first, f"{first}, not {file_hash(BEFORE)}")
    expect(tagged_lines(text) == BEFORE_TAGGED, text)


async def check_edit(client, workspace):
    text = await answer(client, "edit_text_file", path=NAME, file_hash=file_hash(BEFORE), operations=OPERATIONS)
    expect(workspace.content == AFTER, f"the file holds {workspace.content!r}")
    expect(file_hash(AFTER) in text, f"the new hash {file_hash(AFTER)} is not told: {text}")
    for line in ("2:c3|\t\treturn 1;", "4:a5|b"):
        expect(line in tagged_lines(text), f"{line!r} is not told: {text}")


async def check_range(client):
    text = await answer(client, "read_text_file", path=NAME, start_line=2, end_line=3)
    expect("lines 2-3 of 5" in text.split("\n")[0], text)
    expect(tagged_lines(text) == AFTER_TAGGED[1:3], text)


async def check_listed(client):
    text = await answer(client, "list_edits", path=NAME)
    expect(NAME in text, f"the edit is not listed: {text}")
    await answer(client, "list_documents")


async def check_review(client, workspace):
    """Without an editor nobody decides: the wait ends at once, and the agent can take its own edit back."""
    for arguments in ({"timeout_s": 0}, {"timeout_s": 40}):
        text = await asyncio.wait_for(answer(client, "await_review", **arguments), timeout=20)
        expect("nobody is deciding" in text and NAME in text, text)
    edit = re.search(r"edit ([0-9a-f]{8}) ", text).group(1)
    text = await answer(client, "withdraw_edit", edit_id=edit)
    expect("Withdrawn" in text and edit in text, text)
    expect(workspace.content == BEFORE, f"the file holds {workspace.content!r}")
    await refusal(client, "withdraw_edit", edit_id=edit)
    text = await answer(client, "await_review", timeout_s=0)
    expect("no pending edits" in text, text)


async def check_resources(client, workspace):
    templates = {template.uri_template for template in (await client.list_resource_templates()).resource_templates}
    expect(TEMPLATES <= templates, f"not listed: {TEMPLATES - templates}")
    read = await client.read_resource("list://")
    listed = json.loads(read.contents[0].text)
    for entry in ({"name": NAME, "type": "file"}, {"name": ".mcp", "type": "directory"}):
        expect(entry in listed, listed)
    read = await client.read_resource(f"file://{workspace.root / NAME}")
    expect(read.contents[0].text.encode() == workspace.content, read.contents)
    read = await client.read_resource(f"review://{NAME}")
    expect(json.loads(read.contents[0].text)["total"] == 1, read.contents)
    for uri in ("list://missing", "list://..", "file://../secret.txt", "list://.mcp"):
        try:
            read = await client.read_resource(uri)
        except MCPError:
            continue
        raise AssertionError(f"{uri} was read: {read.contents}")


def refusals(client, workspace):
    """Cases by name, for the file as the edit left it. None of them may change a byte."""

    async def stale_hash():
        text = await refusal(client, "edit_text_file", path=NAME, file_hash=file_hash(BEFORE), operations=OPERATIONS)
        expect("2:c3|\t\treturn 1;" in tagged_lines(text), f"no fresh line around the anchor: {text}")

    async def wrong_anchor():
        operations = [{"op": "delete", "anchor": "2:00"}]
        text = await refusal(client, "edit_text_file", path=NAME, file_hash=file_hash(AFTER), operations=operations)
        expect("2:c3|\t\treturn 1;" in tagged_lines(text), f"no fresh line around the anchor: {text}")

    async def all_or_nothing():
        operations = [{"op": "delete", "anchor": "1:d3"}, {"op": "delete", "anchor": "3:00"}]
        await refusal(client, "edit_text_file", path=NAME, file_hash=file_hash(AFTER), operations=operations)

    async def unknown_field():
        operations = [{"op": "delete", "anchor": "2:c3", "colour": "red"}]
        text = await refusal(client, "edit_text_file", path=NAME, file_hash=file_hash(AFTER), operations=operations)
        expect("colour" in text, f"the field is not named: {text}")

    async def outside_the_root():
        for path in ("../secret.txt", str(workspace.root.parent / "secret.txt")):
            text = await refusal(client, "read_text_file", path=path)
            expect(SECRET not in text, f"the file was read: {text}")

    async def missing_file():
        await refusal(client, "read_text_file", path="nothing-here.js")

    return {
        "refuses a stale hash, with fresh lines": stale_hash,
        "refuses a wrong anchor, with fresh lines": wrong_anchor,
        "applies nothing where one operation fails": all_or_nothing,
        "refuses an unknown field by its name": unknown_field,
        "refuses a path outside the root": outside_the_root,
        "refuses a file that is not there": missing_file,
    }


async def stdio(workspace, _stack):
    return StdioServerParameters(
        command=workspace.command, args=workspace.arguments, env=workspace.environment(), cwd=workspace.root
    )


async def http(workspace, stack):
    headers = {"Authorization": f"Bearer {workspace.token}"}
    client = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
    return streamable_http_client(workspace.url, http_client=client)


async def converse(checks, workspace, mode, transport):
    async with AsyncExitStack() as stack:
        with checks.case("connects"):
            parameters = await transport(workspace, stack)
            client = await stack.enter_async_context(Client(parameters, mode=mode, read_timeout_seconds=30))
        if checks.failed:
            return
        with checks.case(f"agrees on {ERAS[mode]}"):
            expect(client.protocol_version == ERAS[mode], f"agreed on {client.protocol_version}")
        with checks.case("lists the tools"):
            await check_tools(client)
        with checks.case("gives instructions"):
            await check_instructions(client)
        with checks.case("reads tagged lines"):
            await check_read(client)
        with checks.case("edits two places in one call, byte-exact"):
            await check_edit(client, workspace)
        with checks.case("reads a range"):
            await check_range(client)
        with checks.case("lists the edit and the documents"):
            await check_listed(client)
        with checks.case("lists the templates, and reads a folder, a document and its review"):
            await check_resources(client, workspace)
        for name, case in refusals(client, workspace).items():
            with checks.case(name):
                before = workspace.content
                await case()
                expect(workspace.content == before, f"the file was changed to {workspace.content!r}")
        with checks.case("waits for nobody, and withdraws the edit"):
            await check_review(client, workspace)


def run(binary):
    """Returns one Checks for each era over each transport."""
    eras = []
    for (kind, transport), mode in itertools.product([(Workspace, stdio), (Served, http)], ERAS):
        checks = Checks(f"python {transport.__name__} {mode}")
        eras.append(checks)
        with kind(binary) as workspace:
            try:
                asyncio.run(asyncio.wait_for(converse(checks, workspace, mode, transport), timeout=120))
            except Exception as error:
                with checks.case("ends the conversation in good order, within two minutes"):
                    raise error
    return eras
