/** Waits that a signal ends. */
import { getEventListeners } from "node:events";
import { readFile, readdir } from "node:fs/promises";
import { expect, it } from "vitest";
import { addAbortListener, removeAbortListener } from "./abort-listeners.ts";
import { abortable } from "./abortable.ts";

it("many waits on one signal hold one listener, and all end when it is aborted", async () => {
  const controller = new AbortController();
  const ended: number[] = [];
  const waits = Array.from({ length: 20 }, (_, index) =>
    abortable(new Promise(() => {}), controller.signal, () => ended.push(index)),
  );
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  expect(await abortable(Promise.resolve(7), controller.signal)).toBe(7);
  controller.abort();
  const results = await Promise.allSettled(waits);
  expect(results.every((result) => result.status === "rejected" && (result.reason as { code: string }).code === "ABORTED")).toBe(
    true,
  );
  expect(ended).toEqual(Array.from({ length: 20 }, (_, index) => index));
});

it("a wait that has settled is not called when the signal is aborted later", async () => {
  const controller = new AbortController();
  let calls = 0;
  await abortable(Promise.resolve(), controller.signal, () => (calls += 1));
  controller.abort();
  expect(calls).toBe(0);
  await expect(abortable(Promise.resolve(), controller.signal, () => (calls += 1))).rejects.toMatchObject({ code: "ABORTED" });
  expect(calls).toBe(1);
});

it("listeners that are taken back leave nothing on the signal; one that takes another back keeps it from being called", () => {
  const controller = new AbortController();
  const { signal } = controller;
  const called: string[] = [];
  const [first, second] = [
    () => {
      called.push("first");
      removeAbortListener(signal, second);
    },
    () => called.push("second"),
  ];
  for (const listener of [first, second]) addAbortListener(signal, listener);
  for (const listener of [first, second]) removeAbortListener(signal, listener);
  expect(getEventListeners(signal, "abort")).toEqual([]);
  for (const listener of [first, second]) addAbortListener(signal, listener);
  controller.abort();
  addAbortListener(signal, first);
  expect(called).toEqual(["first"]);
});

it("no other module listens to a signal by itself: one listener per request is a warning of Node.js at the eleventh", async () => {
  const sources = new URL("../", import.meta.url);
  const names = (await readdir(sources, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name));
  const texts = await Promise.all(names.map(async (name) => [name, await readFile(new URL(name, sources), "utf8")] as const));
  const own = texts.filter(([, text]) => /EventListener\(\s*"abort"/.test(text)).map(([name]) => name.replaceAll("\\", "/"));
  expect(own).toEqual(["concurrency/abort-listeners.ts"]);
});
