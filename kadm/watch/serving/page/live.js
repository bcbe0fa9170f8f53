// The stream of the daemon, over fetch: EventSource could send no header, and a token in an address ends up in logs.

const PATH = "/api/v1/stream";
const TOKEN = "kadm-token";
const SILENCE_MS = 40_000; // the daemon says something every 15 s

/**
 * Follows the stream for ever, and comes back after every end.
 *
 * `on` has `message(kind, data)`, `state("live" | "lost" | "token")`, and `askToken(wrong)`, which promises a token.
 */
export async function follow(on) {
  let pause = 500;
  let wrong = false;
  for (;;) {
    try {
      const status = await once(on, () => (pause = 500));
      if (status === 401) {
        on.state("token");
        wrong = sessionStorage.getItem(TOKEN) !== null;
        sessionStorage.removeItem(TOKEN);
        sessionStorage.setItem(TOKEN, await on.askToken(wrong));
        continue;
      }
    } catch (error) {
      if (!(error instanceof TypeError) && error.name !== "AbortError") throw error; // else: the connection failed
    }
    on.state("lost");
    await new Promise((wake) => setTimeout(wake, pause));
    pause = Math.min(pause * 2, 10_000);
  }
}

/** One connection, until it ends: the status with which it was answered. */
async function once(on, connected) {
  const ending = new AbortController();
  let timer = setTimeout(() => ending.abort(), SILENCE_MS);
  try {
    const token = sessionStorage.getItem(TOKEN);
    if (!token && (await wantsToken(ending.signal))) return 401;
    const answer = await fetch(PATH, {
      headers: token ? { Authorization: `Bearer ${token}` } : {},
      signal: ending.signal,
      cache: "no-store",
      credentials: "omit",
    });
    if (!answer.ok) return answer.status;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const parts = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return answer.status;
      clearTimeout(timer);
      timer = setTimeout(() => ending.abort(), SILENCE_MS);
      parts.push(value);
      if (!value.includes("\n")) continue;
      const blocks = parts.join("").split("\n\n");
      parts.splice(0, parts.length, blocks.pop());
      for (const block of blocks) {
        const message = parsed(block);
        if (!message) continue;
        connected();
        on.message(message.kind, message.data);
        on.state("live");
      }
    }
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

/** Whether the daemon asks for a token: asked first, for an answer 401 is an error in every browser's console. */
async function wantsToken(signal) {
  const answer = await fetch("/healthz", { signal, cache: "no-store", credentials: "omit" });
  return answer.headers.get("Kadm-Token") === "required";
}

/** A block of the stream; null where it is only a sign of life. */
function parsed(block) {
  let kind = "message";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) kind = line.slice(7);
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
  return data ? { kind, data: JSON.parse(data) } : null;
}
