// Keeps the page up to date: asks for its changing parts once a second and puts in what differs. Elements that stay
// keep their identity, and with it focus, selection, scroll position and what was typed. On a page that refused a form,
// the forms stay as they are.
"use strict";

(() => {
  const period = 1000;
  const noticeTime = 8000;
  const control = document.getElementById("live-control");
  const main = document.getElementById("live-main");
  if (!control || !main) {
    return;
  }

  const refused = main.hasAttribute("data-refused");
  let address = new URL(main.dataset.live, location.href);
  address.searchParams.set("live", "1");
  const shown = new URL(location.href);
  if (shown.searchParams.has("done")) {
    address.searchParams.set("done", shown.searchParams.get("done"));
    shown.searchParams.delete("done");
    history.replaceState(null, "", shown);
    setTimeout(() => address.searchParams.delete("done"), noticeTime);
  }

  const word = document.createElement("span");
  word.className = "live";
  word.setAttribute("role", "status");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  control.append(word, button);

  let paused = false;
  let timer = 0;
  let typing = 0;
  let calls = 0;

  function say(text, tone) {
    if (word.textContent !== text) {
      word.textContent = text;
      word.className = "live " + tone;
    }
  }

  const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.id || node.dataset.key || "" : "");

  const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

  // kept is an attribute that the reader or this script has set.
  const kept = (node, name) =>
    (name === "open" && node.nodeName === "DETAILS") || (name === "class" && node.classList.contains("arrived"));

  // mark is what must not move under the eyes of the reader: the row with the focus, else, on a page that was scrolled, the
  // row under the pointer or the first in sight. At the top of a page what is new appears.
  function mark() {
    const row =
      document.activeElement.closest?.("#live-main [data-key]") ??
      (scrollY > 0 ? document.querySelector("#live-main [data-key]:hover") : null) ??
      (scrollY > 0 ? [...main.querySelectorAll("[data-key]")].find((node) => node.getBoundingClientRect().top >= 0) : null);
    const top = row?.getBoundingClientRect().top;
    return () => {
      if (row?.isConnected) {
        scrollBy(0, row.getBoundingClientRect().top - top);
      }
    };
  }

  // morph makes old what fresh is, with as few changes as that takes.
  function morph(old, fresh) {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== fresh.nodeValue) {
        old.nodeValue = fresh.nodeValue;
      }
      return;
    }
    if (refused && old.nodeName === "FORM") {
      return;
    }
    for (const { name, value } of fresh.attributes) {
      if (name === "class" && old.classList.contains("arrived")) {
        continue; // until the animation has ended
      }
      if (old.getAttribute(name) !== value) {
        old.setAttribute(name, value);
      }
    }
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && !kept(old, name)) {
        old.removeAttribute(name);
      }
    }
    morphChildren(old, fresh);
  }

  function morphChildren(old, fresh) {
    const keyed = new Map();
    for (const child of old.childNodes) {
      if (keyOf(child)) {
        keyed.set(keyOf(child), child);
      }
    }
    const wanted = new Set([...fresh.childNodes].map(keyOf));
    let at = old.firstChild;
    for (const child of [...fresh.childNodes]) {
      // What has a key and is gone makes room, so that the rest is not moved.
      while (at && keyOf(at) && !wanted.has(keyOf(at))) {
        const gone = at;
        at = at.nextSibling;
        gone.remove();
      }
      const known = keyOf(child) ? keyed.get(keyOf(child)) : null;
      if (at && alike(at, child)) {
        morph(at, child);
        at = at.nextSibling;
      } else if (known && known.parentNode === old) {
        old.insertBefore(known, at);
        morph(known, child);
      } else {
        const added = old.insertBefore(document.importNode(child, true), at);
        if (added.nodeName === "TR") {
          added.classList.add("arrived");
          setTimeout(() => added.classList.remove("arrived"), 1500);
        }
      }
    }
    while (at) {
      const gone = at;
      at = at.nextSibling;
      gone.remove();
    }
  }

  // update asks for the page once, and then again after a while. The newest call is the one that goes on.
  async function update(searching = false) {
    const mine = ++calls;
    clearTimeout(timer);
    if (searching || (!document.hidden && !paused)) {
      try {
        const response = await fetch(address, { cache: "no-store", signal: AbortSignal.timeout(10000) });
        if (!response.ok) {
          throw new Error("refused");
        }
        const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
        if (mine === calls && (searching || !paused)) {
          put(fresh, searching);
          say(paused ? "Paused" : "Live", paused ? "dull" : "good");
        }
      } catch {
        say("No connection", "bad");
      }
    }
    if (mine === calls) {
      timer = setTimeout(() => update(), period);
    }
  }

  function put(fresh, searching) {
    const hold = searching ? () => {} : mark();
    for (const id of ["live-state", "live-main"]) {
      const part = fresh.getElementById(id);
      if (part) {
        morphChildren(document.getElementById(id), part);
      }
    }
    if (searching) {
      main.querySelectorAll(".arrived").forEach((row) => row.classList.remove("arrived"));
    }
    hold();
  }

  // A search shows what it finds while it is typed; its button does the same without this script.
  main.addEventListener("input", (event) => {
    const form = event.target.closest("form[role=search]");
    if (!form) {
      return;
    }
    clearTimeout(typing);
    typing = setTimeout(() => {
      const found = new URL(form.action);
      found.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim() !== ""));
      history.replaceState(null, "", found);
      found.searchParams.set("live", "1");
      address = found;
      update(true);
    }, 200);
  });

  function show() {
    button.textContent = paused ? "Resume" : "Pause";
    button.setAttribute("aria-label", paused ? "Resume the live update" : "Pause the live update");
    say(paused ? "Paused" : "Live", paused ? "dull" : "good");
  }

  button.addEventListener("click", () => {
    paused = !paused;
    show();
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) {
      update();
    }
  });
  show();
  timer = setTimeout(() => update(), period);
})();
