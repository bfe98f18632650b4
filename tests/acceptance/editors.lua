-- Neovim as a client of the language server. `editors`, next to this file, runs it with the configuration that
-- docs/editors.md prints, in a repository with lessons.

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

local is_new = vim.fn.has("nvim-0.11") == 1
local buffer = vim.api.nvim_get_current_buf()

local function client()
  for _, one in pairs(is_new and vim.lsp.get_clients({ bufnr = buffer }) or vim.lsp.buf_get_clients(buffer)) do
    if one.name == "chronicle" then return one end
  end
end
check(vim.wait(10000, function() return client() and client().initialized ~= nil end, 20), "the printed configuration starts the server", {})
local id = client().id

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 20000)
  local answer = answers and answers[id]
  if not answer or answer.err or answer.error then
    fail(method .. " has no answer: " .. vim.inspect(answer))
  end
  return answer.result
end

local function at(line)
  vim.api.nvim_win_set_cursor(0, { line, 4 })
  return vim.lsp.util.make_position_params(0, "utf-16")
end

-- A text that is not saved.
vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { "// Not saved.", "" })
local hover = ask("textDocument/hover", at(7))
local words = hover and hover.contents.value or ""
check(words:find("never block", 1, true) and words:find("line 7,", 1, true), "hover on a text that is not saved", words)
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

-- What is shown without a pointer.
local function drawn(what)
  local words
  local is_there = vim.wait(10000, function()
    words = ""
    for _, space in pairs(vim.api.nvim_get_namespaces()) do
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, space, 0, -1, { details = true })) do
        local lines = mark[4].virt_lines or {}
        if mark[4].virt_text then table.insert(lines, mark[4].virt_text) end
        for _, line in ipairs(lines) do
          for _, part in ipairs(line) do words = words .. part[1] .. "\n" end
        end
      end
    end
    return words:find(what, 1, true)
  end, 50)
  check(is_there, "drawn: " .. what, words)
end
if vim.lsp.codelens.enable then vim.lsp.codelens.enable() else vim.lsp.codelens.refresh() end
drawn("1 gotcha, 1 dead end, 1 unfinished")
if vim.lsp.inlay_hint then
  vim.lsp.inlay_hint.enable()
  drawn("1 lesson")
end

-- What a person chooses, with the commands as printed.
local notified = {}
vim.lsp.handlers["window/showMessage"] = function(_, message) table.insert(notified, message.message) end
local said
vim.notify = function(message) said = message end
vim.ui.input = function(_, on_done) on_done("Deadlines are absolute.") end
local titles
local function choose(pattern, is_done)
  vim.ui.select = function(items, options, on_choice)
    local format = options.format_item or tostring
    local names = vim.tbl_map(format, items)
    if names[1] == "gotcha" then return on_choice("gotcha") end
    titles = names
    for index, name in ipairs(names) do
      if name:find(pattern, 1, true) then return on_choice(items[index], index) end
    end
    fail("there is no action " .. pattern .. ": " .. vim.inspect(names))
  end
  local before = #notified
  vim.lsp.buf.code_action()
  return vim.wait(15000, is_done or function() return #notified > before end, 20)
end
at(8)
check(choose("Mark as done") and notified[#notified]:find("no longer valid", 1, true), "work is marked as done", notified)
at(7)
check(choose("Note a lesson") and notified[#notified]:find("Noted on line 7", 1, true), "a lesson is noted", notified)
ok("actions: " .. table.concat(titles, "; "))
check(choose("Flag") and notified[#notified]:find("Flagged", 1, true), "a lesson is flagged", { notified, said })
local copied
vim.fn.setreg = function(_, text) copied = text end
check(choose("Copy lessons", function() return copied end) and copied:find("never block", 1, true),
  "lessons are copied for an agent", copied)
check(vim.bo.modified, "the text is still not saved", {})
check(not said, "nothing went wrong", said)

local one = client()
if is_new then one:stop() else one.stop() end
check(vim.wait(10000, function() return client() == nil end, 20), "the server ends with the editor", {})
vim.cmd("qall!")
