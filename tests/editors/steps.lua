-- What a person does in Neovim; says as JSON, in the file that $STEPS_RESULT names, what came of it.
local result = {}
local picked = {}

vim.ui.select = function(items, options, choose)
  picked = vim.tbl_map(options.format_item, items)
  choose(items[1])
end
vim.lsp.handlers['window/showMessage'] = function(_, shown)
  table.insert(result.notices, shown.message)
end

local function wait(what, is_done)
  if not vim.wait(60000, is_done, 50) then
    error('waited in vain for ' .. what)
  end
end

local function server()
  return vim.lsp.get_clients({ name = 'rag-ls', bufnr = 0 })[1]
end

local function asked(method, params)
  local answer = server():request_sync(method, params, 60000, 0)
  assert(answer and not answer.err, vim.inspect(answer))
  return answer.result
end

local function symbols(query)
  local found = asked('workspace/symbol', { query = query }) or {}
  return vim.tbl_map(function(symbol)
    return symbol.name
  end, found)
end

--- A language server of its own kind, beside rag-ls: it knows a type.
local function other_server()
  local is_closing = false
  return {
    request = function(method, _, reply)
      if method == 'initialize' then
        reply(nil, { capabilities = { hoverProvider = true } })
      elseif method == 'textDocument/hover' then
        reply(nil, { contents = { kind = 'markdown', value = 'total_price: a function of carts' } })
      else
        reply(nil, vim.NIL)
      end
      return true, 1
    end,
    notify = function()
      return true
    end,
    is_closing = function()
      return is_closing
    end,
    terminate = function()
      is_closing = true
    end,
  }
end

local function steps()
  result.notices = {}
  wait('the server', function()
    return server() ~= nil and server().initialized
  end)
  wait('the index', function()
    return vim.tbl_contains(symbols('total price'), 'total_price')
  end)

  vim.api.nvim_buf_set_lines(0, -1, -1, false, {
    '',
    '',
    'def count_zebra_stripes(zebra, both_sides):',
    '    """How many stripes a zebra has, on one side of its body or on both."""',
    '    left = len(zebra.left_side.stripes)',
    '    return left + len(zebra.right_side.stripes) if both_sides else left',
  })
  wait('unsaved text', function()
    return vim.tbl_contains(symbols('zebra stripes'), 'count_zebra_stripes')
  end)
  result.modified = vim.bo.modified

  -- A hit in this buffer, which is not saved.
  vim.cmd.RagLsSearch('count_zebra_stripes')
  wait('the hit in the changed buffer', function()
    return vim.api.nvim_get_current_line():find('count_zebra_stripes')
  end)

  vim.cmd.RagLsSearch('refresh an expired token')
  wait('a chosen hit', function()
    return vim.endswith(vim.api.nvim_buf_get_name(0), 'auth.py')
  end)
  result.picked = picked
  result.place = { vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':t'), vim.api.nvim_win_get_cursor(0)[1] }

  vim.cmd.edit('src/cart.py')
  local first = vim.fn.search('def total_price', 'nw')
  local text = vim.api.nvim_buf_get_lines(0, first - 1, first, false)[1]
  local range = { start = { line = first - 1, character = 0 }, ['end'] = { line = first - 1, character = #text } }
  local actions = asked('textDocument/codeAction', {
    textDocument = vim.lsp.util.make_text_document_params(),
    range = range,
    context = { diagnostics = {} },
  })
  result.actions = vim.tbl_map(function(action)
    return action.title
  end, actions)

  vim.cmd(first .. 'RagLsRemember carts are priced net of tax')
  wait('the memory', function()
    return #result.notices > 0
  end)
  local hover
  wait('a hover', function()
    hover = asked('textDocument/hover', {
      textDocument = vim.lsp.util.make_text_document_params(),
      position = { line = first - 1, character = 6 },
    })
    return hover and hover.contents and hover.contents.value:find('net of tax')
  end)
  result.hover = hover.contents.value

  local other = vim.lsp.start({ name = 'other', cmd = other_server, root_dir = vim.fn.getcwd() }, { bufnr = 0 })
  vim.api.nvim_win_set_cursor(0, { first, 6 })
  vim.api.nvim_feedkeys('K', 'x', false)
  local float
  wait('what K shows', function()
    float = vim.b.lsp_floating_preview
    return float ~= nil
  end)
  result.shown = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(float), 0, -1, false), '\n')
  vim.lsp.get_client_by_id(other):stop()

  -- Code is no note: what is typed is remembered about it.
  local prompts = {}
  vim.ui.input = function(options, use)
    table.insert(prompts, options.prompt)
    -- As a plugin's input does: later, when the person has typed.
    vim.defer_fn(function()
      use('discounts come off last')
    end, 100)
  end
  local before = #result.notices
  vim.cmd(first .. 'RagLsRemember')
  wait('the note', function()
    return #result.notices > before
  end)
  result.prompts = prompts

  picked = {}
  vim.cmd((first .. ',' .. vim.fn.line('$')) .. 'RagLsRelated')
  wait('code close to the lines', function()
    return #picked > 0
  end)
  result.related = picked
  vim.cmd.edit('src/cart.py')

  vim.cmd.RagLsSearch({ args = { 'discount' }, bang = true })
  wait('the quickfix list', function()
    return #vim.fn.getqflist() > 0
  end)
  result.quickfix = vim.tbl_map(function(item)
    return vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':t')
  end, vim.fn.getqflist())
end

local ok, problem = pcall(steps)
result.problem = not ok and tostring(problem) or nil
vim.fn.writefile({ vim.json.encode(result) }, vim.env.STEPS_RESULT)
vim.cmd('qall!')
