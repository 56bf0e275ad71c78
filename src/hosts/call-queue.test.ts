import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CallQueue } from "./call-queue.ts";
import type { PeerEvents } from "./peer.ts";
import type { CallMessage } from "./protocol.ts";
import type { Supervision } from "./supervision.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const load = {
  operation: "load",
  kind: "tensor",
  entry: { module: "", export: "" },
  model: { format: "onnx", path: "", bytes: 0, config: {} },
  device: { type: "cpu", index: 0 },
  settings: {},
} as const;

/** A peer that answers when it is told to, and writes down what is done to it. */
class ScriptedPeer {
  readonly log: string[] = [];
  readonly deaths: [reason: string, hungMs: number | undefined][] = [];
  readonly queue: CallQueue;
  #events: PeerEvents | undefined;
  #last = 0;

  constructor(interruptible: boolean, limits: Partial<Supervision> = {}) {
    const supervision: Supervision = {
      admit: async () => {},
      died: (reason, hungMs) => (this.deaths.push([reason, hungMs]), 0),
      replaced: () => {},
      ...limits,
    };
    const start = (events: PeerEvents): ReturnType<ConstructorParameters<typeof CallQueue>[0]> => {
      this.#events = events;
      const end = (how: string) => async (): Promise<void> => void this.log.push(how);
      return {
        kind: "process",
        interruptible,
        send: ({ operation, number }: CallMessage) => ((this.#last = number), void this.log.push(operation)),
        setBusy: () => {},
        markHung: () => void this.log.push("give up"),
        end: end("end"),
        kill: end("kill"),
      };
    };
    this.queue = new CallQueue(start, load, supervision, interruptible);
    this.queue.description(undefined).catch(() => {});
  }

  answer(): void {
    this.#events?.onAnswer({ number: this.#last, ok: true, result: {} });
  }

  run(signal?: AbortSignal): Promise<string> {
    return this.queue.call<"run">({ operation: "run", inputs: {} }, signal).then(
      () => "ran",
      (error: { readonly code: string; readonly message: string }) => `${error.code}: ${error.message}`,
    );
  }
}

/** One that has loaded its model. */
function loaded(interruptible = true, limits: Partial<Supervision> = {}): ScriptedPeer {
  const peer = new ScriptedPeer(interruptible, limits);
  peer.answer();
  peer.log.length = 0;
  return peer;
}

describe("a peer that is killed", () => {
  it("during its load: at once, and nothing is sent to it any more", async () => {
    const peer = new ScriptedPeer(true);
    await peer.queue.kill();
    expect(peer.log).toEqual(["load", "kill"]);
    await expect(peer.queue.description(undefined)).rejects.toMatchObject({ code: "DISPOSED" });
    expect(await peer.run()).toMatch(/^DISPOSED/);
    expect(peer.deaths).toEqual([]); // it did not die by itself
  });

  it("where its thread must not be terminated during a call: when that is over; the program does not wait for it", async () => {
    const peer = new ScriptedPeer(false);
    const killed = peer.queue.kill();
    await vi.advanceTimersByTimeAsync(1e6);
    expect(peer.log).toEqual(["load", "give up"]);
    peer.answer();
    await killed;
    expect(peer.log).toEqual(["load", "give up", "kill"]);
  });
});

describe("a peer that is to end", () => {
  it("at rest: frees the model and ends by itself", async () => {
    const peer = loaded();
    const ended = peer.queue.end();
    await vi.advanceTimersByTimeAsync(0);
    peer.answer();
    await ended;
    expect(peer.log).toEqual(["dispose", "end"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("at rest and does not answer: is killed after two seconds", async () => {
    const peer = loaded();
    const ended = peer.queue.end();
    await vi.advanceTimersByTimeAsync(1999);
    expect(peer.log).toEqual(["dispose"]);
    await vi.advanceTimersByTimeAsync(1);
    await ended;
    expect(peer.log).toEqual(["dispose", "kill"]);
  });

  it("waits for calls that have a caller, as long as it is told to", async () => {
    const peer = loaded();
    const run = peer.run();
    const ended = peer.queue.end(60_000);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(peer.log).toEqual(["run"]);
    await vi.advanceTimersByTimeAsync(1);
    await ended;
    expect([peer.log, await run]).toEqual([["run", "kill"], "DISPOSED: this model was disposed"]);
  });

  it("does not wait longer than two seconds for a call whose caller has gone, before or meanwhile", async () => {
    for (const before of [true, false]) {
      const peer = loaded();
      const caller = new AbortController();
      const run = peer.run(caller.signal);
      if (before) caller.abort();
      const ended = peer.queue.end();
      await vi.advanceTimersByTimeAsync(before ? 1999 : 100_000);
      expect(peer.log).toEqual(["run"]);
      caller.abort();
      await vi.advanceTimersByTimeAsync(2000);
      await ended;
      expect(await run).toMatch(/^ABORTED/);
      expect(peer.log).toEqual(["run", "kill"]);
    }
  });
});

describe("a hang", () => {
  it("is a run longer than maxRunMs: the peer is killed, the death is counted, and calls may be repeated", async () => {
    const peer = loaded(true, { maxRunMs: 5000 });
    const first = peer.run();
    await vi.advanceTimersByTimeAsync(3000);
    const second = peer.run();
    await vi.advanceTimersByTimeAsync(2000);
    const reason = "a run has taken longer than 5000 ms (runTimeout)";
    expect(await first).toContain(`HOST_DIED: the process was ended, since ${reason}`);
    expect(await second).toMatch(/^HOST_DIED/);
    expect(peer.log).toEqual(["run", "kill"]);
    expect(peer.deaths).toEqual([[`the process was ended, since ${reason}`, expect.any(Number)]]);
    expect(peer.deaths[0]?.[1]).toBeGreaterThanOrEqual(5000);
    expect(peer.queue.ended).toBe(true);
  });

  it("is none where each run is shorter, however many there are", async () => {
    const peer = loaded(true, { maxRunMs: 5000 });
    for (let turn = 0; turn < 5; turn += 1) {
      const run = peer.run();
      await vi.advanceTimersByTimeAsync(4000);
      peer.answer();
      expect(await run).toBe("ran");
    }
    await vi.advanceTimersByTimeAsync(100_000);
    expect(peer.deaths).toEqual([]);
  });

  it("is a cancelled run that keeps others waiting for 30 s; alone it goes on", async () => {
    const peer = loaded();
    const caller = new AbortController();
    const cancelled = peer.run(caller.signal);
    caller.abort();
    await vi.advanceTimersByTimeAsync(1e6);
    expect([await cancelled, peer.log]).toEqual([expect.stringMatching(/^ABORTED/), ["run"]]);
    const waiting = peer.run();
    await vi.advanceTimersByTimeAsync(29_999);
    expect(peer.log).toEqual(["run"]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await waiting).toContain(
      "HOST_DIED: the process was ended, since a cancelled run has kept others waiting for 30000 ms",
    );
    expect(peer.log).toEqual(["run", "kill"]);
  });

  it("is none where the cancelled run ends in time: those behind it run", async () => {
    const peer = loaded();
    const caller = new AbortController();
    const cancelled = peer.run(caller.signal);
    caller.abort();
    const waiting = peer.run();
    await vi.advanceTimersByTimeAsync(29_000);
    peer.answer();
    await vi.advanceTimersByTimeAsync(10_000);
    peer.answer();
    expect([await cancelled, await waiting]).toEqual([expect.stringMatching(/^ABORTED/), "ran"]);
    expect(peer.deaths).toEqual([]);
  });
});
