"use strict";
// Shows only the items that hold all words, and unfolds what they are in. Without it the page shows everything.
function beginFilter() {
  const form = document.getElementById("filter");
  if (!form) return;
  const words = document.getElementById("filter-words");
  const kind = document.getElementById("filter-kind");
  const count = document.getElementById("filter-count");
  const items = Array.from(document.querySelectorAll("[data-kind]"), (node) => ({ node, text: null }));
  const groups = Array.from(document.querySelectorAll("details.group"), (node) => ({ node, open: node.open }));
  const kinds = new Set(items.map((item) => item.node.dataset.kind));
  for (const option of Array.from(kind.options)) if (option.value && !kinds.has(option.value)) option.remove();
  let isFiltered = false;
  function apply() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const only = kind.value;
    const isAny = wanted.length > 0 || only !== "";
    if (isAny && !isFiltered) for (const group of groups) group.open = group.node.open;
    let n = 0;
    for (const item of items) {
      if (item.text === null && wanted.length > 0) {
        const file = item.node.closest("details.group");
        const head = file ? file.querySelector("summary").textContent : "";
        item.text = (head + " " + item.node.textContent).toLowerCase();
      }
      const isShown = (only === "" || item.node.dataset.kind === only) && wanted.every((word) => item.text.includes(word));
      item.node.hidden = !isShown;
      if (isShown) n += 1;
    }
    for (const group of groups) {
      const hasAny = group.node.querySelector("[data-kind]:not([hidden])") !== null;
      group.node.hidden = isAny && !hasAny;
      group.node.open = isAny ? hasAny : isFiltered ? group.open : group.node.open;
    }
    isFiltered = isAny;
    count.textContent = isAny ? n + " of " + items.length : "";
  }
  let timer = 0;
  const soon = () => { clearTimeout(timer); timer = setTimeout(apply, items.length > 2000 ? 250 : 60); };
  words.addEventListener("input", soon);
  kind.addEventListener("change", apply);
  form.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  form.hidden = false;
}
beginFilter();
