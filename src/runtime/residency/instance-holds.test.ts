import { describe, expect, it } from "vitest";
import { InstanceHolds } from "./instance-holds.ts";

describe("holds on instances", () => {
  it("an instance is released when its last caller has finished, and not before", async () => {
    const holds = new InstanceHolds<object>();
    const [old, fresh] = [{}, {}];
    const [first, second] = [holds.hold(old), holds.hold(old)];
    holds.hold(fresh);
    let isReleased = false;
    const released = holds.released(old).then(() => (isReleased = true));
    first();
    first(); // a second call does nothing
    await Promise.resolve();
    expect([isReleased, holds.getCount(old)]).toEqual([false, 1]);
    second();
    await released;
    expect([holds.getCount(old), holds.getCount(fresh)]).toEqual([0, 1]);
    await holds.released(old); // nobody holds it
  });
});
