// The keyboard: moving through lists, to the search and between pages, and the buttons that copy. Everything here can also
// be reached with Tab. Nothing is taken from a field that is typed into, nor from a key with a modifier.
"use strict";

(() => {
  const help = document.getElementById("keys");
  document.documentElement.classList.add("script");
  const first = (selector) => document.querySelector(selector);

  first("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }); // on a phone the row is longer than the screen

  const links = () => [...document.querySelectorAll("#live-main tr[data-key] th a")].filter((link) => link.offsetParent);
  const typing = (node) => node.isContentEditable || ["INPUT", "SELECT", "TEXTAREA"].includes(node.nodeName);

  // step moves the focus through the list; without a list it goes to the next or previous page of its kind.
  function step(by) {
    const list = links();
    if (list.length === 0) {
      first(by > 0 ? "#live-main a[rel=next]" : "#live-main a[rel=prev]")?.click();
      return;
    }
    const row = document.activeElement.closest("tr[data-key]");
    const at = list.findIndex((link) => link.closest("tr") === row);
    const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1)];
    next.focus({ preventScroll: true });
    next.closest("tr").scrollIntoView({ block: "nearest" });
  }

  async function copy(id, button) {
    const text = document.getElementById(id);
    if (!text) {
      return;
    }
    try {
      await navigator.clipboard.writeText(text.textContent);
      say(button, "Copied");
    } catch {
      text.closest("details")?.setAttribute("open", "");
      getSelection().selectAllChildren(text);
      say(button, "Press Ctrl+C");
    }
  }

  function say(button, text) {
    button.dataset.label ??= button.textContent;
    const status = document.getElementById("said");
    status.textContent = text;
    button.textContent = text;
    setTimeout(() => {
      status.textContent = "";
      button.textContent = button.dataset.label;
    }, 2000);
  }

  function search() {
    const field = first("[data-search]");
    if (field) {
      field.focus();
      field.select();
    } else {
      location.href = "/requests#text";
    }
  }

  function escape(event) {
    const at = document.activeElement;
    if (typing(at) || at.closest?.("tr[data-key]")) {
      at.blur();
    } else {
      first("a[data-up]")?.click();
    }
    event.preventDefault();
  }

  let going = 0; // until when g waits for the second key

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help?.open) {
      return;
    }
    const key = event.key;
    if (key === "Escape") {
      escape(event);
      return;
    }
    if (typing(event.target)) {
      return;
    }
    const inList = document.activeElement.closest?.("tr[data-key]");
    const act = {
      "/": () => search(),
      j: () => step(1),
      k: () => step(-1),
      "?": () => help?.showModal(),
      c: () => first("[data-copy=curl-text]") && copy("curl-text", first("[data-copy=curl-text]")),
      t: () => first("[data-copy=go-text]") && copy("go-text", first("[data-copy=go-text]")),
      ...(inList && { ArrowDown: () => step(1), ArrowUp: () => step(-1) }),
    };
    const place = going > event.timeStamp && /^[a-z]$/.test(key) && first("nav a[data-go=" + key + "]");
    if (place) {
      place.click();
      event.preventDefault();
      return;
    }
    going = key === "g" ? event.timeStamp + 1500 : 0;
    if (act[key]) {
      act[key]();
      event.preventDefault();
    }
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) {
      copy(button.dataset.copy, button);
      return;
    }
    if (event.target.closest("#help-button")) {
      help.showModal();
      return;
    }
    const row = event.target.closest(".requests tr[data-key]");
    if (row && !event.target.closest("a, button, label") && getSelection().isCollapsed) {
      row.querySelector("th a").click();
    }
  });
})();
