--- rag-ls in Neovim 0.11 and later: the language server, a picker for code and memories, and commands for both.
---
--- `require('rag-ls').setup({ cmd = { '/path/to/rag-ls', 'lsp' } })` is all it takes. Results are shown with
--- `vim.ui.select`, which Telescope, fzf-lua, snacks and mini.pick replace by their own pickers.
local M = {}

local NAME = 'rag-ls'
local defaults = {
  cmd = { 'rag-ls', 'lsp' },
  root_markers = { '.rag-ls', '.git' },
  --- Settings of rag-ls for this editor, e.g. `{ hover = { enabled = false } }`.
  settings = {},
}

local function warn(message)
  vim.notify('rag-ls: ' .. message, vim.log.levels.WARN)
end

--- The client of this buffer, else any: a question is about the project, not about the buffer.
local function client()
  return vim.lsp.get_clients({ name = NAME, bufnr = 0 })[1] or vim.lsp.get_clients({ name = NAME })[1]
end

--- Run a `ragLs.*` command of the server with one argument, and give its answer to `use`.
function M.ask(command, argument, use)
  local server = client()
  if not server then
    return warn('no server runs here; open a file of the project first, or see :checkhealth vim.lsp')
  end
  local params = { command = 'ragLs.' .. command, arguments = { argument } }
  server:request('workspace/executeCommand', params, function(err, answer)
    if err then
      return warn(err.message)
    end
    use(answer)
  end)
end

local function open(path, line)
  vim.cmd.normal({ "m'", bang = true })
  -- `:edit` refuses to leave a buffer that was changed and not saved, even for itself.
  local buffer = vim.fn.bufadd(path)
  vim.bo[buffer].buflisted = true
  vim.api.nvim_win_set_buf(0, buffer)
  pcall(vim.api.nvim_win_set_cursor, 0, { line, 0 })
  vim.cmd.normal({ 'zz', bang = true })
end

--- A text as a row of a picker: one line, no wider than the screen.
local function row(text)
  local line = vim.trim((text:gsub('%s+', ' ')))
  local room = math.max(vim.o.columns - 8, 20)
  if vim.fn.strdisplaywidth(line) <= room then
    return line
  end
  -- By characters first: a wide one takes two columns.
  line = vim.fn.strcharpart(line, 0, room - 1)
  while vim.fn.strdisplaywidth(line) > room - 1 do
    line = vim.fn.strcharpart(line, 0, vim.fn.strchars(line) - 1)
  end
  return line .. '…'
end

local function described(hit)
  local name = hit.symbol ~= '' and hit.symbol or vim.split(vim.trim(hit.text or ''), '\n')[1]
  return row(('%s:%d  %s'):format(hit.path, hit.start_line, name))
end

--- A text, and after it what the server says about its answer: that the index is not complete yet, for one.
local function with_note(text, answer)
  local note = answer.stats and answer.stats.note or ''
  return note == '' and text or ('%s (%s)'):format(text, note)
end

local function pick_code(prompt, answer)
  if #answer.results == 0 then
    return warn(with_note('nothing found', answer))
  end
  vim.ui.select(answer.results, { prompt = with_note(prompt, answer), format_item = described, kind = 'rag-ls.code' }, function(hit)
    if hit then
      open(hit.file, hit.start_line)
    end
  end)
end

local function to_quickfix(title, answer)
  local items = vim.tbl_map(function(hit)
    return { filename = hit.file, lnum = hit.start_line, end_lnum = hit.end_line, text = described(hit) }
  end, answer.results)
  vim.fn.setqflist({}, ' ', { title = with_note(title, answer), items = items })
  vim.cmd.copen()
end

local function lines(first, last)
  return table.concat(vim.api.nvim_buf_get_lines(0, first - 1, last, false), '\n')
end

local function with_text(text, prompt, use)
  if text and text ~= '' then
    return use(text)
  end
  vim.ui.input({ prompt = prompt }, function(typed)
    if typed and typed ~= '' then
      use(typed)
    end
  end)
end

--- Search code by a question; asks for one where none is given. With `quickfix`, hits go to the quickfix list.
function M.search(query, quickfix)
  with_text(query, 'Search code: ', function(text)
    M.ask('searchCode', { query = text, k = 20 }, function(answer)
      if quickfix then
        to_quickfix(text, answer)
      else
        pick_code(text, answer)
      end
    end)
  end)
