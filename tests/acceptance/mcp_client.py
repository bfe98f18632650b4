"""Talks to the MCP server through the Python SDK; `mcp`, beside this file, installs the SDK and runs it.

Every answer is checked against the schema that the server gives for it, by a validator that nobody here wrote.
"""

import asyncio
import sys

import jsonschema
from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client


async def talk(binary, repo):
    server = StdioServerParameters(command=binary, args=["mcp"], cwd=repo)
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        begun = await session.initialize()
        assert begun.server_info.name == "chronicle" and "chronicle_read" in begun.instructions
        print("ok initialize", begun.protocol_version)
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        for tool in tools.values():
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        print("ok schemas are JSON Schemas", len(tools))

        async def call(name, **arguments):
            result = await session.call_tool(f"chronicle_{name}", arguments)
            assert not result.is_error and result.content[0].text, result
            jsonschema.validate(result.structured_content, tools[f"chronicle_{name}"].output_schema)
            print("ok", name, arguments)
            return result.structured_content

        lesson = "first() must stay first."
        read = await call("read", path="lib.rs", lines="1:1")
        assert read["wisdom"][0]["content"] == lesson, read
        await call("note", text="second() is called by nobody yet.", category="gotcha", file="lib.rs")
        await call("note", list=True)
        await call("check")
        stored = await call("annotate", summary="second() needs what first() makes", wisdom=[
            {"category": "unfinished_thread", "content": "Test second().", "file": "lib.rs"}])
        claim = next(entry["id"] for entry in stored["stored"]["wisdom"] if "called by nobody" in entry["content"])
        await call("flag", path=claim, reason="It is called now.")
        await call("deps", path="lib.rs")
        await call("history", path="lib.rs")
        await call("summary", path="lib.rs")
        why = await call("why", path="lib.rs:1")
        assert why["commits"], why
        await call("knowledge", action="add", rule="Order is part of the interface.")
        await call("knowledge")
        await call("brief")
        await call("find", query="first")
        pending = await call("pending")
        assert pending["items"][0]["summary"] == "Test second().", pending
        refused = await session.call_tool("chronicle_resolve", {"ids": ["t-none"]})
        assert refused.is_error and "t-none" in refused.content[0].text, refused
        print("ok a refusal is told")
        try:
            await session.call_tool("chronicle_deps", {})
            raise AssertionError("missing arguments were taken")
        except MCPError as error:
            assert "missing field `path`" in str(error), error
        print("ok wrong arguments are refused")
        resource = await session.read_resource("chronicle://wisdom/lib.rs")
        assert lesson in resource.contents[0].text
        prompt = await session.get_prompt("before-change", {"path": "lib.rs"})
        assert lesson in prompt.messages[0].content.text
        print("ok resources and prompts")


asyncio.run(talk(*sys.argv[1:]))
