-- Neovim as a client of the language server; `editors`, next to this file, runs it in a repository with lessons.

local function fail(words)
  io.stderr:write(words .. "\n")
  vim.cmd("cquit 1")
end

local function ok(words)
  io.stderr:write("ok " .. words:gsub("\n", " | ") .. "\n")
end

local function check(is_well, words, found)
  if not is_well then
    fail(words .. ": " .. vim.inspect(found))
  end
  ok(words)
end

local root = vim.fn.getcwd()
local id = vim.lsp.start_client({
  name = "chronicle",
  cmd = { vim.env.CHRONICLE_BINARY, "lsp" },
  root_dir = root,
  workspace_folders = { { uri = vim.uri_from_fname(root), name = "pool" } },
})
local buffer = vim.api.nvim_get_current_buf()
vim.lsp.buf_attach_client(buffer, id)
vim.wait(10000, function() return #vim.lsp.buf_get_clients(buffer) > 0 end, 20)

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 20000)
  local answer = answers and answers[id]
  if not answer or answer.err then
    fail(method .. " has no answer: " .. vim.inspect(answer))
  end
  return answer.result
end

local function at(line)
  vim.api.nvim_win_set_cursor(0, { line, 4 })
  return vim.lsp.util.make_position_params()
end

-- A text that is not saved.
vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { "// Not saved.", "" })
local hover = ask("textDocument/hover", at(7))
local words = hover and hover.contents.value or ""
check(words:find("never block", 1, true) and words:find("lines 7\\-7", 1, true), "hover on a text that is not saved", words)
vim.lsp.buf.hover()
local shown = vim.wait(10000, function()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
      words = table.concat(lines, "\n")
      vim.api.nvim_win_close(window, true)
      return true
    end
  end
end, 20)
check(shown and words:find("never block", 1, true), "the window of a hover: " .. words, words)

-- An edit of the trap.
vim.api.nvim_buf_set_text(buffer, 6, 8, 6, 11, { "const" })
local warned = vim.wait(15000, function() return #vim.diagnostic.get(buffer) > 0 end, 20)
local found = vim.diagnostic.get(buffer)
check(warned and found[1].severity == vim.diagnostic.severity.HINT and found[1].lnum == 6,
  "a hint about a trap before the text is saved", found)

-- What a person chooses.
local notified = {}
vim.lsp.handlers["window/showMessage"] = function(_, message) table.insert(notified, message.message) end
vim.lsp.commands["chronicle.noteHere"] = function(command, ctx)
  local given = command.arguments[1]
  vim.lsp.get_client_by_id(ctx.client_id).request("workspace/executeCommand", {
    command = "chronicle.note",
    arguments = { { uri = given.uri, lines = given.lines, category = "gotcha", text = "Deadlines are absolute." } },
  }, function(err) if err then fail(vim.inspect(err)) end end)
end
local titles
local function choose(pattern)
  vim.ui.select = function(items, options, on_choice)
    titles = vim.tbl_map(options.format_item, items)
    for _, item in ipairs(items) do
      if options.format_item(item):find(pattern, 1, true) then return on_choice(item) end
    end
    fail("there is no action " .. pattern .. ": " .. vim.inspect(titles))
  end
  local before = #notified
  vim.lsp.buf.code_action()
  return vim.wait(15000, function() return #notified > before end, 20)
end
at(8)
check(choose("Mark as done") and notified[#notified]:find("no longer valid", 1, true), "work is marked as done", notified)
at(7)
check(choose("Note a lesson") and notified[#notified]:find("Noted on lines 7", 1, true), "a lesson is noted", notified)
ok("actions: " .. table.concat(titles, "; "))
check(choose("Copy lessons"), "lessons are copied for an agent", notified)
check(not vim.api.nvim_buf_get_option(buffer, "fileformat"):find("dos") and vim.bo.modified, "the text is still not saved", {})

vim.lsp.stop_client(id)
local stopped = vim.wait(10000, function() return vim.lsp.client_is_stopped(id) end, 20)
check(stopped, "the server ends with the editor", {})
vim.cmd("qall!")
