import { expect, it } from "vitest";
import { LargeBodies } from "./large-body-queue.ts";

it("other work goes on between two large bodies, and small ones do not wait", async () => {
  const bodies = new LargeBodies();
  const order: string[] = [];
  const large = async (name: string): Promise<void> => {
    await bodies.turn(1e6);
    order.push(name);
  };
  const both = [large("first"), large("second")];
  setImmediate(() => order.push("other"));
  await bodies.turn(10);
  order.push("small");
  await Promise.all(both);
  expect(order.indexOf("small")).toBeLessThan(order.indexOf("second"));
  expect(order.indexOf("other")).toBeLessThan(order.indexOf("second"));
  expect(order).toHaveLength(4);
});
