// Keeps the page up to date: asks for it once a second and replaces the parts that differ. A part stays as it is while something is
// typed or selected in it.
"use strict";

(() => {
  const period = 1000;
  const control = document.getElementById("live-control");
  const main = document.getElementById("live-main");
  const said = document.getElementById("said");

  // A notice is shown once, also if the page is loaded again.
  const shown = new URL(location.href);
  if (shown.searchParams.has("done")) {
    shown.searchParams.delete("done");
    history.replaceState(null, "", shown);
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      said.textContent = "Copied";
    }
  });

  if (!main.dataset.live) {
    return; // a refused form stays as it is
  }
  const address = new URL(main.dataset.live, location.href);
  address.searchParams.set("live", "1");

  const word = document.createElement("span");
  word.setAttribute("role", "status");
  const pause = document.createElement("button");
  pause.type = "button";
  pause.className = "quiet";
  control.append(word, pause);
  let paused = false;
  let timer = 0;

  function say(text, tone) {
    if (word.textContent !== text) {
      word.textContent = text;
      word.className = "live " + tone;
    }
    pause.textContent = paused ? "Resume" : "Pause";
  }

  const changed = (field) => (field.options ? [...field.options].some((o) => o.selected !== o.defaultSelected && o.index > 0) : field.value !== field.defaultValue);

  function busy(part) {
    const selection = getSelection();
    return (
      part.querySelector("input:focus, select:focus") ||
      [...part.querySelectorAll("input, select")].some(changed) ||
      (!selection.isCollapsed && part.contains(selection.anchorNode))
    );
  }

  // put replaces the parts that differ. The focus and the first row in sight stay where they are.
  function put(fresh) {
    const row = () => [...main.querySelectorAll("[data-key]")].find((node) => node.getBoundingClientRect().top >= 0);
    const first = scrollY > 0 ? row() : null;
    const top = first?.getBoundingClientRect().top;
    for (const part of document.querySelectorAll("[data-part]")) {
      const now = fresh.getElementById(part.id);
      if (!now || now.innerHTML === part.innerHTML || busy(part)) {
        continue;
      }
      const focus = part.contains(document.activeElement) ? document.activeElement : null;
      const places = [...part.querySelectorAll("a, button, [tabindex]")];
      const target = focus?.getAttribute("href");
      part.replaceChildren(...document.importNode(now, true).childNodes);
      if (focus) {
        const after = [...part.querySelectorAll("a, button, [tabindex]")];
        (after.find((node) => target && node.getAttribute("href") === target) ?? after[places.indexOf(focus)])?.focus({ preventScroll: true });
      }
    }
    const same = first && main.querySelector(`[data-key="${CSS.escape(first.dataset.key)}"]`);
    if (same) {
      scrollBy(0, same.getBoundingClientRect().top - top);
    }
  }

  async function update() {
    clearTimeout(timer);
    if (!document.hidden && !paused) {
      try {
        const response = await fetch(address, { cache: "no-store", signal: AbortSignal.timeout(10000) });
        if (!response.ok) {
          throw new Error("refused");
        }
        const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
        if (!paused) {
          put(fresh);
          say("Live", "good");
        }
      } catch {
        say("No connection", "bad");
      }
    }
    clearTimeout(timer);
    timer = setTimeout(update, period);
  }

  pause.addEventListener("click", () => {
    paused = !paused;
    say(paused ? "Paused" : "Live", paused ? "dull" : "good");
  });
  document.addEventListener("visibilitychange", update);
  say("Live", "good");
  timer = setTimeout(update, period);
})();
