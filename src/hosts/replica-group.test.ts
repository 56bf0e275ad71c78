import { expect, it, onTestFinished } from "vitest";
import { ReplicaGroup } from "./replica-group.ts";

it("a load that fails is told by the replica's queue alone, among replicas that share state and among those that do not", async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const failing = () => ({ loaded: Promise.reject<{ exportState: undefined }>(new Error("it was ended while it loaded")) });
  const group = new ReplicaGroup();
  await group.start(failing);
  await group.start(() => ({ loaded: Promise.resolve({ exportState: undefined }) })); // it cannot share
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  await group.start(failing);
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});
