// Keys, and the reader's name remembered. Everything works without this file.
"use strict";
(() => {
  const NAME = "sourcewatch.by";
  let at = null;
  const items = () => [...document.querySelectorAll("main .item")].filter((item) => item.offsetParent !== null);
  const go = (item) => {
    if (!item) return;
    if (at) at.classList.remove("at");
    at = item;
    at.classList.add("at");
    at.focus({ preventScroll: true });
    at.scrollIntoView({ block: "nearest" });
  };
  const current = () => (at && at.isConnected ? at : items()[0]);
  const step = (by) => {
    const all = items();
    const here = at && at.isConnected ? all.indexOf(at) : -1;
    go(all[here < 0 ? 0 : Math.min(all.length - 1, Math.max(0, here + by))]);
  };
  const review = () => {
    const item = current();
    const fold = item && item.querySelector("details.decide");
    if (!fold) return;
    go(item);
    fold.open = true;
    const name = fold.querySelector("input[name=by]");
    (name && !name.value ? name : fold.querySelector("button[name=decision]")).focus();
  };
  const diff = () => {
    const item = current();
    if (item && item.dataset.diff) location.assign(item.dataset.diff);
  };
  const help = () => {
    const dialog = document.getElementById("help");
    if (dialog && !dialog.open) dialog.showModal();
  };
  const keys = { j: () => step(1), k: () => step(-1), r: review, d: diff, "?": help, "/": () => document.getElementById("find").focus() };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target.closest && event.target.closest("details.decide")) {
      event.target.closest("details.decide").open = false;
      go(current());
      return;
    }
    const typing = event.target.closest && event.target.closest("input, textarea, select, dialog");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  const named = (root) => {
    let name = "";
    try { name = localStorage.getItem(NAME) || ""; } catch { return; }
    for (const input of root.querySelectorAll("input[name=by]")) if (!input.value) input.value = name;
  };
  document.addEventListener("submit", (event) => {
    const by = event.target.querySelector("input[name=by]");
    try { if (by && by.value) localStorage.setItem(NAME, by.value); } catch { /* a browser may forbid it */ }
  }, true);
  document.addEventListener("htmx:afterSettle", (event) => {
    named(document);
    const status = event.target.querySelector && event.target.querySelector("[role=status], [role=alert]");
    if (status) { status.tabIndex = -1; status.focus(); }
  });
  for (const button of document.querySelectorAll("[data-help]")) {
    button.hidden = false;
    button.addEventListener("click", help);
  }
  named(document);
})();
