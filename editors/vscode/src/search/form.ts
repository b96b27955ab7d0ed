// The search view's page, as it is before anything was asked.
export const FORM = `<main>
<form id="form" role="search" aria-label="Search">
  <input id="query" type="text" role="searchbox" autocomplete="off" spellcheck="false" aria-label="Question, in words or by a name" placeholder="Ask in words, or by a name">
  <div class="filters">
    <select id="match" aria-label="How to search" title="Exact text and regular expressions find every line that holds them, counted">
      <option value="auto">By meaning</option>
      <option value="exact">Exact text</option>
      <option value="regex">Regular expression</option>
    </select>
    <span id="ofLines" hidden>
      <label><input id="matchCase" type="checkbox"> Match case</label>
      <label><input id="wholeWords" type="checkbox"> Whole words</label>
    </span>
    <select id="subject" aria-label="What to search">
      <option value="code">All code</option>
      <option value="function">Functions</option>
      <option value="type">Types</option>
      <option value="section">Documents</option>
      <option value="test">Tests</option>
      <option value="memory">Memories</option>
    </select>
    <select id="language" aria-label="Language"><option value="">Any language</option></select>
    <input id="folder" type="text" autocomplete="off" spellcheck="false" aria-label="Folder, or a pattern of paths" placeholder="In folder, e.g. src">
  </div>
</form>
<div id="progress" aria-hidden="true"></div>
<div id="summary" role="status" aria-live="polite"></div>
<div id="hits"></div>
<div id="welcome">
  <p>Ask a question about the code, or type a name:</p>
  <ul><li><em>where is the retry delay computed</em></li><li><em>parseCookie</em></li></ul>
  <p><kbd>↓</kbd> goes to the hits and previews them, <kbd>Enter</kbd> opens one, <kbd>Esc</kbd> comes back here.</p>
</div>
</main>`;
