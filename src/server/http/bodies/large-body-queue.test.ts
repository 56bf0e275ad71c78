import { expect, it } from "vitest";
import { LargeBodyQueue } from "./large-body-queue.ts";

it("other work goes on between two large bodies, and small ones do not wait", async () => {
  const bodies = new LargeBodyQueue();
  const order: string[] = [];
  const large = async (name: string): Promise<void> => {
    await bodies.wait(1e6);
    order.push(name);
  };
  const both = [large("first"), large("second")];
  setImmediate(() => order.push("other"));
  await bodies.wait(10);
  order.push("small");
  await Promise.all(both);
  expect(order.indexOf("small")).toBeLessThan(order.indexOf("second"));
  expect(order.indexOf("other")).toBeLessThan(order.indexOf("second"));
  expect(order).toHaveLength(4);
});
