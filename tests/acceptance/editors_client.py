"""Talks to the language server through the client of pygls; `editors`, next to this file, installs it and runs this."""

import asyncio
import sys
from pathlib import Path

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient


def capabilities(encoding):
    return lsp.ClientCapabilities(
        general=lsp.GeneralClientCapabilities(position_encodings=[encoding]),
        workspace=lsp.WorkspaceClientCapabilities(
            inlay_hint=lsp.InlayHintWorkspaceClientCapabilities(refresh_support=True)),
    )


async def begun(binary, repo, encoding):
    client = LanguageClient("acceptance", "1")
    client.warned = asyncio.Queue()
    client.refreshed = asyncio.Event()

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def warned(params):
        client.warned.put_nowait(params)

    @client.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)
    def refreshed(_params):
        client.refreshed.set()

    await client.start_io(binary, "lsp")
    folder = lsp.WorkspaceFolder(uri=repo.as_uri(), name="pool")
    answer = await client.initialize_async(lsp.InitializeParams(
        capabilities=capabilities(encoding), workspace_folders=[folder]))
    assert answer.capabilities.position_encoding == encoding, answer.capabilities.position_encoding
    client.initialized(lsp.InitializedParams())
    return client


def document(repo):
    return lsp.TextDocumentIdentifier(uri=(repo / "pool.rs").as_uri())


def opened(client, repo, text):
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=lsp.TextDocumentItem(
        uri=(repo / "pool.rs").as_uri(), language_id="rust", version=1, text=text)))


WHOLE = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))


async def marks(binary, repo, encoding, column):
    text = (repo / "pool.rs").read_text(encoding="utf-8")
    client = await begun(binary, repo, encoding)
    opened(client, repo, "// not saved\n" + text)
    hints = await client.text_document_inlay_hint_async(lsp.InlayHintParams(text_document=document(repo), range=WHOLE))
    places = {(hint.position.line, hint.position.character): hint.label for hint in hints}
    assert places.get((5, column)) == "1 lesson", places
    print("ok inlay hints in", encoding.value, sorted(places.items()))
    lenses = await client.text_document_code_lens_async(lsp.CodeLensParams(text_document=document(repo)))
    titles = [(lens.range.start.line, lens.command.title) for lens in lenses]
    assert titles == [(4, "1 gotcha, 1 dead end, 1 unfinished")], titles
    print("ok lenses in", encoding.value, titles)
    # Within the line, after the animal: one column more in UTF-16 than in characters, three more in UTF-8.
    position = lsp.Position(5, column - 1)
    edit = lsp.TextDocumentContentChangePartial(range=lsp.Range(position, position), text=" ")
    client.text_document_did_change(lsp.DidChangeTextDocumentParams(
        text_document=lsp.VersionedTextDocumentIdentifier(uri=document(repo).uri, version=2), content_changes=[edit]))
    warned = await asyncio.wait_for(client.warned.get(), 30)
    assert [one.range.start.line for one in warned.diagnostics] == [5, 5], warned
    print("ok hints about traps in", encoding.value, [one.message for one in warned.diagnostics])
    hints = await client.text_document_inlay_hint_async(lsp.InlayHintParams(text_document=document(repo), range=WHOLE))
    assert (5, column + 1) in [(hint.position.line, hint.position.character) for hint in hints], hints
    print("ok an incremental change in", encoding.value)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


async def cancelling(binary, repo):
    client = await begun(binary, repo, lsp.PositionEncodingKind.Utf16)
    opened(client, repo, (repo / "pool.rs").read_text(encoding="utf-8"))
    params = lsp.HoverParams(text_document=document(repo), position=lsp.Position(0, 0))
    asked = [client.protocol.send_request(lsp.TEXT_DOCUMENT_HOVER, params, msg_id=f"hover-{n}") for n in range(40)]
    for n in range(40):
        client.cancel_request(lsp.CancelParams(id=f"hover-{n}"))
    n_cancelled = 0
    for one in asked:
        try:
            await asyncio.wait_for(asyncio.wrap_future(one), 30)
        except (JsonRpcException, asyncio.CancelledError):
            n_cancelled += 1
    assert n_cancelled, "nothing was cancelled"
    print("ok cancellation:", n_cancelled, "of", len(asked))
    hover = await client.text_document_hover_async(params)
    assert hover is not None
    print("ok an answer after cancellation")
    links = await client.text_document_document_link_async(lsp.DocumentLinkParams(text_document=document(repo)))
    assert not links, links
    symbols = await client.workspace_symbol_async(lsp.WorkspaceSymbolParams(query="waiters"))
    assert [symbol.name for symbol in symbols] == ["Bound the queue of waiters."], symbols
    print("ok workspace symbols")
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


async def main(binary, repo):
    await marks(binary, repo, lsp.PositionEncodingKind.Utf8, 53)
    await marks(binary, repo, lsp.PositionEncodingKind.Utf16, 51)
    await cancelling(binary, repo)


asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
