// The token comes in the fragment, which no browser sends, and stays in this tab.
(async function live() {
  const state = document.getElementById("state");
  const given = location.hash.slice(1);
  if (/^[0-9a-f]{48}$/.test(given)) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  const token = sessionStorage.getItem("token");
  if (!token) {
    state.textContent = "The address lacks its token: open the whole address that `git chronicle view --serve` printed.";
    return;
  }
  try {
    const reply = await fetch("/page", { headers: { Authorization: "Bearer " + token }, cache: "no-store" });
    const text = await reply.text();
    if (!reply.ok) {
      state.textContent = text;
      return;
    }
    const page = new DOMParser().parseFromString(text, "text/html");
    document.title = page.title;
    document.body.replaceChildren(...Array.from(page.body.childNodes, (node) => document.adoptNode(node)));
    beginFilter();
  } catch {
    state.textContent = "The server does not answer. Is `git chronicle view --serve` still running?";
  }
})();
