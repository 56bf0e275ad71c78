import { expect, it } from "vitest";
import { version1Container } from "../../devices/recorded/containers.ts";
import { noGpu } from "../../devices/recorded/no-gpu.ts";
import { recordedSources } from "../../devices/recorded/recording.ts";
import { defaultRunMemory } from "./run-memory.ts";

it("is a quarter of what the machine has, or of what its control group allows", async () => {
  expect(await defaultRunMemory(recordedSources(noGpu))).toBe(24684084 * 256);
  expect(await defaultRunMemory(recordedSources(version1Container))).toBe(128 * 1024 ** 2);
});
