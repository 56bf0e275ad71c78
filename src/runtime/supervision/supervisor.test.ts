import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Supervision } from "../../hosts/supervision.ts";
import { CircuitBreakers } from "./circuit-breakers.ts";
import type { RuntimeEvent } from "../options/runtime-settings.ts";
import { createSupervision } from "./supervisor.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const target = { backend: "onnx", device: { type: "cpu", index: 0 } } as const;

function start(): { of: (path: string) => Supervision; circuits: CircuitBreakers; events: RuntimeEvent[] } {
  const now = (): number => Date.now();
  const [circuits, events]: [CircuitBreakers, RuntimeEvent[]] = [new CircuitBreakers(60_000, now), []];
  const settings = { maxCrashes: 3, crashWindow: "10s", onEvent: (event: RuntimeEvent) => void events.push(event) };
  const supervisionOf = createSupervision(settings, circuits, now);
  return { of: (path) => supervisionOf("./m", target, { path }), circuits, events };
}

/** Milliseconds until a start is granted. */
async function waited(supervision: Supervision): Promise<number> {
  const begun = Date.now();
  const granted = supervision.admit().then(() => Date.now() - begun);
  await vi.runAllTimersAsync();
  return granted;
}

describe("supervision", () => {
  it("the first start and the first restart are granted at once, the second waits", async () => {
    const supervision = start().of("/m");
    expect(await waited(supervision)).toBe(0);
    expect(supervision.died("code 7")).toBe(0);
    expect(await waited(supervision)).toBe(0);
    expect(supervision.died("code 7")).toBe(250);
    expect(await waited(supervision)).toBe(250);
  });

  it("a wait can be given up", async () => {
    const supervision = start().of("/m");
    supervision.died("code 7");
    supervision.died("code 7");
    const controller = new AbortController();
    const refused = supervision.admit(controller.signal);
    refused.catch(() => {}); // expected below
    controller.abort();
    await expect(refused).rejects.toMatchObject({ code: "ABORTED" });
    expect(vi.getTimerCount()).toBe(0);
    await expect(supervision.admit(controller.signal)).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("a crash loop opens the circuit of this file on this target: starts are refused at once, and told for how long", async () => {
    const { of, circuits } = start();
    for (let death = 0; death < 3; death += 1) of("/m").died("it died of SIGABRT");
    vi.advanceTimersByTime(4000);
    await expect(of("/m").admit()).rejects.toMatchObject({
      code: "CIRCUIT_OPEN",
      retryable: true,
      retryAfterMs: 6000,
      message: "this model is not started for 6 s: its host died 3 times within crashWindow, most recently: it died of SIGABRT",
    });
    expect([...circuits.current().keys()]).toEqual(["onnx:cpu /m"]);
    expect(await waited(of("/other"))).toBe(0); // nobody else suffers for it
  });

  it("after the rest one start is granted; whose death opens the circuit again", async () => {
    const supervision = start().of("/m");
    for (let death = 0; death < 3; death += 1) supervision.died("code 7");
    vi.advanceTimersByTime(10_000);
    expect(await waited(supervision)).toBe(0);
    expect(supervision.died("code 8")).toBe(10_000);
    await expect(supervision.admit()).rejects.toMatchObject({
      code: "CIRCUIT_OPEN",
      message: expect.stringContaining("again after a crash loop"),
    });
  });

  it("tells of a hang as of a death, and that it was one", () => {
    const { of, events } = start();
    of("/m").died("it hung", 50_000);
    expect(events).toEqual([
      {
        type: "died",
        reference: "./m",
        target: "onnx:cpu",
        reason: "it hung",
        deaths: 1,
        crashLoop: false,
        backoffMs: 0,
        hung: true,
      },
    ]);
  });

  it("tells of deaths and restarts", () => {
    const { of, events } = start();
    const supervision = of("/m");
    for (let death = 0; death < 3; death += 1) supervision.died("code 7");
    supervision.replaced("memory", 12);
    const place = { reference: "./m", target: "onnx:cpu" };
    expect(events).toEqual([
      { type: "died", ...place, reason: "code 7", deaths: 1, crashLoop: false, backoffMs: 0 },
      { type: "died", ...place, reason: "code 7", deaths: 2, crashLoop: false, backoffMs: 250 },
      { type: "died", ...place, reason: "code 7", deaths: 3, crashLoop: true, backoffMs: 10_000 },
      { type: "restarted", ...place, why: "memory", milliseconds: 12 },
    ]);
  });
});