end

--- Show code that is close to the lines `first` to `last` of this buffer, or to the declaration under the cursor.
function M.related(first, last)
  local place = { uri = vim.uri_from_bufnr(0), line = first or vim.api.nvim_win_get_cursor(0)[1] }
  if first then
    place.snippet = lines(first, last)
  end
  M.ask('findRelated', place, function(answer)
    pick_code('Related code', answer)
  end)
end

--- Search memories, and open the chosen one as Markdown.
function M.memories(query)
  with_text(query, 'Search memories: ', function(text)
    M.ask('searchMemory', { query = text, k = 20 }, function(answer)
      if #answer.results == 0 then
        return warn(with_note('nothing is remembered about that', answer))
      end
      local options = {
        prompt = with_note(text, answer),
        kind = 'rag-ls.memory',
        format_item = function(memory)
          return row(memory.content)
        end,
      }
      vim.ui.select(answer.results, options, function(memory)
        if memory then
          vim.lsp.util.open_floating_preview(vim.split(memory.content, '\n'), 'text', { border = 'rounded' })
        end
      end)
    end)
  end)
end

--- Remember the text that is given as about the lines `first` to `last` of this buffer; without one, these lines where they
--- are prose or a comment. For code, the server asks for the note.
function M.remember(first, last, text)
  local memory = { uri = vim.uri_from_bufnr(0), line = first, scope = 'project', text = lines(first, last) }
  memory.content = text and text ~= '' and text or nil
  -- The server itself says what became of it.
  M.ask('rememberSelection', memory, function() end)
end

--- Say how much of the project is indexed.
function M.status()
  M.ask('status', vim.empty_dict(), function(answer)
    for _, project in ipairs(answer.projects) do
      local found = project.indexed_percent
      vim.notify(
        ('%s: %d files, found by words %d %%, by meaning %d %%'):format(
          project.root, project.documents, found.words, found.vectors
        )
      )
    end
  end)
end

--- The server asks what is to be remembered about code (`ragLs/askForNote`): answers with what is typed.
local function ask_for_note(_, params)
  local known = vim.tbl_map(function(memory)
    return row('known: ' .. memory.content)
  end, params.known)
  if #known > 0 then
    vim.notify('rag-ls: ' .. table.concat(known, '\n'))
  end
  -- Neovim runs the handlers of a server's requests in coroutines: a plugin's input may answer much later.
  local handler, is_waiting, is_answered = coroutine.running(), false, false
  local typed
  vim.ui.input({ prompt = ('Remember about %s: '):format(params.about) }, function(text)
    typed, is_answered = text, true
    if is_waiting then
      coroutine.resume(handler)
    end
  end)
  if not is_answered then
    is_waiting = true
    coroutine.yield()
  end
  return typed and typed ~= '' and { content = typed } or vim.NIL
end

local function add_commands()
  local function command(name, run, options)
    vim.api.nvim_create_user_command(name, run, options)
  end
  command('RagLsSearch', function(call)
    M.search(call.args, call.bang)
  end, { nargs = '*', bang = true, desc = 'Search code by a question (!: into the quickfix list)' })
  command('RagLsRelated', function(call)
    if call.range > 0 then
      M.related(call.line1, call.line2)
    else
      M.related()
    end
  end, { range = true, desc = 'Code close to these lines, or to the declaration under the cursor' })
  command('RagLsMemories', function(call)
    M.memories(call.args)
  end, { nargs = '*', desc = 'Search memories' })
  command('RagLsRemember', function(call)
    M.remember(call.line1, call.line2, call.args)
  end, { nargs = '*', range = true, desc = 'Remember these lines, or the given text as about them' })
  command('RagLsStatus', M.status, { desc = 'How much of the project is indexed' })
end

--- Start the server for every file of a project, and add the commands.
function M.setup(options)
  local chosen = vim.tbl_deep_extend('force', defaults, options or {})
  vim.lsp.config(NAME, {
    cmd = chosen.cmd,
    root_markers = chosen.root_markers,
    settings = { ragLs = chosen.settings },
    init_options = chosen.settings,
    capabilities = { experimental = { ragLs = { asksForNotes = true } } },
    handlers = { ['ragLs/askForNote'] = ask_for_note },
  })
  vim.lsp.enable(NAME)
  add_commands()
end

return M
