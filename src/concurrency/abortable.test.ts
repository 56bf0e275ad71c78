/** Waits that a signal ends. */
import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
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
