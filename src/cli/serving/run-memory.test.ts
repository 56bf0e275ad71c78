import { expect, it } from "vitest";
import { version1Container } from "../../../test/devices/recorded/containers.ts";
import { noGpu } from "../../../test/devices/recorded/no-gpu.ts";
import { recordedSources } from "../../../test/devices/recorded/recording.ts";
import { defaultRunMemory } from "./run-memory.ts";

it("is a quarter of what the machine has, or of what its control group allows", async () => {
  expect(await defaultRunMemory(recordedSources(noGpu))).toBe(24684084 * 256);
  expect(await defaultRunMemory(recordedSources(version1Container))).toBe(128 * 1024 ** 2);
});
